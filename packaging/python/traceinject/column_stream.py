# SPDX-License-Identifier: Apache-2.0
"""Reads the binary form in which analyze writes tables (docs/formats.md, "Columns")."""

from __future__ import annotations

import json
from typing import IO, List

from traceinject.column import FORMATS, Column
from traceinject.table import Table

_SIGNATURE = b"TRJCOLS1"
_ALIGNMENT = 8


def _read(stream: IO[bytes], size: int) -> bytearray:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        count = stream.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise EOFError("the table ends early")
        rest = rest[count:]
    return data


def read_table(stream: IO[bytes]) -> Table:
    """EOFError: it ends too early. ValueError: it is something else."""
    if _read(stream, len(_SIGNATURE)) != _SIGNATURE:
        raise ValueError("not a table of columns")
    header = json.loads(_read(stream, int.from_bytes(_read(stream, 8), "little")))
    rows = header["rows"]
    columns: List[Column] = []
    for told in header["columns"]:
        size = (1 if told["constant"] else rows) * FORMATS[told["type"]].size
        data = _read(stream, size)
        _read(stream, -size % _ALIGNMENT)
        if told["constant"]:
            data *= rows
        columns.append(Column(told["name"], told["type"], data, told.get("texts", []), told["nullable"]))
    return Table(columns, rows)
