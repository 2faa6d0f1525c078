#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over our sources, as far as time allows.

usage: tidy.py [--seconds N] [--jobs N] [--tests] [--changed] BUILD [FILE...]

Checks FILEs, or else our sources: first what is changed or was by the last commit, then the others in an order that differs from commit
to commit, until N seconds are over (default: 150; 0: all of them). What passed is remembered in BUILD/tidy and checked again when it,
.clang-tidy, or one of our headers in it changes. --tests: those of tests as well.
--changed: no others than those that are changed. Compiler options are those of BUILD, also where CMake
compiles several sources as one or headers ahead.

Findings are printed, and the exit code is 1 if there are any; 2: it could not look. Files that this clang cannot parse are listed, and
are no failure.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("analyzer", "injector", "machine", "packaging", "viewer")
FOR_TESTS = re.compile(r"_(test|bench)\.\w+$|(^|/)testing/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
WITHOUT_VALUE = re.compile(r"-Werror|-Winvalid-pch|-Wno-restrict")
NO_PARSE = re.compile(r"\[clang-diagnostic-error")
FINDING = re.compile(r"^(?=\S+:\d+:\d+: (?:error|warning): )", re.MULTILINE)
LIMIT_S = 300  # for one file
OVERTIME_S = 20  # for files that are begun when time is over

Outcome = collections.namedtuple("Outcome", "kind text")  # "passed", "found", "unparsed", "failed"


def options_of(command):
    """Of a compiler's command: without the compiler, its input and output, headers compiled ahead, and what only g++ knows."""
    options, words = [], iter(shlex.split(command)[1:])
    for word in words:
        if word in ("-o", "-c", "-include", "-MF", "-MT", "-MQ"):
            next(words, None)
        elif word not in ("-MD", "-MMD") and not WITHOUT_VALUE.fullmatch(word):
            options.append(word)
    while options and not options[0].startswith("-"):
        options.pop(0)  # the compiler behind ccache
    return options


def read_commands(build):
    """{source: (folder, options)}, also of sources that are compiled as one."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source, how = pathlib.Path(entry["file"]), (entry["directory"], options_of(entry["command"]))
        if "/Unity/" in entry["file"] and source.exists():
            for included in re.findall(r'^#include "(.+)"', source.read_text(), re.MULTILINE):
                commands.setdefault(os.path.normpath(source.parent / included), how)
        else:
            commands[os.path.normpath(source)] = how
    return commands


def git(root, *words):
    ended = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return ended.stdout.splitlines() if ended.returncode == 0 else []


def choose(root, commands, tests, only_changed=False):
    """Our sources that are compiled, changed ones first."""
    ours = [name for name in (os.path.relpath(source, root) for source in commands)
            if name.endswith(".cc") and name.split("/")[0] in FOLDERS and (tests or not FOR_TESTS.search(name)) and (root / name).exists()]
    changed = {os.path.splitext(name)[0] for name in [*git(root, "diff", "--name-only", "HEAD~1"),
                                                       *git(root, "ls-files", "--others", "--exclude-standard")]}
    if only_changed:
        return sorted(name for name in ours if os.path.splitext(name)[0] in changed)
    turn = "".join(git(root, "rev-parse", "HEAD"))
    return sorted(ours, key=lambda name: (os.path.splitext(name)[0] not in changed, hashlib.sha1((turn + name).encode()).hexdigest()))


class Stamps:
    """What passed before, by the content of a source and of all of our headers in it."""

    def __init__(self, root, build):
        self.root, self.folder = root, build / "tidy"
        self.folder.mkdir(exist_ok=True)
        self.contents = {}
        self.rules = (root / ".clang-tidy").read_bytes()

    def _read(self, name):
        if name not in self.contents:
            path = self.root / name
            text = path.read_bytes() if path.is_file() else b""
            self.contents[name] = text, INCLUDE.findall(text.decode(errors="replace"))
        return self.contents[name]

    def key(self, name):
        seen, waiting = set(), [name]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += self._read(one)[1]
        whole = hashlib.sha1(self.rules)
        for one in sorted(seen):
            whole.update(one.encode() + b"\0" + self._read(one)[0])
        return whole.hexdigest()

    def _path(self, name):
        return self.folder / name.replace("/", "+")

    def known(self, name):
        path = self._path(name)
        key, _, kind = path.read_text().partition(" ") if path.exists() else ("", "", "")
        return kind if key == self.key(name) else None

    def keep(self, name, kind):
        self._path(name).write_text(f"{self.key(name)} {kind}")


def tidy(root, name, how, limit_s=LIMIT_S):
    folder, options = how
    try:
        ended = subprocess.run(["clang-tidy", "--quiet", f"--config-file={root}/.clang-tidy", str(root / name), "--", *options, "-w"],
                               cwd=folder, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return Outcome("failed", f"{name}: over its {LIMIT_S} s") if limit_s == LIMIT_S else None
    if NO_PARSE.search(ended.stdout):
        first = next(line for line in ended.stdout.splitlines() if NO_PARSE.search(line))
        return Outcome("unparsed", f"{name}: {first.replace(f'{root}/', '')}")
    if ended.returncode == 0:
        return Outcome("passed", "")
    if not ended.stdout.strip():
        return Outcome("failed", f"{name}: {ended.stderr.strip()[-500:]}")
    return Outcome("found", ended.stdout.replace(f"{root}/", ""))


def check(root, build, names, seconds, jobs):
    """(name, outcome) of each file, as they come; of those for which there is no time: (name, None)."""
    commands, stamps = read_commands(build), Stamps(root, build)
    ends = time.monotonic() + seconds if seconds else float("inf")

    def one(name):
        before = stamps.known(name)
        if before:
            return Outcome(before, name)
        left_s = ends - time.monotonic()
        if left_s < 0:
            return None
        outcome = tidy(root, name, commands[os.path.normpath(root / name)], min(LIMIT_S, left_s + OVERTIME_S))
        if outcome and outcome.kind in ("passed", "unparsed"):
            stamps.keep(name, outcome.kind)
        return outcome

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from zip(names, pool.map(one, names))


def main(arguments, root=ROOT):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    if not (build / "compile_commands.json").exists():
        print(f"tidy.py: {build} has no compile_commands.json: cmake --preset release writes it", file=sys.stderr)
        return 2
    commands = read_commands(build)
    names = [os.path.relpath(os.path.abspath(name), root) for name in options.files] or choose(root, commands, options.tests, options.changed)
    for name in names:
        if os.path.normpath(root / name) not in commands:
            print(f"tidy.py: {name} is not compiled in {build}", file=sys.stderr)
            return 2
    began, kinds, said = time.monotonic(), collections.Counter(), set()
    for name, outcome in check(root, build, names, 0 if options.files else options.seconds, options.jobs):
        kinds[outcome.kind if outcome else "left"] += 1
        if outcome and outcome.kind in ("found", "failed"):
            for finding in FINDING.split(outcome.text):
                if finding.strip() and finding not in said:  # of a header once, not for each file that includes it
                    print(finding.rstrip(), flush=True)
                said.add(finding)
        elif outcome and outcome.kind == "unparsed":
            print(f"not parsed: {outcome.text}", flush=True)
    with_findings = kinds["found"] + kinds["failed"]
    print(f"clang-tidy: {len(names) - kinds['left']} of {len(names)} files in {time.monotonic() - began:.0f} s, {kinds['left']} are left "
          f"for another time; {with_findings} with findings, {kinds['unparsed']} that clang cannot parse")
    return 1 if with_findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
