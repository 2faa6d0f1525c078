# SPDX-License-Identifier: Apache-2.0
"""README.md says what the programs do."""

import re
import subprocess
import unittest

import harness

README = (harness.ROOT / "README.md").read_text()
RECORDINGS = harness.ROOT / "samples" / "recordings"
# What the excerpts are of, in the order of the text.
REPORTED = [["slow_loader_h200.db.zst"], ["slow_loader_fixed_h200.db.zst"],
            ["ddp_h200/run.rank00000.db.zst", "ddp_h200/run.rank00001.db.zst", "--params", "555543552", "--tokens-per-step", "16384"]]


def excerpts():
    """The lines of each indented block that shows a report, from its verdict on."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", README, re.MULTILINE)
    shown = [block[block.index("    verdict: "):] for block in blocks if "    verdict: " in block]
    return [[line[4:] for line in block.splitlines() if line.strip() not in ("", "...")] for block in shown]


class Readme(unittest.TestCase):
    def test_options_table_is_the_table_of_the_library(self):
        printed = subprocess.run([harness.BUILD / "bin" / "list_options"], capture_output=True, text=True, check=True).stdout
        self.assertIn(printed.strip(), README)

    def test_reports_are_those_of_the_recordings(self):
        shown = excerpts()
        self.assertEqual(len(shown), len(REPORTED))
        for lines, arguments in zip(shown, REPORTED):
            command = [harness.BUILD / "bin" / "analyze", *arguments]
            printed = subprocess.run(command, cwd=RECORDINGS, capture_output=True, text=True, check=True).stdout
            printed = {line.replace("ddp_h200/", "samples/recordings/ddp_h200/") for line in printed.splitlines()}
            self.assertEqual([line for line in lines if line not in printed], [], arguments[0])

    def test_files_that_it_links_exist(self):
        for target in re.findall(r"\]\(([^)#:]+)\)", README):
            self.assertTrue((harness.ROOT / target).exists(), target)


if __name__ == "__main__":
    unittest.main(verbosity=2)
