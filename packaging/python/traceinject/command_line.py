# SPDX-License-Identifier: Apache-2.0
"""The commands that pip installs. Each becomes the program itself, so that signals and exit codes are those of the program."""

from __future__ import annotations

import os
import sys
from typing import List, NoReturn

from traceinject import programs

# As analyze and traceview have it.
BAD_USAGE = 2
HELP = """\
Finds out why a training run on NVIDIA GPUs is slower than it should be, without a change to its script.

usage: traceinject COMMAND [OPTIONS] ...

  traceinject doctor                       before a run: can this machine record, and is it set up well
  traceinject record -- python3 train.py   run and record a program, then print what limits it
  traceinject run.db                       the report of a recording: what limits the run, and what to change
  traceinject view run.db                  its timeline, in a window; the same as traceview run.db
  traceinject try -- python3 train.py      run the program with each fix that needs no change to it, and measure it

A job of a launcher is recorded by a variable; each rank writes a file of its own, and run.db stands for all of them:

  LD_PRELOAD=$(traceinject preload) torchrun --nproc-per-node 8 train.py
  traceinject run.db

All other words are those of analyze: kernels, steps, gaps, code, ranks, diff, export, sql, ... See analyze --help, and
traceinject COMMAND --help. In Python: import traceinject; help(traceinject.open).
"""


def _become(name: str, arguments: List[str]) -> NoReturn:
    try:
        path = programs.find(name)
    except FileNotFoundError as error:
        sys.exit(f"traceinject: {error}")
    os.execve(path, [name, *arguments], programs.environment())


def analyze() -> NoReturn:
    _become("analyze", sys.argv[1:])


def traceview() -> NoReturn:
    _become("traceview", sys.argv[1:])


def main() -> NoReturn:
    arguments = sys.argv[1:]
    if not arguments:
        sys.stderr.write(HELP)
        sys.exit(BAD_USAGE)
    if arguments[0] in ("--help", "-h", "help"):
        sys.stdout.write(HELP)
        sys.exit(0)
    if arguments[0] == "view":
        _become("traceview", arguments[1:])
    _become("analyze", arguments)
