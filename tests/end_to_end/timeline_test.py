# SPDX-License-Identifier: Apache-2.0
"""Timelines of operations: what `analyze ranks` says of them, from one file or one a rank, from summaries of them, and in each format."""

import argparse
import gzip
import json
import re
import sys

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "bench"))
import timeline  # noqa: E402

ANALYZE = harness.AnalyzeTestCase.analyze
RANKS, STAGES = 8, 4
# What says where it came from.
ABOUT_FILES = ("path", "notes")


class Timeline(harness.AnalyzeTestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "timeline.json"
        self.operations = timeline.write_timeline(self.path, argparse.Namespace(stages=STAGES, micro_batches=8, steps=12), RANKS)

    def told(self, *arguments):
        def plain(value):
            if isinstance(value, dict):
                return {name: plain(each) for name, each in value.items() if name not in ABOUT_FILES}
            return [plain(each) for each in value] if isinstance(value, list) else value

        return plain(json.loads(self.run_tool(ANALYZE, *arguments, "--format", "json").stdout))

    def fails(self, *arguments):
        return self.run_tool(ANALYZE, *arguments, code=3).stderr

    def test_the_slow_rank_comes_first(self):
        found = self.told("ranks", self.path)
        first = found["findings"][0]
        self.assertEqual((first["name"], first["reason"], first["rows"]), ("straggler", "slower", [timeline.SLOW_RANK]))
        self.assertEqual([rank["stage"] for rank in found["ranks"]], [rank // (RANKS // STAGES) for rank in range(RANKS)])
        self.assertLess(found["replay_error"], 0.001)
        text = self.run_tool(ANALYZE, "ranks", self.path).stdout
        self.assertIn("straggler: rank 1 (unknown host) delays the other ranks: its operations take longer", text)
        self.assertIn("with every operation and transfer at the mean of its kind", text)
        self.assertNotIn("kernels", text)
        self.assertNotIn("GPU 0", text)

    def test_the_page_says_the_same(self):
        self.run_tool(ANALYZE, "ranks", self.path, "--format", "html", "-o", "ranks.html")
        page = (self.folder / "ranks.html").read_text()
        first = self.told("ranks", self.path)["findings"][0]
        plain = re.sub(r"<[^>]*>", "", page)
        self.assertIn("its operations take longer", plain)
        self.assertIn(first["name"], plain)

    def test_one_file_a_rank_and_lists_are_the_same(self):
        whole = self.told("ranks", self.path)
        header, *lines = self.path.read_text().splitlines()
        header = header.replace("}", f',"world_size":{RANKS}}}')
        folder = self.folder / "ranks"
        folder.mkdir()
        for rank in range(RANKS):
            own = [line for line in lines if f'"rank":{rank},' in line]
            with gzip.open(folder / f"rank{rank}.json.gz", "wt") as file:
                file.write("[" + ",\n".join([header, *own]) + "]\n")
        self.assertEqual(self.told("ranks", folder), whole)
        (folder / "rank3.json.gz").unlink()
        self.assertIn("rank 3 of 8 is missing", self.run_tool(ANALYZE, "ranks", folder).stdout)

    def test_summaries_are_small_and_say_the_same(self):
        self.run_tool(ANALYZE, "summarize", self.path, "-o", "job.summary")
        self.assertEqual(self.told("combine", "job.summary"), self.told("ranks", self.path))
        self.assertLess((self.folder / "job.summary").stat().st_size * 5, self.path.stat().st_size)

    def test_errors_name_the_line_and_the_field(self):
        lines = self.path.read_text().splitlines()
        lines[16] = re.sub(r'"end":[0-9.]+', '"end":"late"', lines[16])
        self.path.write_text("\n".join(lines))
        self.assertIn('timeline.json:17: "end" must be a number, found "late"', self.fails("ranks", self.path))

    def test_other_commands_say_who_reads_it(self):
        for arguments in (("report", self.path), ("import", self.path, "-o", "run.db")):
            with self.subTest(command=arguments[0]):
                self.assertIn("this is a timeline of a job's operations, without GPU work: use analyze ranks", self.fails(*arguments))


if __name__ == "__main__":
    harness.main()
