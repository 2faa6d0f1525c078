# SPDX-License-Identifier: Apache-2.0
"""analyze-mpi says what analyze combine says, whatever the number of processes, and ends when one of them fails.

Environment: TRACEINJECT_BUILD, the CMake build folder; MPIEXEC, mpirun.
"""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "bench"))
import ranks  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TRACEINJECT_BUILD", ROOT / "build" / "release")).resolve()
MPIEXEC = os.environ.get("MPIEXEC", "mpirun")
ANALYZE, ANALYZE_MPI = BUILD / "bin" / "analyze", BUILD / "bin" / "analyze-mpi"
RANKS = 8
TIMEOUT_S = 100


def analyze(*arguments):
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S)


def mpirun(*arguments, **options):
    return subprocess.run([MPIEXEC, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S,
                          env={**os.environ, **ranks.MPI_ENVIRONMENT}, **options)


def together(processes, *arguments):
    return mpirun("-n", str(processes), ANALYZE_MPI, *arguments)


class MpiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-mpi-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        template = cls.folder / "template"
        ranks.make_template(template, 20_000)
        cls.job = cls.folder / "job"
        cls.job.mkdir()
        ranks.make_job(template, cls.job, range(RANKS), RANKS + 1)
        # What has to be left out, wherever it is read: a damaged file, and one of another attempt.
        (cls.job / "damaged.db").write_text("no database")
        ranks.make_rank(template, cls.job / "old.db", 3, RANKS + 1)
        with sqlite3.connect(cls.job / "old.db") as old:
            old.execute("UPDATE process SET run_id = 'older'")
            old.execute("UPDATE meta SET value = 'older' WHERE key = 'run_id'")
            old.execute("UPDATE meta SET value = value - 3600000000000 WHERE key = 'base_ns'")
        cls.expected = analyze("combine", cls.job).stdout

    def test_one_process_or_several_say_the_same(self):
        self.assertIn(f"{RANKS} ranks on 1 host", self.expected)
        self.assertIn("damaged.db", self.expected)
        self.assertIn("only the newest attempt", self.expected)
        self.assertIn(f"rank {RANKS} of {RANKS + 1} is missing", self.expected)
        for processes in (1, 2, 4):
            done = together(processes, self.job)
            self.assertEqual((done.returncode, done.stdout), (0, self.expected), done.stderr)

    def test_more_processes_than_files(self):
        one = self.job / ranks.rank_name(0)
        done = together(4, one)
        self.assertEqual((done.returncode, done.stdout), (0, analyze("combine", one).stdout), done.stderr)

    def test_summaries_say_what_recordings_say(self):
        summaries = self.folder / "summaries"
        summaries.mkdir()
        done = analyze("summarize", self.job, "-o", summaries)
        self.assertEqual(done.returncode, 3, "one file cannot be read")
        self.assertIn("damaged.db", done.stderr)
        for processes in (1, 3):
            done = together(processes, summaries)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, self.expected_without_damage())

    def expected_without_damage(self):
        names = [self.job / name for name in sorted(os.listdir(self.job)) if name != "damaged.db"]
        return analyze("combine", *names).stdout

    def test_each_process_reads_its_own_disk(self):
        # Folders that stand for disks of nodes: the same relative name is another file in each.
        nodes = []
        for node in range(2):
            folder = self.folder / f"disk{node}"
            folder.mkdir()
            for rank in range(node * RANKS // 2, (node + 1) * RANKS // 2):
                shutil.copy(self.job / ranks.rank_name(rank), folder)
            nodes += ([":"] if nodes else []) + ["-n", "1", "-wdir", folder, ANALYZE_MPI, "run.db"]
        done = mpirun(*nodes)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        recorded = [self.job / ranks.rank_name(rank) for rank in range(RANKS)]
        self.assertEqual(done.stdout, analyze("combine", *recorded).stdout)

    def test_texts_of_any_length_arrive(self):
        done = mpirun("-n", "3", BUILD / "bin" / "messages_check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_nothing_there_is_said_once(self):
        done = together(3, self.folder / "nowhere.db")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("no such file"), 1, done.stderr)

    def test_bad_usage_is_said_once(self):
        done = together(3, "--figure", self.job)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("did you mean --figures?"), 1, done.stderr)
        helped = together(2, "--help")
        self.assertEqual((helped.returncode, helped.stdout.count("mpirun -n 16")), (0, 1))

    def test_output_that_cannot_be_written(self):
        done = together(2, self.job, "-o", self.folder / "nowhere" / "out.txt")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write", done.stderr)

    def test_output_in_a_file(self):
        path = self.folder / "out.txt"
        done = together(2, self.job, "-o", path)
        self.assertEqual((done.returncode, done.stdout, path.read_text()), (0, "", self.expected))

    def test_one_that_dies_ends_all(self):
        done = mpirun("-n", "1", ANALYZE_MPI, self.job, ":", "-n", "1", "sh", "-c", "kill -9 $$")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")

    def test_one_that_fails_ends_all_with_a_sentence(self):
        fails = self.library("fails.cc", """
            #include <stdexcept>
            extern "C" int MPI_Comm_split_type(void*, int, int, void*, void*) { throw std::runtime_error("cannot be divided"); }""")
        done = mpirun("-n", "1", ANALYZE_MPI, self.job, ":", "-n", "1", "env", f"LD_PRELOAD={fails}", ANALYZE_MPI, self.job)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"analyze-mpi: process 1 on \S+: cannot be divided")

    def test_one_that_can_start_no_threads_reads_without(self):
        refuses = self.library("refuses.cc", """
            #include <dlfcn.h>
            #include <errno.h>
            #include <pthread.h>
            #include <string.h>
            extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
              Dl_info caller;
              if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libstdc++")) return EAGAIN;
              using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
              return reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, argument);
            }""")
        done = mpirun("-n", "1", ANALYZE_MPI, self.job, ":", "-n", "1", "env", f"LD_PRELOAD={refuses}", ANALYZE_MPI, self.job)
        self.assertEqual((done.returncode, done.stdout), (0, self.expected), done.stderr)

    def library(self, name, text):
        """To be preloaded."""
        source = self.folder / name
        source.write_text(text)
        library = source.with_suffix(".so")
        subprocess.run(["c++", "-shared", "-fPIC", "-o", library, source], check=True)
        return library


if __name__ == "__main__":
    unittest.main(verbosity=2)
