# SPDX-License-Identifier: Apache-2.0
"""One column of a table: values of one type in a row, as they came."""

from __future__ import annotations

import array
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union


class Format(NamedTuple):
    code: str  # of the modules array and struct, and of memoryview
    size: int  # bytes of a value
    absent: Optional[int]  # what stands for none; of doubles NaN


FORMATS: Dict[str, Format] = {
    "int32": Format("i", 4, -2**31),
    "int64": Format("q", 8, -2**63),
    "double": Format("d", 8, None),
    "text": Format("i", 4, -1),  # an index into the column's texts
}


class Column:
    """`nullable`: values may be absent."""

    def __init__(self, name: str, kind: str, data: Union[memoryview, bytearray, array.array], texts: List[str], nullable: bool):
        self.name = name
        self.kind = kind
        self.texts = texts
        self.nullable = nullable
        self._data = data

    @property
    def _values(self) -> memoryview:
        view = memoryview(self._data)
        return view if isinstance(self._data, array.array) else view.cast(FORMATS[self.kind].code)

    def to_list(self) -> List[Any]:
        """Numbers and str; None where a value is absent."""
        values = self._values.tolist()
        if self.kind == "text":
            texts: List[Optional[str]] = [*self.texts, None]  # index -1 is the last one
            return [texts[value] for value in values]
        if not self.nullable:
            return values
        if self.kind == "double":
            return [None if value != value else value for value in values]
        absent = FORMATS[self.kind].absent
        return [None if value == absent else value for value in values]

    def head(self, count: int) -> Column:
        """Its first values."""
        data = array.array(FORMATS[self.kind].code, self._values[:count].tolist())
        return Column(self.name, self.kind, data, self.texts, self.nullable)

    def raw_numpy(self) -> Any:
        """As it is stored; memory is shared."""
        import numpy
        return numpy.frombuffer(self._data, dtype=FORMATS[self.kind].code)

    def absent_numpy(self) -> Any:
        """Which values are absent; None: it is certain that none is."""
        if not self.nullable or self.kind == "double":
            return None
        absent = self.raw_numpy() == FORMATS[self.kind].absent
        return absent if absent.any() else None

    def to_numpy(self) -> Any:
        """Numbers as they are, texts as an array of objects. Integers of which some are absent are a masked array."""
        import numpy
        raw, absent = self.raw_numpy(), self.absent_numpy()
        if self.kind == "text":
            return numpy.array([*self.texts, None], dtype=object)[raw]
        return raw if absent is None else numpy.ma.masked_array(raw, absent)

    def to_pandas(self) -> Any:
        """Texts as a Categorical, integers of which some are absent as a nullable integer array."""
        import pandas
        raw, absent = self.raw_numpy(), self.absent_numpy()
        if self.kind == "text":
            return pandas.Categorical.from_codes(raw, categories=self.texts)
        return raw if absent is None else pandas.arrays.IntegerArray(raw, absent)

    def to_arrow(self) -> Any:
        """Texts as a dictionary array."""
        import pyarrow
        raw, absent = self.raw_numpy(), self.absent_numpy()
        if self.kind == "double" and self.nullable:
            absent = raw != raw
        values = pyarrow.array(raw, mask=absent)
        if self.kind == "text":
            return pyarrow.DictionaryArray.from_arrays(values, pyarrow.array(self.texts, pyarrow.string()))
        return values


def column_of(name: str, values: Sequence[Any]) -> Column:
    """Of numbers, str, and None. What they have in common is the type."""
    known = [value for value in values if value is not None]
    nullable = len(known) < len(values)
    if all(isinstance(value, int) for value in known):
        kind, absent = "int64", FORMATS["int64"].absent
    elif all(isinstance(value, (int, float)) for value in known):
        kind, absent = "double", float("nan")
    else:
        numbers: Dict[str, int] = {}
        codes = [-1 if value is None else numbers.setdefault(str(value), len(numbers)) for value in values]
        return Column(name, "text", array.array("i", codes), list(numbers), nullable)
    data = array.array(FORMATS[kind].code, [absent if value is None else value for value in values])
    return Column(name, kind, data, [], nullable)
