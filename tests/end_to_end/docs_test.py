# SPDX-License-Identifier: Apache-2.0
"""README.md, CHANGELOG.md, CONTRIBUTING.md and docs/ say what the programs do.

A block of the kind `console` shows commands behind "$ " and what they print. A line "..." stands for lines that are left out. Output
that differs from machine to machine stands below a comment `<!-- not checked: the reason -->`.

    docs_test.py --update [--pictures]
        writes the output blocks and the table of options as the programs print them now, paths of files that moved, and the pictures
        of the timeline. Each part of a block keeps its place in the output by the lines that resemble it most. Look at the difference
        before it goes in.
"""

import difflib
import functools
import os
import re
import shlex
import subprocess
import sys
import unittest

import harness

PAGES = sorted([harness.ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] +
               list((harness.ROOT / "docs").glob("*.md")) +
               list((harness.ROOT / "samples").glob("*/README.md")) + list((harness.ROOT / "tests").glob("*/README.md")))
RESULTS = harness.ROOT / "tests" / "gpu" / "RESULTS.md"
RESULT_PAGES = sorted((RESULTS.parent / "results").glob("*.md"))
OPTIONS = harness.ROOT / "docs" / "options.md"
TERMS = harness.ROOT / "docs" / "reading-a-report.md"
SECURITY = harness.ROOT / "docs" / "security.md"
README_LINES = 150
FOLDER_README_LINES = 30
RESULTS_LINES = 60
FOLDERS = "analyzer|docs|injector|machine|packaging|samples|schemas|tests|viewer"
BLOCK = re.compile(r"^(?P<comment><!-- not checked: .+? -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ENVIRONMENT = {"PATH": f"{harness.BUILD / 'bin'}:{os.environ['PATH']}", "LANG": "C.UTF-8", "HOME": os.environ.get("HOME", "/")}
# Environment variables of ours that are no options of the library.
OTHER_VARIABLES = {"TRACEINJECT_UPDATE_GOLDEN", "TRACEINJECT_BUILD", "TRACEINJECT_RUNTIME", "TRACEINJECT_LIB", "TRACEINJECT_ANALYZE", "TRACEINJECT_PROGRAMS",
                   "TRACEINJECT_WHEEL_PLATFORM"}


@functools.lru_cache(maxsize=None)
def printed(command):
    """The lines that a command of a page prints, from the root of the checkout."""
    ended = subprocess.run(command, shell=True, cwd=harness.ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):  # 1: a gate that fails is an example, too
        raise AssertionError(f"{command}: exit code {ended.returncode}: {ended.stderr}")
    return ended.stdout.splitlines()


def options_table():
    return subprocess.run([harness.BUILD / "bin" / "list_options"], capture_output=True, text=True, check=True).stdout.strip()


def parts_of(text):
    """[(command, lines shown)] of a console block."""
    parts = []
    for line in text.splitlines():
        if parts and not parts[-1][1] and parts[-1][0].endswith("\\"):
            parts[-1] = (parts[-1][0][:-1] + line.strip(), [])
        elif line.startswith("$ "):
            parts.append((line[2:], []))
        elif parts:
            parts[-1][1].append(line)
    return parts


def segments_of(lines):
    """The runs of lines between lines "...", and whether the first and the last one are at an end of the output."""
    segments = [[]]
    for line in lines:
        if line.strip() == "...":
            segments.append([])
        else:
            segments[-1].append(line)
    return segments


def find(segment, output, begin):
    for at in range(begin, len(output) - len(segment) + 1):
        if output[at:at + len(segment)] == segment:
            return at
    return None


def difference(shown, output):
    """The first line shown that the output does not have there; None: it is all there."""
    segments, at = segments_of(shown), 0
    for number, segment in enumerate(segments):
        if number == 0 or not segment:
            found = 0 if output[:len(segment)] == segment else None
        elif number == len(segments) - 1:
            found = len(output) - len(segment) if output[at:][-len(segment):] == segment else None
        else:
            found = find(segment, output, at)
        if found is None:
            absent = [line for line in segment if line not in output]
            return absent[0] if absent else f"{segment[0]} (and the lines below it, in this order)"
        at = found + len(segment) if segment else at
    if len(segments) == 1 and at != len(output):
        return f"(the output goes on) {output[at]}"
    return None


def pairs(shown, output):
    """For each line shown the index of the line of the output that it became, in order; None: of none. The most resemblance in sum."""
    def resemblance(a, b):
        matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
        if a == b:
            return 1.0 + 0.01 * bool(a.strip())
        if not a.strip() or not b.strip() or matcher.quick_ratio() < 0.5:
            return 0.0
        return max(0.0, matcher.ratio() - 0.4)

    best = [[0.0] * (len(output) + 1) for _ in range(len(shown) + 1)]
    for i, a in enumerate(shown):
        for j, b in enumerate(output):
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], best[i][j] + resemblance(a, b))
    found, i, j = [None] * len(shown), len(shown), len(output)
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found[i] = j
    return found


