# SPDX-License-Identifier: Apache-2.0
"""NCCL's own log on the stand-in for libnccl: which transports connect the ranks, and that nobody else sees anything of it."""

import ast
import itertools
import re
import signal
import sys
import unittest

import harness

WORK = ["--steps", "3", "--nccl", "new"]
VARIABLES = ("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE")
LINK = ("SELECT l.rank, l.peer, l.sends, t.text, d.text, n.text, l.net_device, l.gdrdma, l.proxy_rank, l.channels, l.setup "
        "FROM nccl_link l JOIN string t ON t.id = l.transport LEFT JOIN string d ON d.id = l.detail "
        "LEFT JOIN string n ON n.id = l.network ORDER BY l.id")
SETUP = ("SELECT c.hash, c.rank, c.size, u.rank, u.size, u.device, u.nodes, n.text, u.rings, u.trees, u.channels, u.nvls_channels, "
         "u.p2p_channels, u.p2p_channels_per_peer, u.nvls FROM nccl_setup u JOIN string n ON n.id = u.network "
         "LEFT JOIN communicator c ON c.id = u.communicator ORDER BY u.id")
# Starts a program, and leaves it the environment as it is.
PARENT = "import os, subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
ASK = ("import ctypes; getenv = ctypes.CDLL(None).getenv; getenv.restype = ctypes.c_char_p; "
       "print([getenv(name.encode()) for name in %r])" % (VARIABLES,))
PRINT = "import os; print([os.environ.get(name) for name in %r])" % (VARIABLES,)


