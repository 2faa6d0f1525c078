#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs and shared libraries need of a machine: the newest glibc, and libraries besides glibc's own.

usage: abi.py --floor 2.28 FILE ...

Prints a line a file. Exit code 1 if one needs a glibc newer than the floor, or another library.
"""

import argparse
import re
import subprocess
import sys

from stubs import LIBRARIES, LOADERS, version_number

GLIBC = {*LIBRARIES, *LOADERS.values()}


def needed_libraries(dynamic_section):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section)


def needed_versions(version_section):
    """Of glibc; those that the file itself defines are left out."""
    needs = version_section.partition("Version needs section")[2]
    return sorted(set(re.findall(r"Name: (GLIBC_\S+)  Flags", needs)))


def complaints(libraries, versions, floor):
    """What keeps the file from running with a glibc of the floor, as sentences."""
    found = [f"needs {library}" for library in libraries if library not in GLIBC]
    for version in versions:
        number = version_number(version)
        # One without a number, such as GLIBC_ABI_DT_RELR, tells of an ability that older ones lack.
        if number is None or number > floor:
            found.append(f"needs {version}")
    return found


def newest(versions):
    return max((version_number(version) or () for version in versions), default=())


def examine(path, floor):
    def readelf(option):
        ended = subprocess.run(["readelf", option, "-W", path], stdout=subprocess.PIPE, universal_newlines=True, check=False)
        if ended.returncode:
            sys.exit(f"{path}: readelf cannot read it")
        return ended.stdout

    libraries, versions = needed_libraries(readelf("-d")), needed_versions(readelf("-V"))
    found = complaints(libraries, versions, floor)
    print(f"{path}: glibc {'.'.join(map(str, newest(versions)))}; {' '.join(libraries)}")
    for complaint in found:
        print(f"{path}: {complaint}", file=sys.stderr)
    return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--floor", required=True, type=lambda text: version_number(f"GLIBC_{text}"))
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    return 0 if all([examine(path, arguments.floor) for path in arguments.files]) else 1


if __name__ == "__main__":
    sys.exit(main())