def updated(shown, output):
    """What is to be shown of an output in place of `shown`."""
    if difference(shown, output) is None:
        return shown
    segments = segments_of(shown)
    places = pairs([line for segment in segments for line in segment], output)
    ranges, at = [], 0
    for number, segment in enumerate(segments):
        inside = [place for place in places[at:at + len(segment)] if place is not None]
        at += len(segment)
        if not segment or not inside:
            continue
        ranges.append((0 if number == 0 else min(inside), len(output) if number == len(segments) - 1 else max(inside) + 1))
    lines, end = [], 0
    for begin, stop in ranges:
        if begin > end:
            lines.append("...")
        lines += output[max(begin, end):stop]
        end = max(end, stop)
    return lines + ["..."] * (end < len(output))


def update_block(match):
    if match["kind"] != "console" or match["comment"]:
        return match[0]
    lines = []
    for command, shown in parts_of(match["text"]):
        lines.append("$ " + command)
        lines += updated(shown, printed(command)) if shown else []
    return "```console\n" + "".join(line + "\n" for line in lines) + "```"


def moved(path):
    """Where a file is now that is no longer there: that of its name which shares most folders; the path itself if that is not certain."""
    if (harness.ROOT / path).exists():
        return path
    places = sorted(named(path), key=lambda place: len(os.path.commonprefix([place.split("/"), path.split("/")])), reverse=True)
    shared = [len(os.path.commonprefix([place.split("/"), path.split("/")])) for place in places] + [0, 0]
    return places[0] if shared[0] > shared[1] else path


def named(path):
    return [str(found.relative_to(harness.ROOT)) for top in FOLDERS.split("|")
            for found in (harness.ROOT / top).rglob(path.rstrip("/").rsplit("/", 1)[-1])]


def update():
    for page in PAGES:
        text = page.read_text()
        new = re.sub(rf"(?<![\w-])(?:{FOLDERS})/[\w./-]*\w\.\w+", lambda match: moved(match[0]), BLOCK.sub(update_block, text))
        if page == OPTIONS:
            new = re.sub(r"^\| variable \|.*?\n(?!\|)", lambda _: options_table() + "\n", new, flags=re.MULTILINE | re.DOTALL)
        if new != text:
            page.write_text(new)
            print("updated", page.relative_to(harness.ROOT))


def draw_pictures():
    """As the pages say how."""
    for _, command in shown_commands():
        if command.startswith("traceview ") and "docs/pictures/" in command:
            subprocess.run(command, shell=True, cwd=harness.ROOT, env=ENVIRONMENT, check=True)
            (harness.ROOT / command.split()[-1]).chmod(0o644)


def slugs(text):
    """The anchors of the headings of a page, as they are made from the words of these."""
    found, without_code = set(), BLOCK.sub("", text)
    for heading in re.findall(r"^#+ (.*)$", without_code, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).replace(" ", "-")
        while slug in found:
            slug += "-1"
        found.add(slug)
    return found | set(re.findall(r'<a id="([^"]+)">', text))


def shown_commands():
    for page in PAGES:
        for match in BLOCK.finditer(page.read_text()):
            if match["kind"] == "console":
                for command, _ in parts_of(match["text"]):
                    yield page, command
            elif match["kind"] == "sh":
                for line in match["text"].replace("\\\n", " ").splitlines():
                    yield page, line


