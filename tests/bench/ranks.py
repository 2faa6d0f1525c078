#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes to put the ranks of a large job together: time a rank, and memory of the process that combines.

Makes recordings of so many ranks out of one real rank of data-parallel training: its steady steps as often as needed, with the rank's
number, its place in the communicator, its host and its clock. They lie in a temporary folder that is removed at the end. Measured are
analyze-mpi on the recordings, and analyze summarize followed by analyze-mpi on the summaries; with --group recordings are made,
summarised and deleted so many at a time, which needs less disk.

    ranks.py build/release --ranks 64,256,1024 --events 20000
    ranks.py build/release --ranks 1024 --events 200000 --group 128
"""

import argparse
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import repeat_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDING = ROOT / "samples" / "recordings" / "ddp_h200" / "run.rank00000.db.zst"
RANKS_A_HOST = 8
# As in a container: no ssh, no network, as root.
MPI_ENVIRONMENT = {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_plm_rsh_agent": "/bin/false", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
EVENTS = {**repeat_run.HOST, **repeat_run.GPU}


def count_events(run):
    return sum(run.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in repeat_run.drop_absent(run, EVENTS))


def open_fast(path):
    run = sqlite3.connect(path, isolation_level=None)
    run.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
    return run


def make_template(path, events):
    """A recording of one rank with about so many events. Returns how many there are."""
    repeat_run.unpack(RECORDING, path)
    run = open_fast(path)
    first, length_ns = repeat_run.cut(run)
    steps = run.execute("SELECT count(*) FROM step_mark").fetchone()[0]
    # Three steps at least, or no steps are found.
    wanted = max(events * steps // count_events(run), 3)
    if wanted < steps:
        run.close()
        repeat_run.unpack(RECORDING, path)
        run = open_fast(path)
        first, length_ns = repeat_run.cut(run, wanted)
    times, period_ns = max(wanted // steps, 1), length_ns + repeat_run.PAUSE_NS
    if times > 1:
        repeat_run.repeat_all(run, times, period_ns)
    repeat_run.finish(run, first, times * period_ns)
    events = count_events(run)
    run.close()
    return events


def make_rank(template, path, rank, ranks):
    """One rank of a job of so many, whose host's clock is off by up to a second."""
    shutil.copyfile(template, path)
    run = open_fast(path)
    host = rank // RANKS_A_HOST
    offset_ns = (host * 7_919_000_123) % 2_000_000_000 - 1_000_000_000
    run.execute("UPDATE process SET rank = ?, local_rank = ?, world_size = ?, local_world_size = ?, pid = ?, host = ?",
                (rank, rank % RANKS_A_HOST, ranks, min(ranks, RANKS_A_HOST), 1000 + rank, f"node{host:03}"))
    run.execute("UPDATE communicator SET rank = ?, size = ?", (rank, ranks))
    run.execute("UPDATE meta SET value = value + ? WHERE key = 'base_ns'", (offset_ns,))
    run.close()


def rank_name(rank):
    return f"run.rank{rank:05}.db"


def make_job(template, folder, numbers, ranks):
    for rank in numbers:
        make_rank(template, folder / rank_name(rank), rank, ranks)


class Measured:
    """An analyze-mpi run: seconds to read and to analyse, and bytes that process 0 used at most."""

    def __init__(self, build, processes, path):
        self.output, talk = run_mpi(build, processes, ["--figures", path])
        found = re.search(r"in ([0-9.]+) s, analyzed in ([0-9.]+) s; process 0 used ([0-9.]+) ([kMG])B", talk)
        if found is None:
            sys.exit(f"ranks.py: analyze-mpi said: {talk}")
        self.seconds = float(found[1])
        self.analysis_seconds = float(found[2])
        self.bytes = float(found[3]) * {"k": 1e3, "M": 1e6, "G": 1e9}[found[4]]


def run_mpi(build, processes, arguments):
    command = ["mpirun", "-n", str(processes), str(build / "bin" / "analyze-mpi"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **MPI_ENVIRONMENT})
    if done.returncode != 0:
        sys.exit(f"ranks.py: {' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def summarise(build, folder, summaries):
    began = time.monotonic()
    subprocess.run([build / "bin" / "analyze", "summarize", folder, "-o", summaries], check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def measure(options, template, folder, ranks):
    recordings, summaries = folder / "recordings", folder / "summaries"
    group = options.group or ranks
    seconds, from_recordings = 0.0, None
    summaries.mkdir()
    for first in range(0, ranks, group):
        recordings.mkdir()
        make_job(template, recordings, range(first, min(first + group, ranks)), ranks)
        if group >= ranks:
            from_recordings = Measured(options.build, options.processes, recordings)
        seconds += summarise(options.build, recordings, summaries)
        shutil.rmtree(recordings)
    size = sum(path.stat().st_size for path in summaries.iterdir())
    combined = Measured(options.build, options.processes, summaries)
    if from_recordings and from_recordings.output != combined.output:
        sys.exit("ranks.py: recordings and summaries do not say the same")
    shutil.rmtree(summaries)
    whole = f"{from_recordings.seconds:9.2f} {from_recordings.seconds / ranks * 1e3:9.1f} {from_recordings.bytes / 1e6:9.0f}" \
        if from_recordings else f"{'-':>9} {'-':>9} {'-':>9}"
    print(f"{ranks:6} {whole}  {seconds / ranks * 1e3:9.1f} {size / ranks / 1e3:9.1f}  {combined.seconds:9.2f} "
          f"{combined.analysis_seconds:9.2f} {combined.bytes / 1e6:9.0f}", flush=True)
    return max(combined.bytes, from_recordings.bytes if from_recordings else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--ranks", default="64,256,1024", help="numbers of ranks")
    parser.add_argument("--events", type=int, default=20_000, help="events of a rank, about")
    parser.add_argument("--processes", type=int, default=2, help="of analyze-mpi")
    parser.add_argument("--group", type=int, help="recordings that exist at a time; only summaries are combined then")
    parser.add_argument("--most-bytes", type=float, default=1e9, help="fail if process 0 used more")
    options = parser.parse_args()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="traceinject-ranks-") as name:
        folder = pathlib.Path(name)
        template = folder / "template.db"
        events = make_template(template, options.events)
        numbers = [int(number) for number in options.ranks.split(",")]
        most = max(min(options.group or ranks, ranks) for ranks in numbers)
        needed = (most + 1) * template.stat().st_size + max(numbers) * 1e6
        if needed > shutil.disk_usage(folder).free:
            sys.exit(f"ranks.py: {needed / 1e9:.1f} GB are needed in {folder.parent}; use --group")
        print(f"{events:,} events a rank, {template.stat().st_size / 1e6:.2f} MB; {options.processes} processes")
        print(f"{'':6} {'analyze-mpi on recordings':>29}  {'analyze summarize':>19}  {'analyze-mpi on them':>29}")
        print(f"{'ranks':>6} {'s':>9} {'ms/rank':>9} {'MB':>9}  {'ms/rank':>9} {'kB/rank':>9}  {'s':>9} {'analysis':>9} {'MB':>9}")
        most_used = max(measure(options, template, folder, ranks) for ranks in numbers)
    if most_used > options.most_bytes:
        sys.exit(f"ranks.py: process 0 used {most_used / 1e6:.0f} MB; {options.most_bytes / 1e6:.0f} are allowed")


if __name__ == "__main__":
    main()
