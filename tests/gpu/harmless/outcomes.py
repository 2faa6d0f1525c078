# SPDX-License-Identifier: Apache-2.0
"""Outcomes of the same tests in two arms, without the library and with it, and what may be said of them. For harmless.py.

An arm is {test id: [outcome, ...]}, the first run first, then the repetitions.
"""

import collections

ARMS = ("plain", "recorded")
SKIPPED = "skipped"
PROCESS = "::process "  # in the names of outcomes that are a process's, not a test's
COLLECTION = " collection"  # at the end of the name of such a one: the tests of a file could not be told


class Outcomes:
    def __init__(self):
        self.arms = {arm: collections.defaultdict(list) for arm in ARMS}
        self.messages = {arm: {} for arm in ARMS}

    def add(self, arm, name, outcome, message=""):
        self.arms[arm][name].append(outcome)
        if message:
            self.messages[arm][name] = message

    def of(self, name):
        return {arm: self.arms[arm][name] for arm in ARMS}

    def in_both(self):
        return self.arms["plain"].keys() & self.arms["recorded"].keys()

    def compared(self):
        """Tests that ran in both arms: one that both skip says nothing."""
        return {name for name in self.in_both() if PROCESS not in name and {*self.arms["plain"][name], *self.arms["recorded"][name]} != {SKIPPED}}

    def skipped(self):
        return {name for name in self.in_both() - self.compared() if PROCESS not in name}

    def not_compared(self):
        """What one arm reached and the other did not, when the time was over."""
        return self.arms["plain"].keys() ^ self.arms["recorded"].keys()

    def unequal(self):
        """Tests whose outcomes are not one and the same."""
        return sorted(name for name in self.in_both() if len(set(self.arms["plain"][name] + self.arms["recorded"][name])) > 1)

    def differing(self):
        """Those with no outcome in common, however often they were repeated."""
        return [name for name in self.unequal() if not set(self.arms["plain"][name]) & set(self.arms["recorded"][name])]

    def flaky(self):
        return sorted(set(self.unequal()) - set(self.differing()))

    def describe(self, name):
        told = [f"{arm}: {', '.join(self.arms[arm][name])}" for arm in ARMS]
        told += [f"{arm} says: {self.messages[arm][name]}" for arm in ARMS if name in self.messages[arm]]
        return "\n    ".join(line for text in told for line in text.splitlines())

    def row(self, name):
        return {"id": name, **self.of(name), "messages": {arm: self.messages[arm].get(name, "") for arm in ARMS}}

    def counts(self):
        """Of the first runs of what was compared: {file: {outcome without the library: count}}."""
        files = collections.defaultdict(collections.Counter)
        for name in self.compared():
            files[name.split("::")[0]][self.arms["plain"][name][0]] += 1
        return {file: dict(sorted(count.items())) for file, count in sorted(files.items())}

    def uncollected(self):
        """{file: why none of its tests could be run, in either arm}"""
        found = {}
        for arm in ARMS:
            found |= {name.split(PROCESS)[0]: message for name, message in self.messages[arm].items() if name.endswith(COLLECTION)}
        return dict(sorted(found.items()))


def judge(checks, outcomes, least, fit_share=0.5):
    """Adds what the outcomes prove, or do not."""
    compared = outcomes.compared()
    checks.add("tests compared", len(compared) >= least, f"{len(compared)}, at least {least} expected; {len(outcomes.not_compared())} more in one "
               f"arm only, and {len(outcomes.skipped())} skipped by both")
    for file, why in outcomes.uncollected().items():
        checks.add(f"{file} can be run", False, why)
    passed = sum(outcomes.arms["plain"][name][0] == "passed" for name in compared)
    checks.add("tests that pass without the library", passed > fit_share * len(compared),
               f"{passed} of {len(compared)}; where most fail, they are of another PyTorch and prove little")
    differing, flaky = outcomes.differing(), outcomes.flaky()
    for name in differing:
        print(f"  differs: {name}\n    {outcomes.describe(name)}")
    for name in flaky:
        print(f"  flaky: {name}\n    {outcomes.describe(name)}")
    checks.add("outcomes that differ", not differing, f"{len(differing)}; flaky: {len(flaky)}")


def judge_library(checks, processes, recordings, expected):
    """`processes`: {arm: [was the library in it]}; `recordings`: {table: rows}; `expected`: {table: rows at least}."""
    plain, recorded = (processes[arm] for arm in ARMS)
    checks.add("library in the processes", bool(recorded) and all(recorded) and not any(plain),
               f"in {sum(recorded)} of {len(recorded)} that were to be recorded, and in {sum(plain)} of {len(plain)} others")
    found = ", ".join(f"{table} {count}" for table, count in sorted(recordings.items())) or "nothing"
    checks.add("recorded", all(recordings.get(table, 0) >= count for table, count in expected.items()), f"{found}; at least {expected} expected")
