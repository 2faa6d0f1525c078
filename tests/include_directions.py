#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the folders of the repository against what CMake declares of them (cmake/parts.cmake).

usage: include_directions.py PARTS [ROOT]

PARTS is the file parts.txt of a build folder: "folder: folders that it may include from", one part a line. Complaints are printed one a
line, and the exit code is 1 if there are any:
  - a file includes from a folder that is not declared for its own (tests, *_test.cc and *_bench.cc, may include anything);
  - a part depends on itself in a circle, on a folder that is no part, or, not being for tests itself, on one that is (testing/);
  - a folder holds more than 40 files that are no tests.
"""

import os
import pathlib
import re
import subprocess
import sys

MOST_FILES = 40
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
TEST = re.compile(r"_(test|bench)\.\w+$")


def read_parts(path):
    """What each folder may include from."""
    parts = {}
    for line in pathlib.Path(path).read_text().splitlines():
        folder, _, allowed = line.partition(":")
        parts[folder] = allowed.split()
    return parts


def list_files(root):
    """Ours, as paths from root: in a checkout those that git knows or would take, else all outside of build folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted(path for path in set(listed.stdout.splitlines()) if (root / path).is_file())
    found = []
    for folder, inner, names in os.walk(root):
        if pathlib.Path(folder) == root:
            inner[:] = [name for name in inner if name != "build"]
        found += [(pathlib.Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def is_for_tests(folder):
    return "testing" in folder.split("/")


def wrong_dependencies(parts):
    for folder, allowed in parts.items():
        for other in allowed:
            if other not in parts:
                yield f"{folder} depends on {other}, which is no part"
            elif is_for_tests(other) and not is_for_tests(folder):
                yield f"{folder} depends on {other}, which is for tests"


def find_circle(parts):
    """The folders of a circle, the first one again at its end; None: there is none."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for other in parts.get(folder, []):
            circle = visit(other)
            if circle:
                return circle
        done.add(path.pop())
        return None

    for folder in parts:
        circle = visit(folder)
        if circle:
            return circle
    return None


def wrong_includes(parts, files, root):
    for path in files:
        folder = os.path.dirname(path)
        if folder not in parts or TEST.search(path) or not path.endswith((".h", ".cc")):
            continue
        for name in INCLUDE.findall((root / path).read_text(encoding="utf-8")):
            other = os.path.dirname(name)
            if not other:
                if (root / folder / name).exists():
                    yield f"{path} includes {name} without its folder"
            elif other != folder and other not in parts[folder]:
                yield f"{path} includes {name}, but {folder}/CMakeLists.txt names no {other} in DEPENDS"


def crowded_folders(files):
    counts = {}
    for path in files:
        if not TEST.search(path):
            folder = os.path.dirname(path) or "."
            counts[folder] = counts.get(folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if count > MOST_FILES:
            yield f"{folder} holds {count} files that are no tests, more than {MOST_FILES}: divide it"


def complaints(parts, root):
    files = list_files(root)
    found = [*wrong_dependencies(parts), *wrong_includes(parts, files, root), *crowded_folders(files)]
    circle = find_circle(parts)
    if circle:
        found.append("parts in a circle: " + " -> ".join(circle))
    return found


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).parents[1]).resolve()
    parts = read_parts(sys.argv[1])
    found = complaints(parts, root)
    for complaint in found:
        print(complaint)
    print(f"{len(parts)} parts, {len(found)} complaints")
    return int(bool(found) or not parts)


if __name__ == "__main__":
    sys.exit(main())
