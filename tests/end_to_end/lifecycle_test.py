# SPDX-License-Identifier: Apache-2.0
"""However a program starts, forks and ends, it behaves as without the library, and leaves the files it should leave."""

import os
import shutil
import signal
import stat
import subprocess
import unittest

import harness

WORK = ["--steps", "5", "--memcpy", "--nvtx"]


class Lifecycle(harness.TestCase):
    def assert_complete(self, ended, name="run.db"):
        recording = self.open(name)
        self.assert_gpu_work(recording, self.truth(ended))
        self.assertEqual(recording.meta.get("closed"), 1)
        self.assertEqual(recording.integrity(), "ok")
        return recording

    def test_program_with_address_sanitizer(self):
        """Its runtime wants to be the first library, unless it is told not to look."""
        program = harness.FAKE_GPU / "cuda13" / "asan_train"
        if not program.exists():
            self.skipTest("the compiler has no AddressSanitizer, or all is built with a sanitizer")
        for how in ("exit:3", "_exit:3"):
            with self.subTest(how=how):
                ended = self.play_both(command=[program, *harness.EVERYTHING, "--steps", "5", "--exit", how],
                                       env={"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
                recording = self.open()
                self.assert_gpu_work(recording, self.truth(ended))
                self.assert_nothing_lost(recording)
                recording.close()
                recording.path.unlink()

    def test_clean_ends_leave_one_complete_file(self):
        for how, code in (("return", 0), ("exit:3", 3), ("_exit:4", 4), ("quick_exit:5", 5)):
            with self.subTest(how=how):
                ended = self.play_both(*WORK, "--report", "--exit", how)
                self.assertEqual(ended.code, code)
                self.assertEqual(self.files(), ["run.db"])
                self.assert_complete(ended)
                (self.folder / "run.db").unlink()

    def test_deaths_keep_code_signal_and_output(self):
        for how, number in (("throw", signal.SIGABRT), ("sigterm", signal.SIGTERM)):
            with self.subTest(how=how):
                # Long enough for a flush before the end.
                ended = self.play_both(*WORK, "--step-us", "60000", "--exit", how, env={"TRACEINJECT_FLUSH_MS": "50"})
                self.assertEqual(ended.code, harness.killed_by(number))
                recording = self.open()
                self.assertEqual(recording.integrity(), "ok")
                self.assertNotEqual(recording.kernels(), [])
                self.assertNotIn("closed", recording.meta)
                recording.close()
                for path in self.folder.glob("run.db*"):
                    path.unlink()

    def test_signals_are_left_alone(self):
        ended = self.play_both("--report", "--steps", "3")
        self.assertNotIn("signal", ended.stdout)
        # A handler that the program had from its parent stays as it was, too.
        process = self.start(command=["sh", "-c", f"trap '' USR1 PIPE; exec {harness.FAKE_GPU}/cuda13/fake_train --report"])
        ended = self.finish(process)
        self.assertEqual(ended.stdout, f"trained\nsignal {int(signal.SIGUSR1)} is handled or ignored\n"
                                       f"signal {int(signal.SIGPIPE)} is handled or ignored\n")

    def test_killed_process_keeps_what_was_flushed(self):
        process = self.start(*WORK, "--exit", "wait", env={"TRACEINJECT_FLUSH_MS": "50"})
        self.assertEqual(process.stdout.readline(), "trained\n")
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.wait_for_kernels(process, 50)
        process.kill()
        ended = self.finish(process)
        self.assertEqual(ended.code, harness.killed_by(signal.SIGKILL))
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        self.assert_gpu_work(recording, self.truth(ended))
        self.assertNotIn("closed", recording.meta)
        self.assertEqual(recording.rows("SELECT end FROM process"), [(None,)])

    def test_forked_children_do_no_harm(self):
        for mode in ("after:idle", "after:exit", "after:cuda", "before:idle"):
            with self.subTest(fork=mode):
                ended = self.play_both(*WORK, "--fork", mode)
                self.assertEqual(ended.stdout.split("\n")[0], "child ended with status 0")
                self.assertEqual(self.files(), ["run.db"])
                recording = self.assert_complete(ended)
                self.assertEqual(recording.rows("SELECT pid FROM process"), [(ended.pid,)])
                (self.folder / "run.db").unlink()

    def test_child_forked_before_cuda_records_itself(self):
        ended = self.play_both(*WORK, "--fork", "before:train", env={"TRACEINJECT_OUTPUT": "run.%p.db"})
        (child,) = [int(p.name.split(".")[1]) for p in self.folder.glob("run.*.db") if p.name != f"run.{ended.pid}.db"]
        self.assertEqual(len(self.files()), 2)
        self.assert_complete(ended, f"run.{ended.pid}.db")
        truth = harness.Truth.read(self.folder / f"truth.{child}")
        recording = self.open(f"run.{child}.db")
        self.assert_gpu_work(recording, truth)
        self.assertEqual(recording.meta.get("closed"), 1)

    @harness.without_thread_sanitizer("it runs no shell")
    def test_child_program_does_no_harm(self):
        # The child lists its descriptors, which shows whether it inherited one of ours: the file is open by then.
        ended = self.play_both(*WORK, "--step-us", "100000", "--exec-child", env={"TRACEINJECT_FLUSH_MS": "50"})
        self.assertIn("\n0\n1\n2\n", "\n" + ended.stdout)
        self.assertEqual(self.files(), ["run.db"])
        self.assert_complete(ended)

    def test_parent_that_only_initialises_leaves_nothing(self):
        ended = self.play_both("--init-only")
        self.assertEqual(ended.stdout, "devices 2\n")
        self.assertEqual(self.files(), [])

    def test_process_without_cuda_leaves_nothing(self):
        ended = self.play_both("--no-gpu", "--report")
        self.assertEqual((ended.code, ended.stdout), (0, "trained\nthreads 1\n"))
        self.assertEqual(self.files(), [])
        for command in (["bash", "-c", "true"], ["bash", "-c", "(exit 3); bash -c 'exit 5'"],
                        ["python3", "-c", "import os, sys; print(len(os.listdir('/proc/self/task'))); sys.exit(2)"]):
            with self.subTest(command=command):
                plain = self.finish(self.start(command=command, preload=False))
                loaded = self.finish(self.start(command=command))
                self.assertEqual((loaded.code, loaded.stdout, loaded.stderr), (plain.code, plain.stdout, plain.stderr))
                self.assertEqual(self.files(), [])

    def test_program_that_closes_all_descriptors(self):
        flags = ["--steps", "60", "--step-us", "10000", "--close-range", "--victim", str(self.folder / "truth.victim")]
        env = {"TRACEINJECT_FLUSH_MS": "50"}
        ended = self.play(*flags, env=env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.assert_complete(ended)
        self.assertEqual(recording.count("writer", "reopened"), 1)
        # The files that took over our descriptor numbers hold what the program wrote, and nothing else.
        expected = "".join(f"step {step}\n" for step in range(30, 60))
        victims = sorted(self.folder.glob("truth.victim.*"))
        self.assertEqual(len(victims), 16)
        for victim in victims:
            self.assertEqual(victim.read_text(), expected)

    def test_descriptors_closed_at_the_end(self):
        # The flush at exit is the first one after the descriptors are gone.
        ended = self.play("--steps", "2", "--close-range", env={"TRACEINJECT_FLUSH_MS": "100000"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assert_complete(ended)

    def test_two_processes_with_one_name(self):
        # Both record for three quarters of a second, and open their files at the first flush.
        processes = [self.start(*WORK, "--step-us", "150000", env={"TRACEINJECT_FLUSH_MS": "50"}) for _ in range(2)]
        ends = [self.finish(process) for process in processes]
        self.assertEqual([ended.code for ended in ends], [0, 0])
        files = self.files()
        self.assertEqual(len(files), 2, files)
        self.assertIn("run.db", files)
        by_pid = {}
        for name in files:
            recording = self.open(name)
            by_pid[recording.rows("SELECT pid FROM process")[0][0]] = recording
        for ended in ends:
            self.assert_gpu_work(by_pid[ended.pid], self.truth(ended))
        other = next(name for name in files if name != "run.db")
        self.assertIn(other, [f"run.p{ended.pid}.db" for ended in ends])

    def test_name_left_over_from_a_killed_run_is_moved_aside(self):
        process = self.start(*WORK, "--exit", "wait", env={"TRACEINJECT_FLUSH_MS": "50"})
        self.wait_for_kernels(process, 50)
        process.kill()
        killed = self.finish(process)
        self.assertIn("run.db-wal", self.files())
        ended = self.play(*WORK)
        self.assertEqual([name for name in self.files() if not name.endswith(("-wal", "-shm"))], ["run.db", "run.db.1"])
        self.assert_complete(ended)
        old = self.open("run.db.1")
        self.assert_gpu_work(old, self.truth(killed))
        self.assertEqual(old.rows("SELECT pid FROM process"), [(killed.pid,)])

    def test_finished_file_is_moved_aside_too(self):
        first, second = self.play(*WORK), self.play(*WORK)
        self.assertEqual(self.files(), ["run.db", "run.db.1"])
        self.assert_complete(first, "run.db.1")
        self.assert_complete(second, "run.db")

    def test_ranks_of_a_job_have_files_of_their_own(self):
        processes = [self.start(*WORK, "--nccl", "new", env={
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "job-7", "TORCHELASTIC_RESTART_COUNT": "1"}) for rank in range(2)]
        ends = [self.finish(process) for process in processes]
        self.assertEqual(self.files(), ["run.rank00000.db", "run.rank00001.db"])
        run_ids = set()
        for rank, ended in enumerate(ends):
            recording = self.assert_complete(ended, f"run.rank0000{rank}.db")
            run_ids.add(recording.meta["run_id"])
            self.assertEqual(recording.rows("SELECT pid, rank, local_rank, world_size, local_world_size, restart, launcher FROM process"),
                             [(ended.pid, rank, rank, 2, 2, 1, "torchrun")])
            self.assert_same(recording.communicators(), [harness.Communicator(line["hash"], 2, rank, 0)
                                                         for line in self.truth(ended).of("communicator")])
        self.assertEqual(len(run_ids), 1, "one attempt of one job has one id")

    def test_switched_off(self):
        ended = self.play_both(*WORK, env={"TRACEINJECT": "0"})
        self.assertEqual((ended.code, self.files()), (0, []))


class CannotStart(harness.TestCase):
    """Recording cannot start: training goes on, and where a file can be written, it tells why."""

    def assert_reason(self, words, *flags, name="run.db", **how):
        plain = self.play(*WORK, "--exit", "exit:3", *flags, preload=False, **how)
        ended = self.play(*WORK, "--exit", "exit:3", *flags, **how)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, plain.stdout, plain.stderr))
        recording = self.open(name)
        value, reason = recording.health()["start", "failed"]
        self.assertEqual(value, 1)
        self.assertRegex(reason, words)
        self.assertEqual(recording.kernels(), [])
        self.assertEqual(recording.integrity(), "ok")
        return recording

    def test_no_cupti(self):
        # A copy of the program's folder that lacks libcupti.
        lean = self.folder / "truth.lean" / "cuda13"
        lean.mkdir(parents=True)
        for path in (harness.FAKE_GPU / "cuda13").iterdir():
            if path.is_file() and not path.name.startswith("libcupti"):
                shutil.copy(path, lean)
        shutil.copy(harness.FAKE_GPU / "libfake_gpu_core.so", lean.parent)
        play = [str(lean / "fake_train"), *WORK, "--exit", "exit:3"]
        ended = self.finish(self.start(command=[*self.hiding_other_cupti(), *play],
                                       env={"LD_LIBRARY_PATH": f"{lean}:{lean.parent}"}))
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
        value, reason = self.open().health()["start", "failed"]
        self.assertEqual(value, 1)
        self.assertIn("libcupti", reason)

    def hiding_other_cupti(self):
        """A prefix for a command that hides the folders in which this machine has a libcupti of its own."""
        found = subprocess.run(["sh", "-c", "ldconfig -p | sed -n 's/.*=> //p' | grep libcupti; ls /usr/local/cuda*/lib*/libcupti* "
                                "/usr/local/cuda*/extras/CUPTI/lib64/libcupti* /usr/local/cuda*/targets/*/lib/libcupti*"],
                               capture_output=True, text=True, check=False).stdout.split()
        folders = sorted({os.path.dirname(os.path.realpath(path)) for path in found})
        if not folders:
            return []
        prefix = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                  "".join(f"mount -t tmpfs none '{folder}' && " for folder in folders) + 'exec "$@"', "hidden"]
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest(f"cannot hide the libcupti in {folders} from the library")
        return prefix

    def test_cupti_refuses(self):
        # 39: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, another tool records; 15: NOT_INITIALIZED, the driver is too old.
        self.assert_reason("MULTIPLE_SUBSCRIBERS", env={"FAKE_CUPTI_ENABLE_ERROR": "39"})
        (self.folder / "run.db").unlink()
        self.assert_reason("NOT_INITIALIZED", env={"FAKE_CUPTI_ENABLE_ERROR": "15"})

    def test_cupti_of_cuda_11(self):
        # Of 11.7 by its version, of 11.8 by its name: that has the version of 12.0.
        for env, version in (({"FAKE_CUPTI_VERSION": "17"}, 17),
                             ({"TRACEINJECT_CUPTI": str(harness.FAKE_GPU / "cuda11" / "libcupti.so.11.8")}, 18)):
            with self.subTest(version=version):
                recording = self.assert_reason(rf"CUPTI older than CUDA 12\.0 \(version {version}\).*CUDA 12\.0 or newer.*TRACEINJECT_CUPTI", cuda="cuda12", env=env)
                recording.close()
                (self.folder / "run.db").unlink()

    def test_subscriber_slot_is_not_needed(self):
        ended = self.play(*WORK, env={"FAKE_CUPTI_SUBSCRIBER_TAKEN": "1"})
        recording = self.open()
        self.assert_gpu_work(recording, self.truth(ended))
        self.assertNotIn(("start", "failed"), recording.health())

    def test_one_kind_refused(self):
        ended = self.play(*WORK, "--memset", env={"FAKE_CUPTI_REFUSED_KIND": "2"})
        recording, truth = self.open(), self.truth(ended)
        self.assert_same(recording.kernels(), truth.kernels())
        self.assertEqual(recording.memsets(), [])
        value, reason = recording.health()["start", "disabled_source"]
        self.assertGreaterEqual(value, 1)
        self.assertIn("memset", reason.lower())

    def test_injection_slot_is_taken_by_another_tool(self):
        other = self.folder / "truth.libother_tool.so"
        other.touch()
        self.assert_reason("CUDA_INJECTION64_PATH", "--events", env={"CUDA_INJECTION64_PATH": str(other)})

    def test_injection_slot_that_is_free(self):
        """It is said to be, or names us at another place, or what is gone."""
        for free in ("none", "/old/place/libtraceinject.so", "/nowhere/libother_tool.so"):
            ended = self.play(*WORK, env={"CUDA_INJECTION64_PATH": free})
            self.assert_gpu_work(self.open(), self.truth(ended))

    def test_unwritable_folder(self):
        locked = self.folder / "truth.locked"
        locked.mkdir()
        locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
        if os.access(locked, os.W_OK):
            # Root may write anywhere: a path through a file cannot be written by anyone.
            locked.chmod(0o700)
            locked = self.folder / "truth.file"
            locked.write_text("")
        ended = self.play(*WORK, "--exit", "exit:3", env={"TRACEINJECT_OUTPUT": str(locked / "run.db")})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
        self.assertIn(str(locked), self.open("truth.tmp/run.db").health()["start", "failed"][1])

    def test_reason_is_left_in_the_temporary_folder(self):
        (self.folder / "truth.taken").mkdir()
        for name in ("truth.taken", "./truth.taken"):
            with self.subTest(name=name):
                ended = self.play(*WORK, "--exit", "exit:3", env={"TRACEINJECT_OUTPUT": name})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
                self.assertEqual([path.name for path in self.temporary.iterdir()], ["truth.taken"])
                recording = self.open("truth.tmp/truth.taken")
                self.assertIn("not a regular file", recording.health()["start", "failed"][1])
                # What was recorded until then is lost, and counted.
                self.assertGreater(recording.count("kernel", "seen"), 0)
                for source in ("kernel", "memcpy"):
                    self.assertEqual(recording.count(source, "dropped"), recording.count(source, "seen"), source)
                recording.close()
                (self.temporary / "truth.taken").unlink()

    def test_missing_folder_is_made(self):
        ended = self.play(*WORK, env={"TRACEINJECT_OUTPUT": "new/folder/run.db"})
        self.assert_gpu_work(self.open("new/folder/run.db"), self.truth(ended))


if __name__ == "__main__":
    harness.main()
