#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies libtraceinject.so without the newest versions of NCCL's profiler interface, so that NCCL takes an older one.

NCCL looks for ncclProfiler_v5, then _v4 and so on. In the copy the names above VERSION are spelt differently, of the same length: the
dynamic linker still finds the old names' place by their hash, compares the text, and finds nothing.
"""

import argparse
import pathlib

NEWEST = 5


def hide(library, version):
    """The library's bytes with no interface above `version`."""
    for hidden in range(version + 1, NEWEST + 1):
        name = f"ncclProfiler_v{hidden}\0".encode()
        if name not in library:
            raise SystemExit(f"{name[:-1].decode()} is not in the library")
        library = library.replace(name, name.replace(b"_v", b"_x"))
    return library


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("version", type=int, choices=range(1, NEWEST))
    parser.add_argument("copy", type=pathlib.Path)
    options = parser.parse_args()
    options.copy.write_bytes(hide(options.library.read_bytes(), options.version))


if __name__ == "__main__":
    main()
