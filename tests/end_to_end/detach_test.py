# SPDX-License-Identifier: Apache-2.0
"""TRACEINJECT_DETACH beside other clients of CUPTI: they get what they would get without us, and we record our windows."""

import unittest

import profiler_test
import windows_test


class Detaching(profiler_test.Program):
    # Windows of half of the time, in steps of 20 ms: it is left after 2 s and after 4 s.
    COUNT = 250
    STEPS = ["--step-us", "20000", "--steps", str(COUNT)]
    ENV = {"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_DETACH": "1", "TRACEINJECT_FLUSH_MS": "50", "FAKE_CUPTI_FRAGILE": "1"}

    def check(self, *flags, sessions, env=()):
        how = {"sessions": sessions, "env": {**self.ENV, **dict(env)}}
        _, alone = self.profile(*self.STEPS, *flags, preload=False, **how)
        traced, together = self.profile(*self.STEPS, *flags, preload=True, **how)
        self.assertGreater(sum(alone.sessions[0].values()), 100)
        self.assertEqual(together.sessions, alone.sessions, "rows that the other client gains or loses")
        recording = self.open()
        # A buffer of the other client's in which work is not done does not come back at the edge of a window.
        windows_test.assert_windows_are_whole(self, recording, self.truth(traced), edge_ns=120_000_000)
        self.assertEqual(recording.count("cupti", "errors"), 0)
        calls = [line["call"] for line in self.truth(traced).of("cupti")]
        self.assertEqual(calls.count("cuptiFinalize") - len(together.sessions) * ("--profile-finalize" in flags), recording.count("cupti", "detached"))
        return recording

    def test_session_while_cupti_is_left(self):
        """Begun and ended while it is left, and across the beginning of a window."""
        recording = self.check(sessions="105-125,135-160", env={"FAKE_PROFILER_SUBSCRIBES": "0"})
        self.assertEqual((recording.count("cupti", "detached"), recording.count("cupti", "kept")), (1, 1), "kept as runtime calls were recorded")
        self.assertEqual(recording.count("other_client", "sessions"), 2)

    def test_cupti_is_kept_from_the_first_session_on(self):
        recording = self.check(sessions="90-120", env={"FAKE_PROFILER_SUBSCRIBES": "0"})
        self.assertEqual((recording.count("cupti", "kept"), recording.count("cupti", "detached")), (2, 0))

    def test_cupti_is_kept_for_a_client_that_stays_subscribed(self):
        recording = self.check(sessions="105-125")
        self.assertEqual((recording.count("cupti", "kept"), recording.count("cupti", "detached")), (1, 1))

    def test_client_that_no_wrapper_sees_while_cupti_is_left(self):
        recording = self.check("--profile-unseen", "--profile-finalize", sessions="105-125,135-170")
        self.assertEqual(recording.count("other_client", "stood_aside"), 1, "at the beginning of the window")
        self.assertEqual(len(recording.rows("SELECT 1 FROM capture_gap WHERE reason = 'other_client'")), 1)

    def test_cupti_that_cannot_be_finalized(self):
        ended = self.play(*self.STEPS, env={**self.ENV, "FAKE_CUPTI_FAIL": "cuptiFinalize"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.open()
        windows_test.assert_windows_are_whole(self, recording, self.truth(ended))
        self.assertEqual((recording.count("cupti", "kept"), recording.count("cupti", "detached")), (2, 0))
        self.assertEqual(recording.count("cupti", "errors"), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
