# SPDX-License-Identifier: Apache-2.0
"""A program of a hardware script (`SCRIPT run NAME RESULT.json [ARGUMENT...]`), played without the library and with it."""

import json
import os
import pathlib
import subprocess
import sys

RUN_LIMIT_S = 60


class PairedProgram:
    def __init__(self, script, library, out):
        self.script, self.library, self.out = script, pathlib.Path(library).resolve(), pathlib.Path(out)

    def play(self, name, ours, settings=(), arguments=()):
        """What it told (None: it failed), and how it ended. `ours`: settings of the library, None: without it."""
        label = f"{name}.{'plain' if ours is None else 'traced'}"
        result, environment = self.out / f"{label}.json", {**os.environ, **dict(settings)}
        if ours is not None:
            environment.update(LD_PRELOAD=str(self.library), TRACEINJECT_OUTPUT=str(self.out / f"{name}.db"),
                               TRACEINJECT_LOG=str(self.out / f"{label}.library.log"), **ours)
        ended = subprocess.run(["timeout", "-s", "KILL", str(RUN_LIMIT_S), sys.executable, self.script, "run", name, str(result), *arguments],
                               env=environment, capture_output=True, text=True)
        (self.out / f"{label}.log").write_text(ended.stdout + ended.stderr)
        return (json.loads(result.read_text()) if ended.returncode == 0 else None), ended

    def both(self, judge, name, ours, **how):
        """What it told without us and with us, with the checks that it prints and finds (`sum`) the same; None: one of them failed."""
        plain, plain_ended = self.play(name, None, **how)
        if plain is None:
            judge.skip("runs", f"without us it ends with {plain_ended.returncode}: {plain_ended.stderr.strip()[-200:]}")
            return None
        traced, ended = self.play(name, ours, **how)
        if traced is None:
            judge.add("runs", False, f"exit code {ended.returncode} with us, 0 without: {ended.stderr.strip()[-200:]}")
            return None
        same = (ended.stdout, ended.stderr) == (plain_ended.stdout, plain_ended.stderr)
        judge.add("output", same, "the same without us" if same else (ended.stdout + ended.stderr)[-200:])
        judge.add("same result", traced["sum"] == plain["sum"], f"{traced['sum']}, {plain['sum']} without us")
        return plain, traced
