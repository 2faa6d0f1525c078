# SPDX-License-Identifier: Apache-2.0
"""`analyze serve FOLDER`: many jobs, which come, run, end, are killed, and go."""

import json
import os
import shutil
import time
import unittest

import harness
import served

RECORDINGS = harness.ROOT / "samples" / "recordings"
FOREVER = ("--steps", "-1", "--step-us", "10000", "--nvtx")
ENV = {"TRACEINJECT_FLUSH_MS": "100"}


class Folder(harness.AnalyzeTestCase):
    def setUp(self):
        super().setUp()
        self.results = self.folder / "results"

    def copy(self, name, to, changed=None):
        """A recording, or a folder of ranks, of samples/recordings; `changed`: how many seconds ago."""
        target = self.results / to
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (RECORDINGS / name).is_dir() else shutil.copy)(RECORDINGS / name, target)
        if changed is not None:
            then = time.time() - changed
            for file in [target, *target.glob("*")]:
                os.utime(file, (then, then))

    def serve(self, *arguments):
        return served.Server(self, "results/", *arguments)

    def jobs(self, server):
        return {job["name"]: job for job in json.loads(server.text("/api/jobs"))["jobs"]}

    def wait_for_jobs(self, server, names):
        """The jobs, once these are there and all of them were read."""
        def holds(text):
            found = json.loads(text)["jobs"]
            return {job["name"] for job in found} == set(names) and all(job["state"] != "not read yet" for job in found)

        server.wait_for(holds, "/api/jobs")
        return self.jobs(server)


class Recorded(Folder):
    def test_jobs_come_and_go(self):
        server = self.serve()
        self.assertEqual(server.text(), "")
        self.assertIn("There is no recording yet", server.text("/"))

        self.copy("slow_numpy_h100.db.zst", "numpy.db.zst")
        self.wait_for_jobs(server, ["numpy"])
        self.copy("straggler_gemm_h200", "team/straggler")
        found = self.wait_for_jobs(server, ["numpy", "team/straggler"])
        self.assertEqual({name: (job["state"], job["processes"], job["verdict"], job["steps"]) for name, job in found.items()},
                         {"team/straggler": ("ended", 2, "straggler", 36), "numpy": ("ended", 1, "host_code", 321)})
        text = server.text()
        self.assertEqual(served.metric(text, "verdict", job="numpy", traceinject_verdict="host_code"), 1)
        self.assertEqual(served.metric(text, "steps_total", job="team/straggler"), 36)
        self.assertEqual(served.metric(text, "process_open", job="team/straggler", rank="1"), 0)
        self.assertIsNotNone(served.metric(text, "gpu_busy_ratio", job="team/straggler", rank="0"))
        for line in text.splitlines():
            self.assertTrue(line.startswith("# ") or 'job="' in line, line)
        self.assertEqual(len(text.splitlines()), len(set(text.splitlines())), "each family and series once")

        shutil.rmtree(self.results / "team")
        self.wait_for_jobs(server, ["numpy"])
        self.assertNotIn('job="team', server.text())
        self.assertEqual(server.ask("/job/team/straggler/").status, 404)

    def test_pages_of_jobs_are_their_reports(self):
        self.copy("slow_numpy_h100.db.zst", "a job.db.zst")
        self.copy("ddp_h200", "ddp")
        server = self.serve()
        self.wait_for_jobs(server, ["a job", "ddp"])
        index = server.text("/")
        for path, job in (("/job/a%20job/", "a job.db.zst"), ("/job/ddp/", "ddp")):
            self.assertIn(f'href="{path}"', index)
            page = server.ask(path)
            self.assertEqual((page.status, page.getheader("Content-Type")), (200, "text/html; charset=utf-8"))
            self.run_tool(served.ANALYZE, "html", self.results / job, "-o", "truth.html")
            self.assertEqual(page.body.decode().count("<section"), (self.folder / "truth.html").read_text().count("<section"))
        self.assertIn("augment", server.text("/job/a%20job/"))
        moved = server.ask("/job/a%20job")
        self.assertEqual((moved.status, moved.getheader("Location")), (301, "/job/a%20job/"))
        for path in ("/job/none/", "/job/../../etc/passwd", "/job/%2e%2e/%2e%2e/run.db/", "/job/%zz/"):
            self.assertEqual(server.ask(path).status, 404, path)

    def test_the_newest_jobs_are_served(self):
        for number in range(4):
            self.copy("slow_numpy_h100.db.zst", f"job{number}.db.zst", changed=100 - 10 * number)
        server = self.serve("--jobs", "2")
        self.wait_for_jobs(server, ["job2", "job3"])
        self.assertEqual(json.loads(server.text("/api/jobs"))["left_out"], 2)
        self.assertIn("2 older jobs are not shown", server.text("/"))
        (self.results / "job3.db.zst").unlink()
        self.wait_for_jobs(server, ["job1", "job2"])

    def test_what_cannot_be_read_is_said_and_hides_nothing(self):
        self.copy("slow_numpy_h100.db.zst", "good.db.zst")
        (self.results / "bad.db").write_text("not a database")
        server = self.serve()
        found = self.wait_for_jobs(server, ["bad", "good"])
        self.assertEqual(found["bad"]["state"], "unreadable")
        self.assertIn("not an SQLite database", found["bad"]["problem"])
        text = server.text()
        self.assertEqual([served.metric(text, "recording_readable", job=job) for job in ("bad", "good")], [0, 1])
        self.assertIn("not an SQLite database", server.read_line())

    def test_names_of_files_are_no_markup(self):
        self.copy("slow_numpy_h100.db.zst", '<b>"&.db.zst')
        server = self.serve()
        self.wait_for_jobs(server, ['<b>"&'])
        self.assertNotIn("<b>", server.text("/").replace('<b>"&', ""))
        self.assertIn('job="<b>\\"&"', server.text())
        self.assertEqual(server.ask("/job/%3Cb%3E%22%26/").status, 200)


