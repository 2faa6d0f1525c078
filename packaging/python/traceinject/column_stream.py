# SPDX-License-Identifier: Apache-2.0
"""Reads the binary form in which analyze writes tables (docs/formats.md, "Columns")."""

from __future__ import annotations

import json
from typing import List, Union

from traceinject.column import FORMATS, Column
from traceinject.table import Table

_SIGNATURE = b"TRJCOLS1"
_ALIGNMENT = 8


def read_table(data: memoryview) -> Table:
    """Columns are views of `data`. EOFError: it ends too early. ValueError: it is something else."""
    place = 0

    def take(size: int) -> memoryview:
        nonlocal place
        taken = data[place:place + size]
        if len(taken) < size:
            raise EOFError("the table ends early")
        place += size
        return taken

    if take(len(_SIGNATURE)) != _SIGNATURE:
        raise ValueError("not a table of columns")
    header = json.loads(bytes(take(int.from_bytes(take(8), "little"))))
    rows = header["rows"]
    columns: List[Column] = []
    for told in header["columns"]:
        size = (1 if told["constant"] else rows) * FORMATS[told["type"]].size
        values: Union[memoryview, bytearray] = take(size)
        take(-size % _ALIGNMENT)
        if told["constant"]:
            values = bytearray(values) * rows
        columns.append(Column(told["name"], told["type"], values, told.get("texts", []), told["nullable"]))
    return Table(columns, rows)
