# SPDX-License-Identifier: Apache-2.0
"""Calls of the program analyze."""

from __future__ import annotations

import mmap
import os
import subprocess
import tempfile
from typing import IO, Any, Dict, List, Tuple

from traceinject import programs

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


def _memory_file() -> IO[bytes]:
    """A file that is nowhere but in memory; on a disk where the system has none."""
    try:
        return open(os.memfd_create("traceinject"), "w+b")
    except (AttributeError, OSError):
        return tempfile.TemporaryFile()


def _mapped(file: IO[bytes]) -> memoryview:
    """All of it, without a copy. Whoever changes it changes nothing but this view."""
    file.seek(0, os.SEEK_END)
    if file.tell() == 0:
        return memoryview(b"")
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))


def output(arguments: List[str]) -> Tuple[memoryview, List[str]]:
    """All that a command prints, and its notes."""
    try:
        path = programs.find("analyze")
    except FileNotFoundError as error:
        raise Error(str(error)) from None
    # It writes where this process reads: a pipe would have every byte copied twice more.
    with _memory_file() as printed, _memory_file() as said:
        code = subprocess.call([path, *arguments], stdin=subprocess.DEVNULL, stdout=printed, stderr=said, env=programs.environment())
        message = bytes(_mapped(said)).decode(errors="replace").strip()
        if code != 0:
            raise Error(message or f"analyze ended with {code}", code)
        return _mapped(printed), [line[len(_NOTE):] for line in message.splitlines() if line.startswith(_NOTE)]


def text(arguments: List[str]) -> Tuple[str, List[str]]:
    """The same as text."""
    printed, notes = output(arguments)
    return bytes(printed).decode(errors="replace"), notes
