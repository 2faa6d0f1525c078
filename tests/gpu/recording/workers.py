#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the samples of data workers on a GPU host, with the real PyTorch (see workers.sh).

  workers.py check --library FILE --out OUT --storage-bytes N    runs the programs below and compares
  workers.py program CASE FILE RESULT                            one of them: decode, storage, sleep; writes what its workers measured

Each trains for some seconds on what two workers prepare: by decompressing (processor), by reading FILE past the page cache
(storage), or by sleeping (neither, as when waiting for somebody else).
"""

import collections
import json
import mmap
import os
import pathlib
import subprocess
import sys
import time
import zlib

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WORKERS, SECONDS, LIMIT_S = 2, 12, 120
READ_BYTES = 1 << 20
CASES = ("decode", "storage", "sleep")
# A worker is bound by the processor from this share of one on; by storage if it read this much a second or was seen waiting for it
# in this share of the looks.
BUSY, READING_BYTES_S, WAITING = 0.7, 4 << 20, 0.1
AGREEMENT = 0.1  # between recorded and measured share of a processor

Figures = collections.namedtuple("Figures", "samples cpu read_bytes_s waiting")  # None: not accounted for


class Storage:
    """Reads of a file that come from the device, not from memory."""

    def __init__(self, path):
        self.size = os.path.getsize(path)
        self.buffer = mmap.mmap(-1, READ_BYTES)  # aligned to a page, as direct reads ask
        try:
            self.file, self.direct = os.open(path, os.O_RDONLY | os.O_DIRECT), True
            os.preadv(self.file, [self.buffer], 0)
        except OSError:  # a file system without direct reads
            self.file, self.direct = os.open(path, os.O_RDONLY), False
        self.at = os.getpid() * 97 * READ_BYTES  # workers begin at places of their own

    def read(self):
        """One sample: 16 MiB."""
        for _ in range(16):
            offset = self.at % (self.size - READ_BYTES) // READ_BYTES * READ_BYTES
            if not self.direct:
                os.posix_fadvise(self.file, offset, READ_BYTES, os.POSIX_FADV_DONTNEED)
            os.preadv(self.file, [self.buffer], offset)
            self.at += READ_BYTES
        return 16 * READ_BYTES


class Samples:
    """Samples without end that say how far their worker is: process id, its processor time, elapsed time, bytes read."""

    def __init__(self, case, path):
        self.case, self.path, self.storage, self.read_bytes = case, path, None, 0
        self.packed = zlib.compress(os.urandom(4 << 20).hex().encode())

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        import torch
        if self.case == "decode":
            zlib.decompress(self.packed)
        elif self.case == "sleep":
            time.sleep(0.02)
        else:
            self.storage = self.storage or Storage(self.path)
            self.read_bytes += self.storage.read()
        return torch.tensor([os.getpid(), time.process_time_ns(), time.monotonic_ns(), self.read_bytes], dtype=torch.int64)


def program(case, path, result):
    import torch
    weight = torch.ones(4, device="cuda")
    time.sleep(2)  # until the library has found the program's Python
    loader = torch.utils.data.DataLoader(Samples(case, path), batch_size=1, num_workers=WORKERS)
    end, first, last = time.monotonic() + SECONDS, {}, {}
    for (sample,) in loader:
        pid, cpu_ns, moment_ns, read_bytes = sample.tolist()
        first.setdefault(pid, (cpu_ns, moment_ns, read_bytes))
        last[pid] = (cpu_ns, moment_ns, read_bytes)
        weight += sample.cuda().float().sum()
        if time.monotonic() > end:
            break
    torch.cuda.synchronize()
    measured = {}
    for pid, (cpu_ns, moment_ns, read_bytes) in last.items():
        elapsed_ns = max(1, moment_ns - first[pid][1])
        measured[pid] = {"cpu": (cpu_ns - first[pid][0]) / elapsed_ns, "read_bytes_s": (read_bytes - first[pid][2]) * 1e9 / elapsed_ns}
    pathlib.Path(result).write_text(json.dumps(measured))


def figures_of(rows):
    """From the samples of one worker in the order of time: (time, cpu_ns, read_bytes, states, states_disk)."""
    if len(rows) < 2:
        return Figures(len(rows), None, None, None)
    first, last = rows[0], rows[-1]
    elapsed_ns = last[0] - first[0]
    cpu = None if None in (first[1], last[1]) else (last[1] - first[1]) / elapsed_ns
    read = None if None in (first[2], last[2]) else (last[2] - first[2]) * 1e9 / elapsed_ns
    looks = sum(row[3] for row in rows)
    return Figures(len(rows), cpu, read, sum(row[4] for row in rows) / looks if looks else None)


def recorded(database):
    """{process id: Figures} of the workers of a loader."""
    rows = collections.defaultdict(list)
    for pid, *row in database.execute("SELECT w.pid, s.time, s.cpu_ns, s.read_bytes, s.states, s.states_disk FROM worker_sample s "
                                      "JOIN worker w ON w.id = s.worker WHERE w.loader IS NOT NULL ORDER BY s.time"):
        rows[pid].append(row)
    return {pid: figures_of(of_one) for pid, of_one in rows.items()}


def cause(figures):
    """What a worker is bound by: decode, storage, sleep (neither); unknown where the kernel does not account for it."""
    if figures.cpu is None:
        return "unknown"
    if figures.cpu >= BUSY:
        return "decode"
    if (figures.read_bytes_s or 0) >= READING_BYTES_S or (figures.waiting or 0) >= WAITING:
        return "storage"
    return "unknown" if figures.read_bytes_s is None and figures.waiting is None else "sleep"


def words(figures):
    def share(value):
        return "unknown" if value is None else f"{value:.2f}"

    read = "unknown" if figures.read_bytes_s is None else f"{figures.read_bytes_s / 1e6:.1f} MB/s"
    return f"{figures.samples} samples: processor {share(figures.cpu)}, read {read}, waiting for storage {share(figures.waiting)}"


def judge(checks, case, found, measured):
    """`measured`: by the workers themselves."""
    checks.add(f"{case}: workers", found.keys() == measured.keys() and len(found) == WORKERS,
               f"{len(found)} sampled, {len(measured)} worked, {WORKERS} expected")
    for pid in sorted(found.keys() & measured.keys()):
        own, figures = measured[pid], found[pid]
        told = f"{words(figures)}; itself: processor {own['cpu']:.2f}, read {own['read_bytes_s'] / 1e6:.1f} MB/s"
        kind = cause(figures)
        accounted = figures.read_bytes_s or figures.waiting
        if kind == "unknown" or (case == "storage" and not accounted):
            checks.skip(f"{case}: told apart", f"unknown: this kernel does not account for it; {told}")
        else:
            checks.add(f"{case}: told apart", kind == case, f"{kind}; {told}")
        if figures.cpu is not None:
            checks.add(f"{case}: share of a processor", abs(figures.cpu - own["cpu"]) <= AGREEMENT, told)


def make_file(path, size):
    """Content that no storage compresses away, out of the page cache once it is written."""
    block = os.urandom(16 << 20)
    with open(path, "wb") as file:
        for _ in range(max(1, size // len(block))):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def check(library, out, storage_bytes):
    from run_db import RunDb
    out.mkdir(parents=True, exist_ok=True)
    log, storage = out / "checks.jsonl", out / "storage.bin"
    log.unlink(missing_ok=True)
    checks = Checks(log, "workers")
    try:
        make_file(storage, storage_bytes)
        for case in CASES:
            result, recording = out / f"{case}.json", out / f"{case}.db"
            recording.unlink(missing_ok=True)
            environment = os.environ | {"LD_PRELOAD": str(library), "TRACEINJECT_OUTPUT": str(recording)}
            try:
                subprocess.run([sys.executable, str(HERE / "workers.py"), "program", case, str(storage), str(result)], env=environment,
                               check=True, timeout=LIMIT_S)
            except subprocess.SubprocessError as error:
                checks.add(f"{case}: runs", False, str(error))
                continue
            measured = {int(pid): own for pid, own in json.loads(result.read_text()).items()}
            judge(checks, case, recorded(RunDb(recording).db), measured)
    finally:
        storage.unlink(missing_ok=True)
    return summary(log, out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__)
    checking.add_argument("--storage-bytes", type=int, default=4 << 30)
    one = commands.add_parser("program")
    one.add_argument("case", choices=CASES)
    one.add_argument("file")
    one.add_argument("result")
    arguments = parser.parse_args()
    if arguments.command == "program":
        return program(arguments.case, arguments.file, arguments.result)
    return check(arguments.library, arguments.out, arguments.storage_bytes)


if __name__ == "__main__":
    sys.exit(main())
