#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists our functions that no program and no library of ours needs; what only tests use counts as dead.

usage: dead_functions.py BUILD

BUILD is the folder of a Release build by Ninja. The programs are linked once more with all members of our archives, and the linker says
which sections nobody refers to; each function has one of its own (cmake/parts.cmake). A call that was inlined leaves no reference, so
what is removed is looked for by its name in the sources of its folder, and counts as dead only if it is named there by its declaration
and definition alone. Functions in headers have no section where nobody calls them: these are looked for by name in all sources.

Dead ones are printed one a line, and the exit code is 1 if there are any; 2: it could not look. ALLOWED names exceptions.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NEEDED = ("lib/libtraceinject.so", "bin/analyze", "bin/traceview")  # without one of them, what only it calls would count as dead
PROGRAMS = ("lib/libtraceinject.so", "bin/analyze", "bin/analyze-mpi", "bin/traceview", "bin/list_options", "bin/describe_analyze",
            "bin/describe_library", "bin/describe_traceview")
FOLDERS = ("analyzer", "injector", "machine", "packaging", "schemas", "viewer")
# "folder/Function": why it stays.
ALLOWED = {
    "analyzer/common/optional_int": "Statement reads what SqlRow reads",
    "analyzer/metrics/idle/PartitionOf": "one window, against which tests and the benchmark hold the sweep over many",
    "analyzer/model/IsMerged": "what the functions beside it promise, for tests",
    "viewer/ui/open_dialog": "how tests see what is typed into it",
}

FOR_TESTS = re.compile(r"_(test|bench)\.\w+$|(^|/)testing/")
REMOVED = re.compile(r"removing unused section '\.text\.(?:unlikely\.|hot\.|startup\.)?(\w+)' in file '(.+)'")
# Not code: comments, strings with their escapes, and character literals.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
WORD = re.compile(r"\b[A-Za-z_]\w*")
# What stands before a name that is declared or defined there: nothing on its line, or a type, and what it is a member of.
DECLARED = re.compile(r"(?:\s*(?:template\s*<.*>\s*)?[\w:<>,*&\s\[\]()]*[\w>*&]\s*[\s*&]\s*|)(?:\w+::)*~?$")
NO_TYPE = re.compile(r"\s*(?:return|else|case|throw|delete|new|co_return|goto|using|if|while|for|switch)\b")
SPECIAL = re.compile(r"operator|^main$")


class CannotLook(Exception):
    pass


