# SPDX-License-Identifier: Apache-2.0
"""What the methods of a run give: rows of named columns."""

from __future__ import annotations

import collections
import importlib
import keyword
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence

from traceinject import markup
from traceinject.column import Column, column_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN_ROWS = 20


def _needed(module: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"{what} needs {module}: pip install {module}") from None


class Table:
    """Rows in memory. Units stand in the names of columns: `_ns`, `_bytes`, `_share` (0 to 1), `_percent`. None is what is not known.

    Iteration gives named tuples, in which `class` is `class_`. A column is asked for by its name: `table["dur_ns"]`, as an array of NumPy where that is installed,
    and as a list otherwise. `notes` says what was left out or repaired.
    """

    def __init__(self, columns: Sequence[Column], rows: int):
        self._columns = {column.name: column for column in columns}
        self._rows = rows
        self.notes: List[str] = []

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Sequence[Dict[str, Any]]) -> Table:
        return cls([column_of(name, [row[name] for row in rows]) for name in names], len(rows))

    @property
    def columns(self) -> List[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise KeyError(f"no column {name}; there are {', '.join(self._columns)}")
        try:
            importlib.import_module("numpy")
        except ImportError:
            return self._columns[name].to_list()
        return self._columns[name].to_numpy()

    def __iter__(self) -> Iterator[Any]:
        names = [f"{name}_" if keyword.iskeyword(name) else name for name in self.columns]
        # rename: a query may call its columns what it likes.
        row = collections.namedtuple("row", names, rename=True)  # type: ignore[misc]
        return map(row._make, zip(*self.to_lists().values()))

    def to_lists(self) -> Dict[str, List[Any]]:
        """The columns by name."""
        return {name: column.to_list() for name, column in self._columns.items()}

    def to_dicts(self) -> List[Dict[str, Any]]:
        """The rows."""
        names = self.columns
        return [dict(zip(names, row)) for row in zip(*self.to_lists().values())]

    def to_pandas(self) -> pandas.DataFrame:
        """Texts are categories; integers of which some are not known are of the type Int64 or Int32."""
        pandas = _needed("pandas", "to_pandas()")
        return pandas.DataFrame({name: column.to_pandas() for name, column in self._columns.items()}, copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """Texts are dictionaries."""
        pyarrow = _needed("pyarrow", "to_arrow()")
        return pyarrow.table({name: column.to_arrow() for name, column in self._columns.items()})

    def to_polars(self) -> polars.DataFrame:
        """By way of Arrow. Texts are categories."""
        return _needed("polars", "to_polars()").from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        return f"<traceinject.Table of {self._rows} rows: {', '.join(self._columns)}>"

    def _head(self) -> List[Any]:
        first = Table([column.head(_SHOWN_ROWS) for column in self._columns.values()], min(self._rows, _SHOWN_ROWS))
        return list(zip(*first.to_lists().values()))

    def _repr_html_(self) -> str:
        below = [f"{self._rows:,} rows"] + self.notes
        return markup.table(self.columns, self._head()) + "".join(markup.paragraph(line) for line in below)
