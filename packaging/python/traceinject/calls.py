# SPDX-License-Identifier: Apache-2.0
"""Calls of the program analyze."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import tempfile
from typing import IO, Any, Dict, Iterator, List, Tuple

from traceinject import programs

_F_SETPIPE_SZ = 1031  # of Linux; fcntl has it since Python 3.10
_PIPE_BYTES = 1 << 20
_NOTE = "note: "


class Error(Exception):
    """What analyze says of a recording that cannot be read, or of a call that makes no sense. `exit_code` is that of analyze."""

    __module__ = "traceinject"  # where users find it

    def __init__(self, message: str, exit_code: int = 0):
        super().__init__(message)
        self.exit_code = exit_code


def flags_of(options: Dict[str, Any]) -> List[str]:
    """The flags of keyword arguments: from_="2s" is --from 2s, all=True is --all, what is None or False is left out."""
    flags = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        flags.append("--" + name.rstrip("_").replace("_", "-"))
        if value is not True:
            flags.append(str(value))
    return flags


def _end(process: subprocess.Popen, said: IO[bytes]) -> List[str]:
    """Waits for the end; returns the notes among what it said."""
    code = process.wait()
    said.seek(0)
    text = said.read().decode(errors="replace").strip()
    if code != 0:
        raise Error(text or f"analyze ended with {code}", code) from None
    return [line[len(_NOTE):] for line in text.splitlines() if line.startswith(_NOTE)]


@contextlib.contextmanager
def output(arguments: List[str]) -> Iterator[Tuple[IO[bytes], List[str]]]:
    """What a command prints, and its notes, which are there once the block has ended. The block reads all of it."""
    notes: List[str] = []
    try:
        path = programs.find("analyze")
    except FileNotFoundError as error:
        raise Error(str(error)) from None
    # What it says goes to a file that has no name: a second pipe could fill up while the first is read.
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen([path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                              env=programs.environment()) as process:
            assert process.stdout is not None
            with contextlib.suppress(OSError):
                fcntl.fcntl(process.stdout, _F_SETPIPE_SZ, _PIPE_BYTES)
            ended_early = None
            try:
                yield process.stdout, notes
            except EOFError as error:
                ended_early = error  # it says why
            except BaseException:
                process.kill()
                raise
            process.stdout.read()
            notes += _end(process, said)
            if ended_early:
                raise Error(f"analyze: {ended_early}")


def text(arguments: List[str]) -> Tuple[str, List[str]]:
    """All that a command prints, and its notes."""
    with output(arguments) as (printed, notes):
        read = printed.read()
    return read.decode(errors="replace"), notes
