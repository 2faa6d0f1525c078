#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of shared libraries that a program is linked with and that are looked up when it starts.

usage: trampolines.py --compiler g++ --out FILE.s LIBRARY ...

For each function that a LIBRARY exports, a function of the same name that jumps to it. load_libraries.cc fills in where to; until then,
and where the machine has no such library, it returns zero, which OpenGL's, EGL's, and GLFW's functions do when they fail.
"""

import argparse
import pathlib
import re
import subprocess
import sys

JUMPS = {"x86_64": ["jmp *{address}(%rip)"],
         "aarch64": ["adrp x16, {address}", "ldr x16, [x16, #:lo12:{address}]", "br x16"]}
RETURN_ZERO = {"x86_64": ["xorl %eax, %eax", "ret"], "aarch64": ["mov x0, #0", "ret"]}


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def functions(listing):
    """Of what readelf --dyn-syms -W prints."""
    rows = (line.split() for line in listing.splitlines())
    return sorted({words[-1].partition("@")[0] for words in rows if len(words) >= 8 and words[3] == "FUNC" and "UND" not in words})


def soname(dynamic_section):
    return re.search(r"\(SONAME\).*\[(.*)\]", dynamic_section).group(1)


def code(machine, names):
    lines = [".text", "traceinject_absent:", *RETURN_ZERO[machine]]
    for name in names:
        jump = [line.format(address=f"address_of_{name}") for line in JUMPS[machine]]
        lines.extend([f".globl {name}", f".hidden {name}", f".type {name}, %function", f"{name}:", *jump])
    return lines


def tables(libraries):
    """As load_libraries.cc reads them: of each library its soname, the names of its functions, and the addresses to fill in."""
    heads = [".data", ".balign 8", ".globl traceinject_run_time_libraries", ".hidden traceinject_run_time_libraries",
             "traceinject_run_time_libraries:"]
    bodies = []
    for number, (library, names) in enumerate(libraries.items()):
        heads.append(f".quad soname_{number}, names_{number}, addresses_{number}")
        bodies.extend([f'soname_{number}: .asciz "{library}"', f"names_{number}:", *(f'.asciz "{name}"' for name in names), ".byte 0",
                       ".balign 8", f"addresses_{number}:", *(f"address_of_{name}: .quad traceinject_absent" for name in names)])
    return [*heads, ".quad 0", *bodies]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("libraries", nargs="+")
    arguments = parser.parse_args()
    libraries = {}
    for name in arguments.libraries:
        path = run(arguments.compiler, f"-print-file-name={name}").strip()
        if not pathlib.Path(path).is_absolute():
            sys.exit(f"trampolines.py: {arguments.compiler} does not find {name}")
        libraries[soname(run("readelf", "-d", "-W", path))] = functions(run("readelf", "--dyn-syms", "-W", path))
    machine = run(arguments.compiler, "-dumpmachine").split("-")[0]
    names = [name for of_library in libraries.values() for name in of_library]
    lines = [*code(machine, names), *tables(libraries), '.section .note.GNU-stack,"",%progbits']
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
