# SPDX-License-Identifier: Apache-2.0
"""Samples of hardware counters in a recording, as schemas/counter_codec.h packs them."""

import collections

# start, end: as recorded, ns relative to the recording's base. gpu_start: on the GPU's clock, None where samples have the host's.
Sample = collections.namedtuple("Sample", "start end gpu_start values")


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0


def read_samples(database, device=0):
    """All of a device, in the order in which they were stored."""
    rows = database.execute(
        "SELECT x.start, x.gpu_time, x.samples, x.data, s.period_ns, (SELECT count(*) FROM counter c WHERE c.counter_set = s.id) "
        "FROM counter_sample x JOIN counter_set s ON s.id = x.counter_set WHERE x.device = ? ORDER BY x.rowid", (device,)).fetchall()
    found = []
    for start, gpu_time, count, data, period, counters in rows:
        end, values, stream = start, [0] * counters, numbers(data)
        for _ in range(count):
            begin = end + next(stream)
            end = begin + period + next(stream)
            values = [value + next(stream) for value in values]
            found.append(Sample(begin, end, None if gpu_time is None else gpu_time + begin - start, values))
        if list(stream):
            raise ValueError(f"the row of {start} has more numbers than {count} samples of {counters} counters")
    return found


def read_sets(database):
    """(source, name of the set, period in ns, [names of its counters]), as they were begun."""
    return [(source, name, period,
             [row[0] for row in database.execute("SELECT name FROM counter WHERE counter_set = ? ORDER BY position", (number,))])
            for number, source, name, period in database.execute("SELECT id, source, name, period_ns FROM counter_set ORDER BY id").fetchall()]
