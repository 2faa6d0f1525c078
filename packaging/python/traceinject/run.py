# SPDX-License-Identifier: Apache-2.0
"""A recording, or the trace of another profiler, as analyze reads it."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from traceinject import calls
from traceinject.column_stream import read_table
from traceinject.report import Report, Verdict
from traceinject.table import Table

Path = Union[str, "os.PathLike[str]"]


class Run:
    """What was recorded. Nothing is kept but the report: each table is read from the files when it is asked for, and memory is the
    caller's.

    Events (`kernels`, `memcpys`, ...): one row for each event of the whole recording, by process, GPU, and start. `start_ns` counts from
    the run's first GPU operation, as in reports and as `--from` does. `process` counts `report()["sources"]`; `rank` is None outside of
    jobs of ranks. `columns`: only these.

    Tables (`steps`, `gaps`, ...): those of the commands of the same name, over the same steps. Options of the command are keyword
    arguments: `run.gaps(filter="data wait", limit=10)`, `from_="2s"` for `--from 2s`.
    """

    def __init__(self, paths: Sequence[Path]):
        self._paths = [os.fspath(path) for path in paths]
        self._report: Optional[Report] = None
        self._metadata: List[Dict[str, Any]] = json.loads(calls.text(["info", *self._paths, "--format", "json"])[0])

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets the report. There is nothing else to release."""
        self._report = None

    def __repr__(self) -> str:
        return f"traceinject.open({', '.join(map(repr, self._paths))})"

    # What limits the run.

    def report(self, **options: Any) -> Report:
        """The report, as of `analyze RUN --format json`. Of options those of `analyze report`: `all=True`, `steps="10..20"`, ..."""
        if options or self._report is None:
            report = Report.parse(calls.text(["report", *self._paths, "--format", "json", "--no-progress", *calls.flags_of(options)])[0])
            if options:
                return report
            self._report = report
        return self._report

    def verdict(self) -> Verdict:
        """What limits the run, where, and what to change."""
        return self.report().verdict()

    def metadata(self) -> List[Dict[str, Any]]:
        """What `analyze info` tells of each file: meta, processes, devices, rows of tables, health."""
        return self._metadata

    # Events.

    def kernels(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Kernels with class, launch configuration, and the call that launched them."""
        return self._events("kernels", columns)

    def memcpys(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Copies of the GPUs with bytes and kinds of memory."""
        return self._events("memcpys", columns)

    def memsets(self, columns: Optional[Sequence[str]] = None) -> Table:
        return self._events("memsets", columns)

    def calls(self, columns: Optional[Sequence[str]] = None) -> Table:
        """CUDA calls on the host."""
        return self._events("api_calls", columns)

    def ranges(self, columns: Optional[Sequence[str]] = None) -> Table:
        """NVTX ranges and marks."""
        return self._events("nvtx_ranges", columns)

    def collectives(self, columns: Optional[Sequence[str]] = None) -> Table:
        """NCCL operations as the program issued them, on the host."""
        return self._events("collectives", columns)

    def data_waits(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Times that threads spent in next() of data loaders."""
        return self._events("data_waits", columns)

    def host_spans(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Checkpoints, garbage collections, waits for the GPU."""
        return self._events("host_spans", columns)

    def operators(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Operators and Python functions of a trace of torch.profiler."""
        return self._events("profiler_ranges", columns)

    def samples(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Clocks, power, temperature, and memory of the GPUs over time."""
        return self._events("device_samples", columns)

    # Tables.

    def steps(self, **options: Any) -> Table:
        """Steps: length, compute, exposed communication and copies, idle time by cause."""
        return self._table("steps", options)

    def gaps(self, **options: Any) -> Table:
        """Idle times of the GPUs: cause, and what ended them."""
        return self._table("gaps", options)

    def code(self, **options: Any) -> Table:
        """Lines of the program: idle, host, and kernel time; `functions=True`, `threads=True`, `modules=True`."""
        return self._table("code", options)

    def kernel_names(self, **options: Any) -> Table:
        """Kernels by name: time, count, FLOPs, occupancy."""
        return self._table("kernels", options)

    def nvtx(self, **options: Any) -> Table:
        """NVTX ranges by name, with the GPU work launched inside them."""
        return self._table("nvtx", options)

    def communication(self, **options: Any) -> Table:
        """NCCL operations by function and size: time, exposed time, bandwidth."""
        return self._table("comm", options)

    def memory(self, **options: Any) -> Table:
        """Allocation calls; `samples=True`: memory over time."""
        return self._table("memory", options)

    def loader(self, **options: Any) -> Table:
        """Data loading by step; `loaders=True`: by loader with its settings, `workers=True`: by worker."""
        return self._table("data", options)

    # Anything else.

    def sql(self, query: str) -> Table:
        """One SELECT on the tables and views of the recording (docs/formats.md), as of `analyze sql`: as stored, with absolute times. Of
        several files a column `rank` comes first."""
        return self._columns(["sql", *self._paths, query, "--format", "columns"])

    def _events(self, table: str, columns: Optional[Sequence[str]]) -> Table:
        chosen = ["--columns", ",".join(columns)] if columns is not None else []
        return self._columns(["export", *self._paths, "--to", "columns", "--table", table, "--no-progress", *chosen])

    def _columns(self, arguments: List[str]) -> Table:
        printed, notes = calls.output(arguments)
        table = read_table(printed)
        table.notes = notes
        return table

    def _table(self, command: str, options: Dict[str, Any]) -> Table:
        arguments = [command, *self._paths, "--no-progress", *calls.flags_of({"limit": 0, **options})]
        text, notes = calls.text([*arguments, "--format", "json"])
        rows = json.loads(text)
        # Without rows only the header of the CSV names the columns.
        names = list(rows[0]) if rows else calls.text([*arguments, "--format", "csv"])[0].strip().split(",")
        table = Table.from_rows(names, rows)
        table.notes = notes
        return table


def open_run(*paths: Path) -> Run:
    """Opens what analyze takes: recordings (run.db, run.db.zst), a name that stands for the files of all ranks, a folder, traces of
    torch.profiler (trace.json, trace.json.gz) and rocmProfileData (trace.rpd), exports of Nsight Systems. Error: it cannot be read."""
    if not paths:
        raise calls.Error("name a recording, as in traceinject.open(\"run.db\")")
    return Run(paths)
