# SPDX-License-Identifier: Apache-2.0
"""Triton's Proton in the recorded process, with a copy of CUPTI of its own, which cannot subscribe once another copy was used in the process."""

import json
import os
import shutil
import unittest

import harness
import profiler_test
import python_test
import windows_test


class Proton(python_test.Program):
    def setUp(self):
        super().setUp()
        self.own = self.temporary / "own"
        self.own.mkdir()
        shutil.copy(harness.FAKE_GPU / "cuda13" / "libcupti.so.13", self.own / "libcupti.so")

    def profile(self, sessions, *flags, preload=True, env=()):
        """The phases that the program tells, what was recorded of them, the gaps, and what Proton got."""
        path = self.folder / f"truth.profile.{'traced' if preload else 'plain'}"
        ended = self.run_program("--scene", "proton", "--sessions", sessions, *flags, preload=preload,
                                 env={"TRITON_CUPTI_LIB_PATH": str(self.own), "FAKE_GPU_PROFILE": str(path), **dict(env)})
        self.assertEqual(ended.code, 0)
        return ended, profiler_test.Profile(path) if path.exists() else None

    def remove_files(self):
        (self.folder / "run.db").unlink()
        for path in self.folder.glob("truth.profile.*"):
            path.unlink()

    def check(self, sessions, *, recorded, reasons=("proton",), env=()):
        """`recorded`: of each phase, whether kernels are recorded; all that are launched outside of gaps are."""
        _, alone = self.profile(sessions, "--never-hooked", preload=False, env=env)
        ended, together = self.profile(sessions, env=env)
        self.assertEqual(ended.stderr, "", "Proton could not subscribe")
        self.assertEqual(together and together.sessions, alone and alone.sessions, "kernels that Proton gains or loses")
        recording = self.open()
        phases = json.loads(ended.stdout)["phases"]
        starts = [kernel.start for kernel in recording.kernels()]
        count = [sum(begin <= start <= end for start in starts) for _, begin, end in phases]
        for (phase, _, _), kernels, wanted in zip(phases, count, recorded):
            if wanted is not None:
                self.assertEqual(kernels > 0, bool(wanted), phase)
        windows_test.assert_windows_are_whole(self, recording, self.truth(ended))
        gaps = [(recording.base + start, dur and recording.base + start + dur, reason) for start, dur, reason in
                recording.rows("SELECT start, dur, reason FROM capture_gap ORDER BY start")]
        self.assertEqual(tuple(reason for _, _, reason in gaps), reasons)
        self.assertEqual(recording.count("cupti", "errors"), 0)
        self.assertEqual(recording.integrity(), "ok")
        return recording, phases, gaps

    def test_own_copy(self):
        recording, phases, [(since, until, _)] = self.check("one", recorded=(1, 0, 1))
        self.assertLess(phases[0][2], since)
        self.assertLess(since, phases[1][1])
        self.assertLess(phases[1][2], until)
        self.assertLess(until, phases[2][2])

    def test_one_session_after_another(self):
        self.check("one,one", recorded=(1, 0, 1, 0, 1), reasons=("proton", "proton"))

    def test_two_sessions_at_once(self):
        self.check("two", recorded=(1, 0, 1))

    def test_session_that_is_not_finished(self):
        _, _, [(_, until, _)] = self.check("unfinished", recorded=(1, 0))
        self.assertIsNone(until, "to the end")

    def test_copy_that_both_use(self):
        (self.own / "libcupti.so").unlink()
        (self.own / "libcupti.so").symlink_to(harness.FAKE_GPU / "cuda13" / "libcupti.so.13")
        self.check("one", recorded=(1, 0, 1))

    def test_sessions_without_cupti_and_those_that_fail(self):
        recording, phases, _ = self.check("instrumentation,broken", recorded=(1, 1, 1, 0, 1), reasons=())
        self.assertEqual(phases[3][0], "Failed to execute cuptiSubscribe with error 15")

    def test_window_that_opens_meanwhile(self):
        for detach in "01":
            self.check("one", recorded=(0, 0, 1), reasons=("window", "proton"),
                       env={"TRACEINJECT_WINDOW": "steps:50-200", "TRACEINJECT_DETACH": detach})
            self.remove_files()

    def test_window_that_ends_meanwhile(self):
        for detach in "01":
            recording, _, gaps = self.check("one", recorded=(None, 0, 0), reasons=("window", "proton", "window"),
                                            env={"TRACEINJECT_WINDOW": "steps:20-50", "TRACEINJECT_DETACH": detach})
            self.assertIsNone(gaps[2][1], "to the end")
            self.assertGreater(len(recording.kernels()), 10)
            self.remove_files()

    def test_without_the_python_side_it_fails(self):
        """A recording without the Python side: Proton fails, the recording goes on."""
        ended, _ = self.profile("one", "--never-hooked", env={"TRACEINJECT_PYTHON": "0"})
        self.assertIn("cuptiSubscribe: 39", ended.stderr)
        self.assertEqual(len(self.open().kernels()), 90)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    harness.main()
