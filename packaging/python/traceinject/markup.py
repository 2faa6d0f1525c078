# SPDX-License-Identifier: Apache-2.0
"""HTML for notebooks, and times for people."""

from __future__ import annotations

import html
from typing import Any, Iterable, Optional, Sequence

_UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3))


def time_text(ns: Optional[int]) -> str:
    """With four digits, as analyze prints it: "8.641 ms"."""
    if ns is None:
        return "unknown"
    for unit, length_ns in _UNITS:
        if abs(ns) >= length_ns:
            digits = len(str(int(abs(ns) / length_ns)))
            return f"{ns / length_ns:.{max(4 - digits, 0)}f} {unit}"
    return f"{ns} ns"


def _cell(value: Any) -> str:
    if value is None:
        return "<td>-</td>"
    if isinstance(value, (int, float)):
        return f'<td style="text-align:right">{value:.6g}</td>' if isinstance(value, float) else f'<td style="text-align:right">{value}</td>'
    return f'<td style="text-align:left">{html.escape(str(value))}</td>'


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def heading(text: str) -> str:
    return f"<h4>{html.escape(text)}</h4>"


def list_of(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"