@harness.without_sanitizer("the library does not run by itself under one")
class Live(Folder):
    def train(self, job, *flags, **env):
        self.results.mkdir(exist_ok=True)
        (self.results / job).mkdir()
        return self.start(*(flags or FOREVER), env={**ENV, "TRACEINJECT_OUTPUT": str(self.results / job / "run.db"), **env})

    def test_a_job_is_followed_from_its_beginning_to_its_end(self):
        self.copy("slow_numpy_h100.db.zst", "old.db.zst", changed=1000)
        server = self.serve("--window", "2s")
        self.wait_for_jobs(server, ["old"])
        program = self.train("new")
        server.wait_for(lambda text: served.metric(text, "gpu_busy_ratio", job="new") is not None)
        found = self.wait_for_jobs(server, ["new", "old"])
        self.assertEqual([(job["name"], job["state"]) for job in found.values()], [("new", "running"), ("old", "ended")])
        first = self.jobs(server)["new"]
        server.wait_for(lambda _: (self.jobs(server)["new"]["steps"] or 0) > (first["steps"] or 0) + 50)
        self.assertEqual(server.ask("/job/new/").status, 200)
        program.kill()
        program.wait()
        server.wait_for(lambda text: served.metric(text, "process_killed", job="new") == 1)
        self.assertEqual(self.jobs(server)["new"]["state"], "killed")

    def test_ranks_are_one_job_and_an_ended_job_stays(self):
        server = self.serve()
        ranks = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "jobs"}
        output = str(self.results / "pair" / "%h-%p.db")
        flags = ("--steps", "150", "--step-us", "10000", "--nvtx")
        programs = [self.train("pair", *flags, RANK="0", LOCAL_RANK="0", TRACEINJECT_OUTPUT=output, **ranks),
                    self.start(*flags, env={**ENV, **ranks, "RANK": "1", "LOCAL_RANK": "1", "TRACEINJECT_OUTPUT": output})]
        server.wait_for(lambda text: {served.metric(text, "process_open", job="pair", rank=rank) for rank in "01"} == {1})
        for program in programs:
            self.assertEqual(self.finish(program).code, 0)
        server.wait_for(lambda text: {served.metric(text, "process_open", job="pair", rank=rank) for rank in "01"} == {0})
        found = self.wait_for_jobs(server, ["pair"])["pair"]
        self.assertEqual((found["state"], found["processes"], found["world_size"], found["steps"]), ("ended", 2, 2, 150))

    def test_the_next_attempt_takes_the_name(self):
        server = self.serve()
        flags = ("--steps", "40", "--step-us", "10000", "--nvtx")
        self.assertEqual(self.finish(self.train("job", *flags)).code, 0)
        self.wait_for_jobs(server, ["job"])
        self.assertEqual(self.jobs(server)["job"]["steps"], 40)
        again = self.start(*flags[:1], "60", *flags[2:], env={**ENV, "TRACEINJECT_OUTPUT": str(self.results / "job" / "run.db")})
        self.assertEqual(self.finish(again).code, 0)
        server.wait_for(lambda _: (self.jobs(server)["job"]["state"], self.jobs(server)["job"]["steps"]) == ("ended", 60))


if __name__ == "__main__":
    unittest.main(verbosity=2)
