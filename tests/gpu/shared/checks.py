# SPDX-License-Identifier: Apache-2.0
"""Outcomes of the hardware checks: printed as they come, kept one JSON object a line, summed up at the end.

  checks.py summary FILE OUT.json   prints the count, writes all outcomes as one JSON document, fails if a check failed
  checks.py pass|fail|skip|note FILE PART NAME DETAIL   adds one outcome (for shell scripts)
"""

import argparse
import collections
import json
import pathlib
import sys


class Checks:
    def __init__(self, path, prefix):
        self.path, self.prefix = path, prefix

    def add(self, name, passed, detail, **figures):
        self._write("PASS" if passed else "FAIL", name, detail, figures)

    def note(self, name, detail, **figures):
        """A figure that is not judged."""
        self._write("NOTE", name, detail, figures)

    def skip(self, name, detail):
        self._write("SKIP", name, detail, {})

    def _write(self, outcome, name, detail, figures):
        print(f"{outcome}  {self.prefix} {name}: {detail}", flush=True)
        with open(self.path, "a") as file:
            file.write(json.dumps({"outcome": outcome, "part": self.prefix, "check": name, "detail": detail, **figures}) + "\n")


def summary(path, out):
    with open(path) as file:
        outcomes = [json.loads(line) for line in file]
    count = collections.Counter(outcome["outcome"] for outcome in outcomes)
    with open(out, "w") as file:
        json.dump({"passed": count["PASS"], "failed": count["FAIL"], "skipped": count["SKIP"], "checks": outcomes}, file, indent=1)
    print(f"{count['PASS']} passed, {count['FAIL']} failed, {count['SKIP']} skipped")
    return 0 if count["PASS"] and not count["FAIL"] else 1


def full_path(text):
    return pathlib.Path(text).resolve()


def command_line(description, *inputs):
    """That of a script whose command `check` takes --library, the other inputs, and --out, all of them paths: the parser, its commands, to
    which programs that the script runs of itself are added, and the parser of `check`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check")
    for name in ("library", *inputs, "out"):
        checking.add_argument(f"--{name}", type=full_path, required=True)
    return parser, commands, checking


def check_programs(description, programs, make_check):
    """The command line of a script that checks programs by name: make_check(library, OUT).program(name) for each. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check"])
    parser.add_argument("--library", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--program", action="append", choices=programs, help="may be repeated (default: all)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes = options.out / "checks.jsonl"
    outcomes.write_text("")
    check = make_check(options.library, options.out)
    for name in options.program or programs:
        check.program(name)
    return summary(outcomes, options.out / "results.json")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "summary":
        return summary(arguments[1], arguments[2])
    if len(arguments) == 5 and arguments[0] in ("pass", "fail", "skip", "note"):
        outcome, path, part, name, detail = arguments
        checks = Checks(path, part)
        {"pass": lambda: checks.add(name, True, detail), "fail": lambda: checks.add(name, False, detail),
         "skip": lambda: checks.skip(name, detail), "note": lambda: checks.note(name, detail)}[outcome]()
        return 0
    print("usage: checks.py summary FILE OUT.json | checks.py pass|fail|skip|note FILE PART NAME DETAIL", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
