#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the built programs, the library, and the Python package beside this file into a wheel.

    build_wheel.py --version 0.1.0 --output build/release/wheel build/release/portable --manual build/release/share/man

A wheel says by its name on which machines it runs (PEP 600): manylinux_2_28 has the C library 2.28 or newer, and nothing else. What
needs more is refused; --platform linux_x86_64 makes a wheel for machines like this one. The same files make the same bytes.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

NAME = "traceinject"
PACKAGE = pathlib.Path(__file__).resolve().parent / NAME
LICENSE = pathlib.Path(__file__).resolve().parents[2] / "LICENSE"
README = pathlib.Path(__file__).resolve().parent / "README.md"
LIBRARY = "libtraceinject.so"
PROGRAMS = ("analyze", "traceview")
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}  # as readelf names them
MANYLINUX = "manylinux_2_28"
# What each machine that such a wheel is for has: the parts of its C library.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt|libresolv|libutil|ld-linux[a-z0-9-]*)\.so\.\d+")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file knows
SUMMARY = "Finds out why a training run on NVIDIA GPUs is slower than it should be"


class Refused(Exception):
    """What is wrong with the files."""


def readelf(flags, path):
    told = subprocess.run(["readelf", "-W", *flags, path], capture_output=True, text=True, check=False, env={"LC_ALL": "C"})
    if told.returncode != 0:
        raise Refused(f"{path}: readelf: {told.stderr.strip()}")
    return told.stdout


def is_program_or_library(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def machine_of(path):
    name = re.search(r"Machine:\s*(.+)", readelf(["--file-header"], path)).group(1).strip()
    if name not in MACHINES:
        raise Refused(f"{path}: is for {name}; expected one of {', '.join(MACHINES)}")
    return MACHINES[name]


def glibc_of(path):
    """The newest version of the C library that it asks for: (2, 17)."""
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", readelf(["--version-info"], path))
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def libraries_of(path):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", readelf(["--dynamic"], path))


def check_portable(files, platform):
    """Whether machines that the platform names can run the files."""
    promised = re.fullmatch(r"manylinux_(\d+)_(\d+)_\w+", platform)
    if not promised:
        return
    newest = tuple(map(int, promised.groups()))
    names = {path.name for path in files}
    for path in files:
        needed = glibc_of(path)
        if needed > newest:
            raise Refused(f"{path}: needs GLIBC_{needed[0]}.{needed[1]}, newer than {platform} says. Build it against an older C library, "
                          f"or make a wheel for machines like this one: --platform linux_{machine_of(path)}")
        for library in libraries_of(path):
            if library not in names and not SYSTEM_LIBRARIES.fullmatch(library):
                raise Refused(f"{path}: needs {library}, which not every machine of {platform} has and which is not packed. Link it "
                              f"statically, or make a wheel for machines like this one: --platform linux_{machine_of(path)}")


def is_packed(path):
    return path.is_file() and (path.name in PROGRAMS or re.match(r"lib.*\.so", path.name)) and is_program_or_library(path)


def find_binaries(places):
    """Our programs and all libraries in files and folders, each name once: the first."""
    found = {}
    for place in map(pathlib.Path, places):
        if not place.exists():
            raise Refused(f"{place}: no such file or folder")
        for path in sorted(place.iterdir()) if place.is_dir() else [place]:
            if is_packed(path):
                found.setdefault(path.name, path)
    for needed in ("analyze", LIBRARY):
        if needed not in found:
            raise Refused(f"{needed} is not in {', '.join(map(str, places))}")
    return [found[name] for name in sorted(found)]


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.8\nClassifier: Environment :: GPU :: NVIDIA CUDA\nClassifier: Operating System :: POSIX :: Linux\n"
            "Classifier: Programming Language :: Python :: 3\nClassifier: Typing :: Typed\n"
            f"Description-Content-Type: text/markdown\n\n{README.read_text()}")


def entry_points(binaries):
    scripts = {"traceinject": "main", **{path.name: path.name for path in binaries if path.name in PROGRAMS}}
    return "[console_scripts]\n" + "".join(f"{name} = traceinject.command_line:{function}\n" for name, function in sorted(scripts.items()))


class Wheel:
    """A zip file with a list of the hashes of its files."""

    def __init__(self, path):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, name, content, executable=False):
        info = zipfile.ZipInfo(name, LONG_AGO)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3  # Unix: the mode is in the upper half
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        self._zip.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self, info_folder):
        name = f"{info_folder}/RECORD"
        record, self._record = "".join(self._record) + f"{name},,\n", []
        self.add(name, record.encode())
        self._zip.close()


def write_wheel(path, version, tag, binaries, manual):
    files = {f"{NAME}/{source.relative_to(PACKAGE).as_posix()}": (source, False)
             for source in PACKAGE.rglob("*") if source.is_file() and "__pycache__" not in source.parts}
    files.update({f"{NAME}/bin/{binary.name}": (binary, True) for binary in binaries})
    if manual:
        files.update({f"{NAME}-{version}.data/data/share/man/{page.relative_to(manual).as_posix()}": (page, False)
                      for page in manual.rglob("*.[1-9]")})
    info = f"{NAME}-{version}.dist-info"
    wheel = Wheel(path)
    for name, (source, executable) in sorted(files.items()):
        wheel.add(name, source.read_bytes(), executable)
    wheel.add(f"{info}/LICENSE", LICENSE.read_bytes())
    wheel.add(f"{info}/METADATA", metadata(version).encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode())
    wheel.add(f"{info}/entry_points.txt", entry_points(binaries).encode())
    wheel.close(info)


def build(places, version, output, manual=None, platform=None):
    """Returns the path of the wheel. Refused: it would not run where its name says."""
    binaries = find_binaries(places)
    machines = {machine_of(path) for path in binaries}
    if len(machines) != 1:
        raise Refused(f"the files are for several machines: {', '.join(sorted(machines))}")
    platform = platform or f"{MANYLINUX}_{machines.pop()}"
    check_portable(binaries, platform)
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{NAME}-{version}-py3-none-{platform}.whl"
    write_wheel(path, version, platform, binaries, manual)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", help="programs and libraries, or folders that hold them; of two with one name the first")
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the folder for the wheel")
    parser.add_argument("--manual", type=pathlib.Path, help="the folder of manual pages, share/man")
    parser.add_argument("--platform", help=f"default: {MANYLINUX}_ and the machine of the files")
    options = parser.parse_args()
    try:
        print(build(options.places, options.version, options.output, options.manual, options.platform))
    except Refused as refused:
        sys.exit(f"build_wheel.py: {refused}")


if __name__ == "__main__":
    main()
