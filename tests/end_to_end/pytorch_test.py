# SPDX-License-Identifier: Apache-2.0
"""The library's side in the program's Python, with the real PyTorch: Debian's, on the processor, or any other that is found.

Environment: TRACEINJECT_TORCH_PYTHON, a Python that has PyTorch (default: the first python3 that has).
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import harness

PROGRAM = pathlib.Path(__file__).resolve().parent / "train_pytorch.py"
BATCH, ITEM_NS = 4, 2_000_000


@functools.lru_cache(maxsize=None)
def find_python():
    """A Python that can import PyTorch; None: there is none."""
    for python in (os.environ.get("TRACEINJECT_TORCH_PYTHON"), sys.executable, shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
            return python
    return None


@unittest.skipUnless(find_python(), "no Python has PyTorch; install it (apt install python3-torch) or set TRACEINJECT_TORCH_PYTHON")
class RealPyTorch(harness.TestCase):
    def run_program(self, *flags, preload=True):
        ended = self.finish(self.start(command=[find_python(), "-B", PROGRAM, *flags], preload=preload,
                                       env={"TRACEINJECT_FLUSH_MS": "100", "PYTHONWARNINGS": "ignore"}))
        self.assertEqual(ended.code, 3, ended.stderr)
        self.assertNotIn("traceinject", ended.stderr)
        return json.loads(ended.stdout)

    def check(self, *flags, workers=0, batch_sizes):
        """Runs the program twice: it computes the same with and without the library, and what is recorded is what it measured."""
        flags = ("--workers", str(workers), *flags)
        plain = self.run_program(*flags, preload=False)
        measured = self.run_program(*flags)
        for told in ("losses", "error", "sizes"):
            self.assertEqual([one[told] for one in measured["passes"]], [one[told] for one in plain["passes"]], told)
        self.assertEqual([one["sizes"] for one in measured["passes"]], [batch_sizes] * 2)
        self.assertEqual(self.files(), ["run.db"], "workers leave nothing behind")
        recording = self.open()
        self.assert_nothing_lost(recording)
        self.check_waits(recording, measured["passes"], workers, flags)
        self.assertEqual(recording.rows("SELECT optimizer, count(*) FROM step_mark GROUP BY optimizer ORDER BY optimizer"),
                         [(number, len(batch_sizes)) for number in (1, 2, 3, 4)], "two in each pass")
        self.check_save(recording, measured["save"])
        return measured, recording

    def check_waits(self, recording, passes, workers, flags):
        waits = recording.rows("SELECT start_ns, dur_ns, batch, samples, workers, batch_size FROM data_waits ORDER BY start_ns")
        expected = [(start, end, *((index, one["sizes"][index]) if index < len(one["sizes"]) else (None, None)))
                    for one in passes for index, (start, end) in enumerate(one["waits"])]
        self.assertEqual(len(waits), len(expected))
        for wait, (start, end, batch, samples) in zip(waits, expected):
            self.assertGreaterEqual(wait[0], start)
            self.assertLessEqual(wait[0] + wait[1], end)
            # A stream does not tell how long it is: a batch of another size may be no batch of samples.
            known = samples == BATCH or "--stream" not in flags
            self.assertEqual(wait[2:], (batch, samples if known else None, workers, BATCH))
            if batch is not None and workers == 0:
                self.assertGreaterEqual(wait[1], samples * ITEM_NS)

    def check_save(self, recording, save):
        (start, dur), = recording.rows("SELECT start_ns, dur_ns FROM host_spans WHERE kind = 'checkpoint'")
        self.assertGreaterEqual(start, save[0])
        self.assertLessEqual(start + dur, save[1])

    def test_in_the_training_process(self):
        self.check(batch_sizes=[4] * 7 + [2])

    def test_workers(self):
        for workers, context in ((1, "fork"), (4, "fork"), (1, "spawn"), (4, "spawn")):
            with self.subTest(workers=workers, context=context):
                _, recording = self.check("--context", context, workers=workers, batch_sizes=[4] * 7 + [2])
                recording.close()
                (self.folder / "run.db").unlink()

    def test_workers_that_stay(self):
        self.check("--persistent", workers=2, batch_sizes=[4] * 7 + [2])

    def test_a_stream_of_items(self):
        self.check("--stream", batch_sizes=[4] * 7 + [2])

    def test_a_stream_of_items_from_workers(self):
        self.check("--stream", workers=2, batch_sizes=[4] * 6 + [3] * 2)

    def test_a_pass_that_is_left_early(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                _, recording = self.check("--stop-after", "3", workers=workers, batch_sizes=[4] * 3)
                recording.close()
                (self.folder / "run.db").unlink()

    def test_an_item_that_cannot_be_read(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                measured, recording = self.check("--fail-at", "9", workers=workers, batch_sizes=[4] * 2)
                self.assertEqual({one["error"] for one in measured["passes"]}, {"ValueError: item 9 cannot be read" if workers else
                                                                                "item 9 cannot be read"})
                recording.close()
                (self.folder / "run.db").unlink()


if __name__ == "__main__":
    harness.main()
