# SPDX-License-Identifier: Apache-2.0
"""TRACEINJECT_MEMSETS: a program that makes thousands of short memsets a second."""

import harness

# Ten seconds and more, of about 3,000 memsets a second: what is looked at are five spans of a second or more.
WORK = ["--steps", "36000", "--kernels", "1", "--memcpy", "--memset", "--step-us", "250"]
SECONDS_SEEN = 5


class Memsets(harness.TestCase):
    def test_many_short_ones_are_left_out_after_some_seconds(self):
        running = {how: self.start(*WORK, env={"TRACEINJECT_MEMSETS": how, "TRACEINJECT_OUTPUT": f"{how}.db"}) for how in ("auto", "all")}
        for how, process in running.items():
            ended = self.finish(process)
            self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
            recording, truth = self.open(f"{how}.db"), self.truth(ended)
            self.assert_nothing_lost(recording)
            self.assert_same(recording.kernels(), truth.kernels())
            left_out_ms = recording.count("memset", "left_out_ms")
            if how == "all":
                self.assertEqual(left_out_ms, 0)
                self.assert_same(recording.memsets(), truth.memsets())
                self.assert_same(recording.memcpys(), truth.memcpys())
                continue
            self.assertGreaterEqual(left_out_ms, 1000 * SECONDS_SEEN)
            memsets = recording.memsets()
            self.assertLess(len(memsets), len(truth.memsets()))
            self.assert_same(memsets, truth.memsets()[:len(memsets)])
            # For a moment they are turned off and on again with the memsets.
            self.assertGreaterEqual(len(recording.memcpys()), len(truth.memcpys()) - 20)


if __name__ == "__main__":
    harness.main()
