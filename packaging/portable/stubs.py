#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for this machine's C library that offer only what an older glibc has.

usage: stubs.py --floor 2.28 --compiler g++ --out FOLDER [--add ARCHIVE ...]

The linker binds a program to the newest version of each symbol that it finds in the C library, and the program then needs that
glibc. Linked with these libraries instead, it is bound to the newest version up to the floor, and what came later is undefined: the
linker names it, and packaging/portable/newer_glibc.cc has to define it. The libraries are never loaded: they have symbols, versions,
and sonames, no code.

FOLDER gets the libraries and two scripts, libc.so and libm.so, that the linker finds for -lc and -lm when FOLDER is searched first.
The archives of --add are searched with libc.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

LIBRARIES = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1")
# Where a glibc before 2.34 has symbols that libc has today. A program says of each version which library it is of, and before 2.30 the
# dynamic linker does not look beyond that one. "": in a library that our programs do without.
FORMER_HOMES = {"libpthread.so.0": r"_*(pthread|sem)_\w+|(cnd|mtx|thrd|tss)_\w+|call_once",
                "libdl.so.2": r"dl(addr1?|close|error|info|mopen|open|sym|vsym)",
                "librt.so.1": r"(aio|lio|mq|timer)_\w+|__mq_open_2|shm_(open|unlink)",
                "": r"(__)?(dn|ns_name|res)_\w+|gai_\w+|getaddrinfo_a|(fork|open)pty|login|login_tty|logout|logwtmp"}
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
# Defined by packaging/portable/start.cc, which asks for the old one by its version.
ONLY_BY_VERSION = {"__libc_start_main"}

Symbol = collections.namedtuple("Symbol", "name version is_default address size kind weak")


def version_number(version):
    """(2, 2, 5) of GLIBC_2.2.5; None of a version that is not a release, such as GLIBC_PRIVATE."""
    match = re.fullmatch(r"GLIBC_([0-9]+(?:\.[0-9]+)+)", version)
    return tuple(map(int, match.group(1).split("."))) if match else None


def read_symbols(listing):
    """Of what readelf --dyn-syms -W prints: the defined ones that have a version."""
    for line in listing.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit() or "UND" in words or "ABS" in words:
            continue
        name, at, version = words[-1].partition("@")
        if at:
            # readelf writes sizes from 100,000 bytes on in base 16.
            yield Symbol(name, version.lstrip("@"), version.startswith("@"), int(words[1], 16), int(words[2], 0), words[3], words[4] == "WEAK")


def newest_up_to(floor, symbols):
    """One symbol a name: the newest that is not newer than the floor."""
    newest = {}
    for symbol in symbols:
        number = version_number(symbol.version)
        if number is None or number > floor:
            continue
        known = newest.get(symbol.name)
        if known is None or number > version_number(known.version):
            newest[symbol.name] = symbol
    return sorted(newest.values())


def assembly(symbols):
    lines = [".text"]

    def define(symbol, kind):
        name = symbol.name
        if name in ONLY_BY_VERSION:
            name += "_by_version"
            lines.append(f".symver {name}, {symbol.name}@{symbol.version}")
        lines.extend([f"{'.weak' if symbol.weak else '.globl'} {name}", f".type {name}, %{kind}", f"{name}:"])

    data = collections.defaultdict(list)
    for symbol in symbols:
        if symbol.kind in ("OBJECT", "TLS"):
            data[symbol.kind, symbol.address].append(symbol)
        else:
            define(symbol, "function")
    # A program gets a copy of an object, under all names that the object has: those stay at one address.
    for (kind, _), names in sorted(data.items()):
        lines.extend([".section .tbss,\"awT\",%nobits" if kind == "TLS" else ".bss", ".balign 64"])
        for symbol in names:
            define(symbol, "tls_object" if kind == "TLS" else "object")
            lines.append(f".size {symbol.name}, {symbol.size}")
        lines.append(f".space {max(1, *(symbol.size for symbol in names))}")
    lines.append(".section .note.GNU-stack,\"\",%progbits")
    return "\n".join(lines) + "\n"


def version_script(symbols):
    nodes = collections.defaultdict(list)
    for symbol in symbols:
        if symbol.name not in ONLY_BY_VERSION:
            nodes[symbol.version].append(symbol.name)
    versions = [f"{version} {{ global: {' '.join(f'{name};' for name in names)} }};\n" for version, names in sorted(nodes.items())]
    # In a node of its own: names like foo_by_version are nobody's.
    return "".join(versions) + "TRACEINJECT_STUB { local: *; };\n"


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def library_file(compiler, name):
    found = pathlib.Path(run(compiler, f"-print-file-name={name}").strip())
    if not found.is_absolute():
        sys.exit(f"stubs.py: {compiler} does not find {name}")
    return found


def former_home(symbol):
    """The library that had a symbol of libc before 2.34. One that moved has a newer version since, or serves old programs only; of the
    same kind of names, those that always were in libc, too, have neither."""
    if symbol.is_default:
        return "libc.so.6"
    return next((library for library, names in FORMER_HOMES.items() if re.fullmatch(names, symbol.name)), "libc.so.6")


def offered(compiler, names, floor):
    """By library, what each offers up to the floor."""
    symbols = {name: newest_up_to(floor, read_symbols(run("readelf", "--dyn-syms", "-W", library_file(compiler, name)))) for name in names}
    for symbol in symbols.pop("libc.so.6"):
        symbols.setdefault(former_home(symbol), []).append(symbol)
    symbols.pop("", None)
    return symbols


def write_stub(compiler, folder, name, symbols):
    source, script, stub = (folder / f"{name}{suffix}" for suffix in (".s", ".map", ""))
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    run(compiler, "-shared", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script,{script}", source, "-o", stub)


def write_scripts(compiler, folder, names, archives):
    """What the linker reads for -lc and -lm."""
    path = {name: (folder / name).resolve() for name in names}
    optional = [str(path[name]) for name in names if name not in ("libc.so.6", "libm.so.6")]
    # The last has atexit and the like, of which each program has a copy.
    always = [path["libc.so.6"], *archives, library_file(compiler, "libc_nonshared.a")]
    (folder / "libm.so").write_text(f"GROUP ( {path['libm.so.6']} )\n")
    (folder / "libc.so").write_text(f"GROUP ( {' '.join(map(str, always))} AS_NEEDED ( {' '.join(optional)} ) )\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--floor", required=True, type=lambda text: version_number(f"GLIBC_{text}"))
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--add", nargs="*", default=[], type=lambda text: pathlib.Path(text).resolve())
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    machine = run(arguments.compiler, "-dumpmachine").split("-")[0]
    names = (*LIBRARIES, LOADERS[machine])
    for name, symbols in offered(arguments.compiler, names, arguments.floor).items():
        write_stub(arguments.compiler, arguments.out, name, symbols)
    write_scripts(arguments.compiler, arguments.out, names, arguments.add)


if __name__ == "__main__":
    main()