class Docs(unittest.TestCase):
    def test_lengths(self):
        self.assertLessEqual(len((harness.ROOT / "README.md").read_text().splitlines()), README_LINES)
        for page in PAGES:
            if page.name == "README.md" and page.parent != harness.ROOT and page.parent.parent.name == "tests":
                self.assertLessEqual(len(page.read_text().splitlines()), FOLDER_README_LINES, page)

    def test_claims_on_security_have_their_tests(self):
        """`a_test.py`: `test_one`, `test_two`; `b_test.cc`: `OneCase`."""
        claims = re.findall(r"^\| (?!claim|-)(.+?) \| (.+?) \|$", SECURITY.read_text(), re.MULTILINE)
        self.assertGreater(len(claims), 10)
        for claim, tests in claims:
            for path, names in re.findall(r"`([\w/]+\.\w+)`: ((?:`\w+`(?:, )?)+)", tests) or self.fail(f"no test: {claim}"):
                text = (harness.ROOT / path).read_text()
                for name in re.findall(r"\w+", names):
                    self.assertRegex(text, rf"\b{name}\b", f"{claim}: {path}")

    def test_table_of_options_is_that_of_the_library(self):
        self.assertIn(options_table(), OPTIONS.read_text(), "docs_test.py --update writes it")

    def test_variables_are_options(self):
        known = set(re.findall(r"`(TRACEINJECT\w*)`", options_table())) | OTHER_VARIABLES
        known |= {name for path in (harness.ROOT / "CMakeLists.txt", harness.ROOT / "CMakePresets.json")
                  for name in re.findall(r"TRACEINJECT_\w+", path.read_text())}
        for page in PAGES:
            for name in re.findall(r"\bTRACEINJECT_\w+\w", page.read_text()):
                self.assertIn(name, known, page.name)

    def test_outputs_are_those_of_the_programs(self):
        checked = 0
        for page in PAGES:
            for match in BLOCK.finditer(page.read_text()):
                if match["kind"] != "console" or match["comment"]:
                    continue
                for command, shown in parts_of(match["text"]):
                    if not shown:
                        continue
                    checked += 1
                    with self.subTest(page=page.name, command=command):
                        self.assertIsNone(difference(shown, printed(command)), "docs_test.py --update writes what is printed now")
        self.assertGreater(checked, 5)

    def test_commands_have_the_options_that_are_shown(self):
        helps = functools.lru_cache(maxsize=None)(lambda words: "\n".join(printed(f"{words} --help")))
        commands = set(re.findall(r"^  (\w+)  ", helps("analyze"), re.MULTILINE))
        for page, command in shown_commands():
            words = shlex.split(command, comments=True)
            while words and (re.match(r"\w+=", words[0]) or words[0] in ("time", "srun")):
                words = words[1:]
            if not words or words[0] not in ("analyze", "traceview"):
                continue
            if words[0] == "traceview" and not (harness.BUILD / "bin" / "traceview").exists():
                continue
            program, rest = words[0], words[1:]
            if program == "analyze":
                if rest and rest[0] in commands:
                    program += " " + rest.pop(0)
                else:
                    program += " report"
            for word in rest:
                if word in ("--", "|", ">", ";", "&&"):
                    break
                if word.startswith("--") and word not in ("--help", "--version"):
                    with self.subTest(page=page.name, command=command):
                        self.assertRegex(helps(program), rf"{re.escape(word.split('=')[0])}\b")

    def test_results_have_their_newest_figures_on_top(self):
        index = RESULTS.read_text()
        self.assertLessEqual(len(index.splitlines()), RESULTS_LINES)
        parts = {page: page.read_text().partition("\n## ") for page in RESULT_PAGES}
        dates_of = lambda text: set(re.findall(r"\b20\d\d-\d\d-\d\d\b", text))
        measured = set().union(*(dates_of(entries) for _, _, entries in parts.values()))
        for page, (head, _, _) in parts.items():
            with self.subTest(page=page.name):
                self.assertIn(f"(results/{page.name})", index)
                self.assertIn("| figure | value | date, machine | command |", head)
                self.assertLessEqual(dates_of(head), measured, "figures of a day that has no entry")

    def test_links_lead_somewhere(self):
        for page in [*PAGES, RESULTS, *RESULT_PAGES]:
            text = page.read_text()
            for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", text)):
                if re.match(r"\w+:", target):
                    continue
                path, _, anchor = target.partition("#")
                with self.subTest(page=page.name, target=target):
                    linked = (page.parent / path).resolve() if path else page
                    self.assertTrue(linked.exists())
                    if anchor:
                        self.assertIn(anchor, slugs(linked.read_text()))

    def test_paths_exist(self):
        for page in PAGES:
            for name in re.findall(rf"(?<![\w./-])((?:{FOLDERS})/[\w./{{}},*-]+)", page.read_text()):
                name = name.rstrip(".,")
                for path in braces(name):
                    if page.parent.name in ("docs", "samples", "tests") and (page.parent / path).exists():
                        continue  # a relative one
                    with self.subTest(page=page.name, path=path):
                        self.assertTrue(list(harness.ROOT.glob(path.rstrip("/"))), f"of this name there are: {named(path)}")

    def test_every_idle_cause_and_label_is_defined(self):
        text = TERMS.read_text()
        names = next(harness.ROOT.glob("analyzer/metrics/**/host_timeline.cc")).read_text()
        causes = re.findall(r'"([\w ]+)"', names[names.index('"data wait"'):].split("}", 1)[0])
        labels = re.findall(r'^ *\{"(\w+)"', next(harness.ROOT.glob("analyzer/verdict/labels.h")).read_text(), re.MULTILINE)
        self.assertGreater(len(causes), 10)
        self.assertGreater(len(labels), 15)
        for name in [*causes, *labels]:
            self.assertIn(f"`{name}`", text)


def braces(name):
    """The paths that "a/{b,c}.h" stands for."""
    match = re.search(r"\{([^}]*)\}", name)
    if not match:
        return [name]
    return [path for word in match[1].split(",") for path in braces(name[:match.start()] + word + name[match.end():])]


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        update()
        if "--pictures" in sys.argv[1:]:
            draw_pictures()
    else:
        unittest.main(verbosity=2)
