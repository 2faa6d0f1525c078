# SPDX-License-Identifier: Apache-2.0
"""Where the programs and the library are: beside this package where it was installed, or in the build folder of its checkout."""

from __future__ import annotations

import os
import pathlib
from typing import Dict, List

LIBRARY = "libtraceinject.so"
# A folder with the programs and the library, in place of those that belong to this package.
OVERRIDE = "TRACEINJECT_PROGRAMS"
_PACKAGE = pathlib.Path(__file__).resolve().parent
_BUILD_FOLDERS = ("build/release/bin", "build/release/lib", "build/portable/bin", "build/portable/lib")


def _folders() -> List[pathlib.Path]:
    override = os.environ.get(OVERRIDE)
    if override:
        return [pathlib.Path(override)]
    checkout = _PACKAGE.parents[2]
    return [_PACKAGE / "bin", *(checkout / folder for folder in _BUILD_FOLDERS)]


def find(name: str) -> str:
    """The absolute path of a program or of the library. FileNotFoundError says where it was looked for."""
    for folder in _folders():
        if (folder / name).is_file():
            return str((folder / name).resolve())
    searched = "".join(f"\n  {folder / name}" for folder in _folders())
    raise FileNotFoundError(f"{name} was not found. Searched:{searched}\n"
                            f"Install the wheel of this machine, build it, or set {OVERRIDE} to the folder that holds it")


def preload_path() -> str:
    """The path of libtraceinject.so, for LD_PRELOAD."""
    return find(LIBRARY)


def environment() -> Dict[str, str]:
    """That of this process for a program: without OVERRIDE, which the recorder would report as an option that it does not know."""
    return {name: value for name, value in os.environ.items() if name != OVERRIDE}
