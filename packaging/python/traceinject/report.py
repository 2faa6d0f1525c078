# SPDX-License-Identifier: Apache-2.0
"""Reports: the figures of `analyze --format json` (schemas/report.proto), and of these the verdict."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, Dict, List, Optional

from traceinject import markup
from traceinject.int64_fields import is_int64

_WHOLE_NUMBER = re.compile(r"-?\d+")
_PARTS = (("compute", "compute_ns"), ("exposed communication", "exposed_communication_ns"), ("exposed copies", "exposed_copy_ns"),
          ("idle", "idle_ns"))


def _number_or_text(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_number_or_text(name, one) for one in value]
    if isinstance(value, str) and is_int64(name) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value


def _with_numbers(pairs: List[Any]) -> Dict[str, Any]:
    """JSON of Protocol Buffers has integers of 64 bits in quotes."""
    return {name: _number_or_text(name, value) for name, value in pairs}


@dataclasses.dataclass(frozen=True)
class Lever:
    """Something to change."""

    setting: str
    change: str  # what to do, and why it helps; empty: the setting says it
    source: str  # where that is written; empty: it follows from what was found
    try_: str  # what `analyze try` measures it with; empty: it cannot be applied from outside

    def __str__(self) -> str:
        return f"{self.setting}: {self.change}" if self.change else self.setting


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What limits a run, and what a step would get back if that vanished. None is what is not known."""

    label: str  # dataloader, launch_bound, ...: docs/reading-a-report.md
    title: str  # of the label, for people
    place: Optional[str]  # the line of the program that it is mostly due to: "train.py:41"
    file: Optional[str]
    line: Optional[int]
    function: Optional[str]
    where: Optional[str]  # between ranks: the rank or host that the others wait for
    saved_ns: Optional[int]  # of a mean step, if the cause vanished
    saved_low_ns: Optional[int]  # 95 % interval
    saved_high_ns: Optional[int]
    step_ns: Optional[int]  # a mean step, as recorded
    new_step_ns: Optional[int]  # without the cause and without the recorder
    evidence: List[str]
    levers: List[Lever]  # what to change, in the order to try it
    caveats: List[str]  # what the label cannot tell
    abstained: str  # inconclusive: why, and what to do; empty otherwise
    loss: str  # compute_bound: what of the peak is achieved, and what most is lost to; empty: not known
    confidence: Optional[float]  # 0 to 1
    device: str  # the GPU judged
    steps: int  # used for the figures

    @classmethod
    def of(cls, verdict: Dict[str, Any]) -> Verdict:
        code = verdict["code"][0] if verdict["code"] else {}
        line = code.get("line") or None
        return cls(label=verdict["label"], title=verdict["title"],
                   place=f"{code['file']}:{line}" if line else code.get("place"),
                   file=code.get("file"), line=line, function=code.get("function"), where=verdict["place"] or None,
                   **{name: verdict.get(name) for name in ("saved_ns", "saved_low_ns", "saved_high_ns", "step_ns", "new_step_ns",
                                                           "confidence")},
                   evidence=[one["text"] for one in verdict["evidence"]],
                   levers=[Lever(one["setting"], one["change"], one["source"], one["try"]) for one in verdict["levers"]],
                   caveats=verdict["caveats"], abstained=verdict["abstained"],
                   loss=verdict["loss"], device=verdict["device"], steps=verdict["steps"])

    @property
    def saved_share(self) -> Optional[float]:
        """Of a mean step."""
        return self.saved_ns / self.step_ns if self.saved_ns is not None and self.step_ns else None

    def __str__(self) -> str:
        at = f" at {self.place}" if self.place else f" on {self.where}" if self.where else ""
        told = f"{self.title} ({self.label}){at}"
        if self.saved_ns is None:
            return ": ".join(filter(None, (told, self.loss or self.abstained)))
        told += f": without it, a mean step of {markup.time_text(self.step_ns)} saves {markup.time_text(self.saved_ns)}"
        if self.saved_low_ns is not None:
            told += f" (95 % interval {markup.time_text(self.saved_low_ns)} to {markup.time_text(self.saved_high_ns)})"
        return told

    def _repr_html_(self) -> str:
        return (f"<b>{markup.html.escape(str(self))}</b>" + markup.list_of(self.evidence) +
                (markup.heading("What to change") + markup.list_of(map(str, self.levers)) if self.levers else "") +
                "".join(markup.paragraph(caveat) for caveat in self.caveats))


class Report(Dict[str, Any]):
    """A dict: the message Report of schemas/report.proto, fields named as there."""

    @classmethod
    def parse(cls, text: str) -> Report:
        return cls(json.loads(text, object_pairs_hook=_with_numbers))

    def verdict(self) -> Verdict:
        return Verdict.of(self["verdict"])

    def _repr_html_(self) -> str:
        rows = []
        for steps in self["steps"]:
            split, count = steps.get("judged_sum"), steps["judged"]
            if split and count:
                rows.append([steps["label"], count, markup.time_text(round(split["length_ns"] / count)),
                             *(markup.time_text(round(split[field] / count)) for _, field in _PARTS)])
        mean_steps = markup.table(["GPU", "steps", "mean step", *(part for part, _ in _PARTS)], rows) if rows else ""
        return self.verdict()._repr_html_() + mean_steps + "".join(markup.paragraph(note) for note in self["notes"])