def link_command(build, program):
    """The words of the command that links it, from the folder of the build."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", program], capture_output=True, text=True)
    commands = [part for part in listed.stdout.split(" && ") if f" -o {program} " in f"{part} "]
    return commands[0].split() if listed.returncode == 0 and commands else None


def unused_sections(build, words, scratch):
    """(file as the linker names it, mangled name) of each function's section that nothing refers to, where all of our archives are linked;
    and the files that were linked: our archives, and objects."""
    ours, others = [], []
    for word in words:
        if word.endswith(".a") and not os.path.isabs(word):
            ours.append(word)
        else:
            others.append(word)
    ours = list(dict.fromkeys(ours))
    at = others.index("-o") + 2
    command = [*others[:at - 1], f"{scratch}/{len(words)}.out", "-Wl,--whole-archive", *ours, "-Wl,--no-whole-archive", *others[at:],
               "-Wl,--gc-sections,--print-gc-sections,--no-demangle"]
    linked = subprocess.run(command, cwd=build, capture_output=True, text=True)
    if linked.returncode != 0:
        raise CannotLook("the linker failed:\n" + "\n".join(line for line in linked.stderr.splitlines() if "removing unused" not in line)[-2000:])
    objects = [word for word in others if word.endswith(".o")]
    return {(file, name) for name, file in REMOVED.findall(linked.stderr)}, [*ours, *objects]


def defined(build, files):
    """(file as the linker names it, mangled name) of each function that other objects can call, but inline ones."""
    listed = subprocess.run(["nm", "-A", "--defined-only", *files], cwd=build, capture_output=True, text=True)
    if listed.returncode != 0:
        raise CannotLook(listed.stderr.strip())
    found = set()
    for where, kind, name in re.findall(r"^(.+):[0-9a-f]+ (\w) (\w+)$", listed.stdout, re.MULTILINE):
        if kind == "T":
            archive, _, member = where.partition(":")
            found.add((f"{archive}({member})" if member else archive, name))
    return found


def folder_of(file):
    """The source folder of an object. It is in an archive for one program, and named by itself for the library."""
    return re.sub(r"/(?:CMakeFiles/.*|lib\w+\.a\(.*)$", "", file)


def unreferenced(build, programs):
    """{(folder, mangled name)} of the functions that each program which could have them leaves out."""
    found = {program: link_command(build, program) for program in programs}
    lacking = [program for program in NEEDED if program in found and not found[program]]
    if lacking:
        raise CannotLook(f"Ninja does not build {', '.join(lacking)} in {build}")
    commands = [words for words in found.values() if words]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda words: unused_sections(build, words, scratch), commands))
    left_out, kept = set(), set()
    for removed, files in found:
        removed = {(folder_of(file), name) for file, name in removed}
        all_of_it = {(folder_of(file), name) for file, name in defined(build, files)}
        left_out |= all_of_it & removed
        kept |= all_of_it - removed
    return left_out - kept


def demangled(names):
    names = sorted(names)
    plain = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(zip(names, plain))


def last_name(signature):
    """Of "traceinject::Clock::Now(long) const [clone .cold]": Now. None for what has no name of its own to look for."""
    text = re.sub(r"\[.*?\]", "", signature)
    depth, plain = 0, []
    for character in text.split("(anonymous namespace)::")[-1]:
        depth += character == "<"
        if depth == 0:
            plain.append(character)
        depth -= character == ">"
    names = "".join(plain).partition("(")[0].split("::")
    if SPECIAL.search(names[-1]) or len(names) > 1 and names[-1].strip("~") == names[-2]:
        return None
    return names[-1].split()[-1] if names[-1].split() else None


def product_sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".cc", ".h", ".c") and not FOR_TESTS.search(name):
                yield name, path


def read_code(path):
    text = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), path.read_text(errors="replace"))
    return re.sub(r"^[ \t]*#[ \t]*(?:include|pragma).*", "", text, flags=re.MULTILINE)


def is_declared(line, begin, rest):
    before = line[:begin]
    if not rest.lstrip().startswith("(") or NO_TYPE.match(before):
        return False
    return begin == 0 or bool(before.strip()) and bool(DECLARED.fullmatch(before))


class Names:
    """Where names stand in the sources: declared, or used."""

    def __init__(self, root):
        self.used = collections.defaultdict(collections.Counter)
        self.declared = collections.defaultdict(set)
        for name, path in product_sources(root):
            folder = os.path.dirname(name)
            for number, line in enumerate(read_code(path).split("\n"), 1):
                for word in WORD.finditer(line):
                    if is_declared(line, word.start(), line[word.end():]):
                        self.declared[word[0]].add((name, number))
                    else:
                        self.used[folder][word[0]] += 1
        self.used_anywhere = collections.Counter()
        for names in self.used.values():
            self.used_anywhere.update(names)

    def are_used_below(self, folder, name):
        return any(names[name] for where, names in self.used.items() if where == folder or where.startswith(f"{folder}/"))


def dead_functions(root, build, programs=PROGRAMS):
    """[(folder, name, what to print)]"""
    names = Names(root)
    dead = {}
    functions = unreferenced(build, programs)
    plain = demangled({name for _, name in functions})
    for folder, mangled in functions:
        name = last_name(plain[mangled])
        if "traceinject" in plain[mangled] and name and not names.are_used_below(folder, name):
            dead[folder, name] = plain[mangled]
    for name, places in names.declared.items():
        in_headers = [place for place in places if place[0].endswith(".h")]
        if not names.used_anywhere[name] and len(in_headers) == len(places) and not SPECIAL.search(name):
            path, number = sorted(in_headers)[0]
            dead.setdefault((os.path.dirname(path), name), f"{name}, {path}:{number}")
    return sorted((folder, name, shown) for (folder, name), shown in dead.items())


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    root = pathlib.Path(__file__).resolve().parents[1]
    try:
        found = dead_functions(root, pathlib.Path(arguments[0]).resolve())
    except CannotLook as problem:
        print(f"dead_functions.py: {problem}", file=sys.stderr)
        return 2
    known = {f"{folder}/{name}" for folder, name, _ in found}
    complaints = [f"{folder}: {shown}" for folder, name, shown in found if f"{folder}/{name}" not in ALLOWED]
    complaints += [f"ALLOWED names {name}, which is not dead (any more)" for name in ALLOWED if name not in known]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