class NcclLog(harness.TestCase):
    def record(self, *flags, **env):
        ended = self.play(*WORK, *flags, env={"TRACEINJECT_NCCL_LOG": "1", **env})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assert_nothing_left()
        recording = self.open(env.get("TRACEINJECT_OUTPUT", "run.db"))
        self.assertEqual(recording.integrity(), "ok")
        self.assertEqual(recording.count("writer", "reopened"), 0)
        return recording, self.truth(ended)

    def assert_nothing_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_transports(self):
        send, receive = (0, 1, 1), (0, 7, 0)
        for transport, links, network in (
                ("p2p", [(*send, "P2P", "CUMEM/read", None, None, None)], "Socket"),
                ("shm", [(*send, "SHM", "direct/direct", None, None, None)], "Socket"),
                ("socket", [(*receive, "NET", None, "Socket", 0, 0), (*send, "NET", None, "Socket", 0, 0)], "Socket"),
                ("ib", [(*receive, "NET", "GDRDMA", "IB", 0, 1), (*send, "NET", "GDRDMA", "IB", 0, 1)], "IB")):
            for lazy in ("0", "1"):
                with self.subTest(transport=transport, lazy=lazy):
                    name = f"{transport}{lazy}.db"
                    recording, truth = self.record(FAKE_NCCL_TRANSPORT=transport, FAKE_NCCL_LAZY=lazy, TRACEINJECT_OUTPUT=name)
                    self.assertEqual(recording.rows(LINK), [(*link, None, 2, 1) for link in links])
                    (made,) = truth.of("communicator")
                    nodes = 8 if transport in ("socket", "ib") else 1
                    self.assertEqual(recording.rows(SETUP), [(made["hash"], 0, 8, 0, 8, 0, nodes, network, 2, 2, 2, 0, 4, 4, 0)])
                    self.assertEqual(recording.count("nccl_log", "unassigned"), 0)
                    self.assertGreater(recording.count("nccl_log", "lines"), 0)
                    facts = dict(recording.rows("SELECT key, value FROM system_fact WHERE kind = 'nccl_net'"))
                    self.assertEqual(facts, {"IB.0": "mlx5_0:1/RoCE", "IB.0.gpu_direct_rdma": "enabled"} if transport == "ib"
                                     else {"Socket.0": "eth0", "Socket.0.gpu_direct_rdma": "disabled"})
                    self.assertEqual(recording.rows("SELECT via, direction, comm_size FROM nccl_links ORDER BY id")[-1],
                                     ({"p2p": "P2P/CUMEM/read", "shm": "SHM/direct/direct", "socket": "NET/Socket/0",
                                       "ib": "NET/IB/0/GDRDMA"}[transport], "send", 8))

    def test_what_the_user_did_not_set_is_no_fact(self):
        recording, _ = self.record(NCCL_IB_TIMEOUT="22")
        facts = dict(recording.rows("SELECT key, value FROM system_fact WHERE kind = 'env'"))
        self.assertEqual(facts.get("NCCL_IB_TIMEOUT"), "22")
        self.assertEqual([name for name in VARIABLES if name in facts], [])

    def test_folder_that_cannot_be_written_to(self):
        # NCCL would write to the program's output.
        ended = self.play(*WORK, env={"TRACEINJECT_NCCL_LOG": "1", "TMPDIR": str(self.folder / "none")})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual(len(self.open().rows(LINK)), 1)

    def test_view_of_setups(self):
        recording, truth = self.record()
        (made,) = truth.of("communicator")
        self.assertEqual(recording.rows("SELECT comm, comm_name, rank, size, device, nodes, network, rings, trees, channels, nvls "
                                        "FROM nccl_setups"),
                         [(f"0x{made['hash'] % 2**64:x}", "data_parallel", 0, 8, 0, 1, "Socket", 2, 2, 2, 0)])

    def test_off_by_default(self):
        for option in ({}, {"TRACEINJECT_NCCL_LOG": "0"}, {"TRACEINJECT_NCCL_LOG": "1", "TRACEINJECT": "0"}):
            ended = self.finish(self.start(command=[sys.executable, "-c", PRINT], env=option))
            self.assertEqual(ended.stdout, "[None, None, None]\n")
        ended = self.play(*WORK)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.open()
        self.assertEqual((recording.rows("SELECT * FROM nccl_setup"), recording.rows("SELECT * FROM nccl_link")), ([], []))
        self.assertEqual([source for source, _ in recording.health() if source == "nccl_log"], [])

    def test_on(self):
        """NCCL is told where to write; programs that look at their environment see nothing of it, nor do children."""
        ended = self.finish(self.start(command=[sys.executable, "-c", PRINT], env={"TRACEINJECT_NCCL_LOG": "1"}))
        self.assertEqual(ended.stdout, "[None, None, None]\n")
        ended = self.finish(self.start(command=[sys.executable, "-c", ASK], env={"TRACEINJECT_NCCL_LOG": "1"}))
        level, subsystems, file = ast.literal_eval(ended.stdout)
        self.assertEqual((level, subsystems), (b"INFO", b"INIT,NET,P2P,SHM,GRAPH"))
        self.assertRegex(file.decode(), re.escape(str(self.temporary)) + "/traceinject-nccl-[0-9a-f]{32}-%p")
        self.assert_nothing_left()

    def assert_same_output(self, *flags, **env):
        plain = self.play(*WORK, *flags, preload=False, env=env)
        output = f"run{len(self.files())}.db"
        recorded = self.play(*WORK, *flags, env={"TRACEINJECT_OUTPUT": output, **env})
        self.assertIn("NCCL", plain.stdout)
        self.assertEqual((harness.numberless(recorded.stdout), recorded.stderr, recorded.code),
                         (harness.numberless(plain.stdout), plain.stderr, plain.code))
        self.assert_nothing_left()
        return self.open(output)

    def test_script_that_sets_it_itself_sees_its_output(self):
        for level, asked in itertools.product(("VERSION", "WARN", "INFO"), "01"):
            recording = self.assert_same_output("--set-env", f"NCCL_DEBUG={level}", TRACEINJECT_NCCL_LOG=asked)
            self.assertEqual(recording.rows("SELECT * FROM nccl_setup"), [])
            self.assert_same_output(NCCL_DEBUG=level, TRACEINJECT_NCCL_LOG=asked)

    def test_user_who_set_it_before_keeps_it(self):
        for variable, value in (("NCCL_DEBUG", "INFO"), ("NCCL_DEBUG_SUBSYS", "GRAPH"), ("NCCL_DEBUG_FILE", "mine.%p")):
            with self.subTest(variable=variable):
                env = {variable: value, "TRACEINJECT_NCCL_LOG": "1"}
                if variable == "NCCL_DEBUG":
                    recording = self.assert_same_output(**env)
                else:
                    ended = self.play(*WORK, env={"TRACEINJECT_OUTPUT": f"{variable}.db", **env})
                    self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
                    recording = self.open(f"{variable}.db")
                value, detail = recording.health()["nccl_log", "failed"]
                self.assertEqual(value, 1)
                self.assertIn("NCCL_DEBUG", detail)
                self.assertEqual(recording.rows("SELECT * FROM nccl_setup"), [])

    def test_user_keeps_a_log_of_his_own(self):
        env = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": "mine.%h.%p", "TRACEINJECT_NCCL_LOG": "1"}
        ended = self.play(*WORK, env=env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        (log,) = [name for name in self.files() if name.startswith("mine.")]
        self.assertIn("Init COMPLETE", (self.folder / log).read_text())
        self.assertTrue(log.endswith(f".{ended.pid}"))

    def test_programs_started_by_programs(self):
        train = str(harness.FAKE_GPU / "cuda13" / "fake_train")
        ended = self.finish(self.start(command=[sys.executable, "-c", PARENT, sys.executable, "-c", PARENT, train, *WORK],
                                       env={"TRACEINJECT_NCCL_LOG": "1"}))
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual(len(self.open().rows(LINK)), 1)
        self.assert_nothing_left()

    def test_child_that_shall_not_be_recorded(self):
        child = "import os, subprocess, sys; os.environ[%r] = '0'; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        for variable in ("TRACEINJECT", "TRACEINJECT_NCCL_LOG"):
            ended = self.finish(self.start(command=[sys.executable, "-c", child % variable, sys.executable, "-c", PRINT],
                                           env={"TRACEINJECT_NCCL_LOG": "1"}))
            self.assertEqual(ended.stdout, "[None, None, None]\n")

    def test_child_that_its_parent_gave_another_level(self):
        child = "import os, subprocess, sys; os.environ['NCCL_DEBUG'] = 'VERSION'; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        ended = self.finish(self.start(command=[sys.executable, "-c", child, sys.executable, "-c", PRINT],
                                       env={"TRACEINJECT_NCCL_LOG": "1"}))
        self.assertEqual(ended.stdout, "['VERSION', None, None]\n")

    def test_forked_processes(self):
        for fork in ("before:idle", "before:train", "after:idle", "after:exit"):
            with self.subTest(fork=fork):
                ended = self.play(*WORK, "--fork", fork, env={"TRACEINJECT_NCCL_LOG": "1", "TRACEINJECT_OUTPUT": f"{fork}.%p.db"})
                self.assertEqual((ended.code, ended.stderr), (0, ""))
                self.assert_nothing_left()
                names = [name for name in self.files() if name.startswith(fork)]
                self.assertEqual(len(names), 2 if fork == "before:train" else 1)
                for name in names:
                    # After the fork the parent makes a second communicator.
                    self.assertEqual([row[-1] for row in self.open(name).rows(LINK)], [1, 2] if fork.startswith("after") else [1])

    def test_process_without_nccl_leaves_nothing(self):
        for flags in (["--steps", "2"], ["--no-gpu"], ["--init-only"]):
            ended = self.play(*flags, env={"TRACEINJECT_NCCL_LOG": "1"})
            self.assertEqual((ended.code, ended.stderr), (0, ""))
            self.assert_nothing_left()

    def test_endings(self):
        for end in ("return", "exit:3", "_exit:0"):
            with self.subTest(end=end):
                self.play(*WORK, "--exit", end, env={"TRACEINJECT_NCCL_LOG": "1", "TRACEINJECT_OUTPUT": f"{end}.db"})
                self.assert_nothing_left()
                self.assertEqual(len(self.open(f"{end}.db").rows(LINK)), 1)

    def test_killed_process_leaves_no_file(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            name = f"{number}.db"
            process = self.start("--steps", "-1", "--step-us", "3000", "--nccl", "new",
                                 env={"TRACEINJECT_NCCL_LOG": "1", "TRACEINJECT_FLUSH_MS": "50", "TRACEINJECT_OUTPUT": name})
            # The log is read before rows are written.
            self.wait_for_kernels(process, 1, name)
            self.assert_nothing_left()
            process.send_signal(number)
            self.assertEqual(self.finish(process).code, harness.killed_by(number))
            self.assert_nothing_left()
            self.assertEqual(len(self.open(name).rows(SETUP)), 1)

    def test_recording_that_cannot_start_leaves_no_file(self):
        ended = self.play(*WORK, env={"TRACEINJECT_NCCL_LOG": "1", "TRACEINJECT_CUPTI": "/no/such/libcupti.so"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assert_nothing_left()

    def test_ranks_in_one_folder(self):
        ranks = [self.start(*WORK, env={"TRACEINJECT_NCCL_LOG": "1", "RANK": str(rank), "WORLD_SIZE": "2",
                                        "FAKE_NCCL_TRANSPORT": "shm"}) for rank in range(2)]
        for process in ranks:
            self.assertEqual(self.finish(process).stdout, "trained\n")
        self.assert_nothing_left()
        for rank in range(2):
            ((own, peer, *_),) = self.open(f"run.rank{rank:05}.db").rows(LINK)
            self.assertEqual((own, peer), (rank, 1 - rank))

    def test_several_communicators(self):
        # Connected while they are made, each line is of one; later, both fit.
        for lazy, links, unassigned in (("0", [1, 2], 0), ("1", [None], 1)):
            with self.subTest(lazy=lazy):
                recording, truth = self.record("--nccl-more", FAKE_NCCL_LAZY=lazy, TRACEINJECT_OUTPUT=f"lazy{lazy}.db")
                self.assertEqual([row[-1] for row in recording.rows(LINK)], links)
                self.assertEqual(recording.count("nccl_log", "unassigned"), unassigned)
                self.assertEqual([row[0] for row in recording.rows(SETUP)], [made["hash"] for made in truth.of("communicator")])

    def test_communicators_on_several_gpus(self):
        recording, _ = self.record("--devices", "2")
        self.assertEqual([row[-1] for row in recording.rows(LINK)], [1, 2])
        self.assertEqual([row[5] for row in recording.rows(SETUP)], [0, 1])

    def test_communicator_that_nothing_else_tells_of(self):
        recording, _ = self.record(NCCL_NVTX_DISABLE="1", FAKE_NCCL_PROFILER="0")
        self.assertEqual([row[:5] for row in recording.rows(SETUP)], [(None, None, None, 0, 8)])

    def test_communicator_made_before_cuda_is_used(self):
        recording, _ = self.record("--nccl-early")
        self.assertEqual(len(recording.rows(LINK)), 1)
        self.assertEqual(recording.rows(SETUP)[0][3:5], (0, 8))

    def test_program_that_closes_all_descriptors(self):
        ended = self.play("--steps", "20", "--step-us", "20000", "--nccl", "new", "--close-range", "--victim",
                          str(self.folder / "victim"), env={"TRACEINJECT_NCCL_LOG": "1", "TRACEINJECT_FLUSH_MS": "50"})
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assert_nothing_left()
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        self.assertEqual(len(recording.rows(LINK)), 1)


if __name__ == "__main__":
    harness.main()
