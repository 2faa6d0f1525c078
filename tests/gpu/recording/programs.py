#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks recordings of programs that are no PyTorch (see programs.sh).

  programs.py check --library FILE --analyze FILE --out OUT    runs the programs, plain and recorded, and compares
  programs.py jax|cupy RESULT                                  one of the programs in Python: writes what it did as JSON

The plain CUDA program is plain_cuda.cu. What one did is compared with the database itself (Python's sqlite3), and `analyze` must
accept each recording.
"""

import glob
import json
import os
import pathlib
import shutil
import site
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 120
JAX_STEPS, CUPY_STEPS = 300, 200
GEMM_GOAL = 0.99
# memcpy.kind in schemas/run_db.sql
COPIES = {"host_to_device": 1, "device_to_host": 2, "device_to_device": 8}
EXIT_CODES = {"return": 0, "exit": 3}
ALL_KINDS = "kernel,memcpy,memcpy2,memset,api,memory,stream"
# A program without Python, or without PyTorch, has nothing of these.
PYTHON_TABLES = ("data_loader", "data_wait", "step_mark")


def jax_loop():
    """Trains a small network under jit, a batch from the host each step."""
    import jax
    import jax.numpy as jnp
    import numpy
    widths = (512, 1024, 1024, 10)
    keys = jax.random.split(jax.random.PRNGKey(0), len(widths))
    weights = [jax.random.normal(key, shape) * shape[0] ** -0.5 for key, shape in zip(keys, zip(widths, widths[1:]))]

    def loss_of(weights, x, y):
        for weight in weights[:-1]:
            x = jax.nn.relu(x @ weight)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ weights[-1]) * y, axis=1))

    @jax.jit
    def step(weights, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        return [weight - 0.01 * gradient for weight, gradient in zip(weights, gradients)], loss

    random = numpy.random.default_rng(1)
    x, y = random.standard_normal((512, widths[0]), dtype="float32"), numpy.eye(10, dtype="float32")[random.integers(0, 10, 512)]
    losses = []
    for _ in range(JAX_STEPS):
        weights, loss = step(weights, jnp.asarray(x), jnp.asarray(y))
        losses.append(float(loss))
    return {"version": jax.__version__, "device": str(jax.devices()[0]), "steps": JAX_STEPS, "learns": losses[-1] < losses[0],
            "batch_bytes": x.nbytes + y.nbytes}


def cupy_loop():
    import cupy
    import numpy
    host = numpy.ones((512, 512), dtype="float32")
    for _ in range(CUPY_STEPS):
        x = cupy.asarray(host)
        total = float((cupy.tanh(x @ x) + 1).sum())
    return {"version": cupy.__version__, "device": "", "steps": CUPY_STEPS, "learns": total > 0, "batch_bytes": host.nbytes}


def find_nvcc():
    candidates = [os.environ.get("NVCC"), shutil.which("nvcc"), *sorted(glob.glob("/usr/local/cuda*/bin/nvcc"), reverse=True)]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def find_cupti(nvcc):
    """libcupti of the compiler's toolkit, else of a Python package: a program with the static runtime has neither beside it."""
    toolkit = pathlib.Path(nvcc).resolve().parents[1]
    folders = [toolkit / "lib64", toolkit / "extras" / "CUPTI" / "lib64"]
    for packages in [*site.getsitepackages(), site.getusersitepackages()]:
        folders += [pathlib.Path(packages, "nvidia", "cu13", "lib"), pathlib.Path(packages, "nvidia", "cuda_cupti", "lib")]
    return next((str(path) for folder in folders for path in sorted(folder.glob("libcupti.so.1[23]"))), None)


class Recording:
    """Counts of what a database holds."""

    def __init__(self, path):
        from run_db import RunDb
        self.run = RunDb(path)
        self.db = self.run.db

    def rows(self, query, *values):
        return self.db.execute(query, values).fetchall()

    def kernels(self):
        """{(name without arguments, launched by a graph): kernels}"""
        from run_db import demangle
        found = {}
        for name, in_graph, count in self.rows("SELECT n.text, k.graph_node IS NOT NULL, count(*) FROM kernel k JOIN kernel_shape h "
                                               "ON h.id = k.shape JOIN string n ON n.id = h.name GROUP BY 1, 2"):
            plain = demangle(name).partition("(")[0]
            found[plain, bool(in_graph)] = found.get((plain, bool(in_graph)), 0) + count
        return found

    def copies(self, kind):
        """(copies, bytes), those of graphs apart"""
        return self.rows("SELECT count(*), coalesce(sum(bytes), 0) FROM memcpy WHERE kind = ? AND graph_node IS NULL", kind)[0]

    def sets(self):
        return self.rows("SELECT count(*), coalesce(sum(bytes), 0) FROM memset WHERE graph_node IS NULL")[0]

    def calls(self, name):
        return self.rows("SELECT count(*) FROM api a JOIN api_name n ON n.id = a.name WHERE n.name = ? AND a.result = 0", name)[0][0]

    def graph_nodes(self):
        """{(kind of operation, graph node): how often it ran}"""
        return {(kind, node): count for kind, node, count in self.rows(
            "SELECT 'kernel', graph_node, count(*) FROM kernel WHERE graph_node IS NOT NULL GROUP BY 2 UNION ALL "
            "SELECT 'copy', graph_node, count(*) FROM memcpy WHERE graph_node IS NOT NULL GROUP BY 2 UNION ALL "
            "SELECT 'set', graph_node, count(*) FROM memset WHERE graph_node IS NOT NULL GROUP BY 2")}

    def operations_by_graph_launch(self):
        """[(launching calls with so many operations, operations)]"""
        return self.rows("""
          WITH work AS (SELECT correlation FROM kernel WHERE graph_node IS NOT NULL UNION ALL
                        SELECT correlation FROM memcpy WHERE graph_node IS NOT NULL UNION ALL
                        SELECT correlation FROM memset WHERE graph_node IS NOT NULL),
               launch AS (SELECT a.correlation FROM api a JOIN api_name n ON n.id = a.name WHERE n.class = 7),
               held AS (SELECT l.correlation, count(w.correlation) AS operations FROM launch l LEFT JOIN work w USING (correlation)
                        GROUP BY 1)
          SELECT count(*), operations FROM held GROUP BY 2 ORDER BY 2""")

    def memory_operations(self, kind, pool):
        """(operations, bytes) on device memory; kind: 1 allocation, 2 release"""
        return self.rows("SELECT count(*), coalesce(sum(bytes), 0) FROM memory_operation WHERE memory_kind = 3 AND kind = ? AND pool = ?",
                         kind, int(pool))[0]

    def unlinked_memory_operations(self):
        return self.rows("SELECT count(*) FROM memory_operation WHERE correlation NOT IN "
                         "(SELECT a.correlation FROM api a JOIN api_name n ON n.id = a.name WHERE n.class = 6)")[0][0]

    def unreleased(self):
        """Releases whose allocation is not there."""
        return self.rows("SELECT count(*) FROM memory_operation r WHERE r.kind = 2 AND NOT EXISTS "
                         "(SELECT 1 FROM memory_operation a WHERE a.kind = 1 AND a.address = r.address AND a.time <= r.time)")[0][0]

    def priorities_of(self, kernel):
        """Of the streams that ran this kernel, in ascending order; None: unknown."""
        found = self.rows("SELECT s.priority FROM stream s WHERE s.id IN (SELECT k.stream FROM kernel k JOIN kernel_shape h "
                          "ON h.id = k.shape JOIN string n ON n.id = h.name WHERE n.text LIKE ?)", f"%{kernel}%")
        return sorted((priority for (priority,) in found), key=lambda priority: (priority is None, priority))

    def kernels_of_thread(self, tid):
        return self.rows("SELECT count(DISTINCT k.rowid) FROM kernel k JOIN api a USING (correlation) JOIN thread t ON t.id = a.thread "
                         "WHERE t.tid = ?", tid)[0][0]

    def streams_of(self, kernel):
        """Kernels of this name on each stream."""
        return [count for (count,) in self.rows(
            "SELECT count(*) FROM kernel k JOIN kernel_shape h ON h.id = k.shape JOIN string n ON n.id = h.name "
            "WHERE n.text LIKE ? GROUP BY k.stream", f"%{kernel}%")]

    def gemms(self):
        """(products, products with kernels)"""
        return self.rows("SELECT count(*), coalesce(sum(EXISTS (SELECT 1 FROM api a JOIN kernel k USING (correlation) "
                         "WHERE a.thread = g.thread AND a.start >= g.start AND a.start < g.start + g.dur)), 0) FROM gemm g")[0]


def judge_plain_cuda(checks, recording, did):
    """All that the program says it did, no more and no less."""
    expected = {(name, name.startswith("Graph")): count for name, count in did["kernels"].items()}
    found = recording.kernels()
    checks.add("kernels by name", found == expected, f"{sum(found.values())}" if found == expected else f"{found}, expected {expected}")
    for name, kind in COPIES.items():
        compare(checks, f"copies {name}", recording.copies(kind), did[name])
    compare(checks, "memsets", recording.sets(), did["set"])
    for name, count in (("cudaMalloc", did["malloc"]["calls"]), ("cudaMallocAsync", did["malloc_async"]["calls"]),
                        ("cudaFree", did["free"]), ("cudaFreeAsync", did["free_async"]), ("cudaGraphLaunch", did["graph"]["launches"])):
        calls = recording.calls(name)
        checks.add(f"calls of {name}", calls == count, f"{calls}, made {count}")
    graph, nodes = did["graph"], recording.graph_nodes()
    kinds = sorted(kind for kind, _ in nodes)
    checks.add("each node of the graph ran at each launch",
               kinds == ["copy", "kernel", "kernel", "kernel", "set"] and set(nodes.values()) == {graph["launches"]},
               f"{len(nodes)} nodes ({', '.join(kinds)}), ran {sorted(set(nodes.values()))} times, launched {graph['launches']}")
    linked = recording.operations_by_graph_launch()
    checks.add("a graph launch leads to all its nodes", linked == [(graph["launches"], graph["nodes"])],
               f"(launches, operations): {linked}, expected {(graph['launches'], graph['nodes'])}")
    own = recording.kernels_of_thread(did["thread"]["tid"])
    checks.add("kernels launched by the second thread", own == did["thread"]["launches"], f"{own}, launched {did['thread']['launches']}")
    streams = len(did["priorities"])
    rows = recording.streams_of("AddOne")
    checks.add("kernels on each stream", rows == [did["kernels"]["AddOne"] // streams] * streams, f"{rows} on {len(rows)} streams")


def judge_memory(checks, recording, did):
    """The same with the kinds memory and stream."""
    judge_plain_cuda(checks, recording, did)
    compare(checks, "allocations", recording.memory_operations(1, False), did["malloc"])
    compare(checks, "allocations from the pool", recording.memory_operations(1, True), did["malloc_async"])
    for name, pool, count in (("releases", False, did["free"]), ("releases into the pool", True, did["free_async"])):
        found, size = recording.memory_operations(2, pool)
        checks.add(name, found == count, f"{found} of {size} bytes, did {count}")
    checks.add("memory operations lead to their calls", recording.unlinked_memory_operations() == 0,
               f"{recording.unlinked_memory_operations()} of {recording.run.count('memory_operation')} do not")
    checks.add("releases lead to their allocations", recording.unreleased() == 0, f"{recording.unreleased()} do not")
    found = recording.priorities_of("AddOne")
    checks.add("priorities of the streams", found == sorted(did["priorities"]), f"{found}, created with {did['priorities']}")


def compare(checks, name, found, did):
    expected = (did["calls"], did["bytes"])
    checks.add(name, tuple(found) == expected, f"{found[0]} of {found[1]} bytes, did {expected[0]} of {expected[1]}")


def judge_loop(checks, recording, did):
    """A training loop in Python: how many kernels it takes is its library's affair."""
    kernels = recording.run.count("kernel")
    checks.add("kernels in every step", kernels >= did["steps"], f"{kernels} in {did['steps']} steps")
    count, size = recording.copies(COPIES["host_to_device"])
    checks.add("batches copied to the GPU", size >= did["steps"] * did["batch_bytes"],
               f"{count} copies of {size} bytes, issued {did['steps'] * did['batch_bytes']} at least")
    nodes = recording.graph_nodes()
    checks.note("CUDA graphs", f"{len(nodes)} nodes, {sum(nodes.values())} operations in "
                f"{sum(count for count, _ in recording.operations_by_graph_launch())} launches")
    products, linked = recording.gemms()
    if products:
        checks.add("matrix products lead to kernels", linked >= GEMM_GOAL * products, f"{linked} of {products}")
    else:
        checks.note("matrix products", "none seen: the program looks cuBLAS up by a handle, or uses its own kernels")


def judge_recording(checks, recording, analyze, out):
    import check_recording
    check_recording.check_file(checks, recording.run)
    there = {table: recording.run.count(table) for table in PYTHON_TABLES}
    checks.add("nothing of PyTorch assumed", not any(there.values()), str(there))
    report = out.with_suffix(".report.json")
    for arguments, output in ((["--format", "json"], report), ([], out.with_suffix(".report.txt"))):
        with open(output, "w") as file:
            done = subprocess.run([analyze, recording.run.path, *arguments], stdout=file, stderr=subprocess.PIPE, text=True,
                                  timeout=LIMIT_S)
        if done.returncode != 0:
            return checks.add("analyze", False, f"exit code {done.returncode}: {done.stderr[-500:]}")
    checks.add("analyze", True, "exit code 0, text and JSON")
    check_recording.check_partitions(checks, json.loads(report.read_text()), [recording.run], 1)


class Runner:
    def __init__(self, library, analyze, out):
        self.library, self.analyze, self.out = library, analyze, out
        self.log = out / "checks.jsonl"
        self.log.unlink(missing_ok=True)

    def checks(self, part):
        return Checks(self.log, part)

    def execute(self, command, environment, output):
        """The exit code; what was printed goes to the files output.out and output.err."""
        with open(f"{output}.out", "w") as out, open(f"{output}.err", "w") as err:
            try:
                return subprocess.run(command, env=os.environ | environment, stdout=out, stderr=err, timeout=LIMIT_S).returncode
            except subprocess.TimeoutExpired:
                return f"none within {LIMIT_S} s"

    def run(self, part, command, expected_code, environment, judge):
        """Plain, then recorded: `command` gets the file of its result as {result}."""
        checks, stem = self.checks(part), self.out / part.replace(" ", "_")
        for suffix in (".db", ".db-wal", ".db-shm"):
            stem.with_name(stem.name + suffix).unlink(missing_ok=True)
        words = [word.format(result=f"{stem}.json") for word in command]
        code = self.execute(words, environment, f"{stem}.plain")
        if code != expected_code:
            return checks.skip("runs", f"without the library: exit code {code}, expected {expected_code}; see {stem}.plain.err")
        recorded = {"LD_PRELOAD": str(self.library), "TRACEINJECT_OUTPUT": f"{stem}.db", "TRACEINJECT_MEMSETS": "all"}
        code = self.execute(words, environment | recorded, f"{stem}.traced")
        same = pathlib.Path(f"{stem}.plain.out").read_bytes() == pathlib.Path(f"{stem}.traced.out").read_bytes()
        checks.add("exit code and output as without the library", code == expected_code and same,
                   f"exit code {code}, expected {expected_code}; output {'the same' if same else 'differs'}")
        if not pathlib.Path(f"{stem}.db").is_file() or code != expected_code:
            return checks.add("recorded", False, f"see {stem}.traced.err")
        recording = Recording(f"{stem}.db")
        judge_recording(checks, recording, self.analyze, stem)
        judge(checks, recording, json.loads(pathlib.Path(f"{stem}.json").read_text()))

    def plain_cuda(self):
        nvcc = find_nvcc()
        if not nvcc:
            return self.checks("cuda").skip("plain CUDA C++", "nvcc is not here; set NVCC to it")
        program = self.out / "plain_cuda"
        try:
            subprocess.run([nvcc, "-std=c++17", "-O2", "-o", program, HERE / "plain_cuda.cu"], check=True, timeout=LIMIT_S)
        except (subprocess.SubprocessError, OSError) as error:
            return self.checks("cuda").add("compiles", False, str(error))
        cupti = find_cupti(nvcc)
        environment = {"TRACEINJECT_CUPTI": cupti} if cupti else {}
        for ending, code in EXIT_CODES.items():
            self.run(f"cuda {ending}", [str(program), "{result}", ending], code, environment, judge_plain_cuda)
        self.run("cuda memory", [str(program), "{result}", "return"], EXIT_CODES["return"], environment | {"TRACEINJECT_KINDS": ALL_KINDS},
                 judge_memory)

    def python_loop(self, part, module, environment):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, timeout=LIMIT_S).returncode != 0:
            return self.checks(part).skip(module, "cannot be imported here")
        self.run(part, [sys.executable, str(HERE / "programs.py"), module, "{result}"], 0, environment, judge_loop)


def check(library, analyze, out):
    out.mkdir(parents=True, exist_ok=True)
    runner = Runner(library, analyze, out)
    runner.plain_cuda()
    own = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    runner.python_loop("jax", "jax", own)
    runner.python_loop("jax without graphs", "jax", own | {"XLA_FLAGS": "--xla_gpu_enable_command_buffer="})
    runner.python_loop("cupy", "cupy", {})
    return summary(runner.log, out / "results.json")


def main():
    parser, commands, _ = command_line(__doc__, "analyze")
    for name in ("jax", "cupy"):
        commands.add_parser(name).add_argument("result")
    arguments = parser.parse_args()
    if arguments.command == "check":
        return check(arguments.library, arguments.analyze, arguments.out)
    did = {"jax": jax_loop, "cupy": cupy_loop}[arguments.command]()
    pathlib.Path(arguments.result).write_text(json.dumps(did))
    print(f"{arguments.command} {did['version']} on {did['device']}: {'learns' if did['learns'] else 'does not learn'}")


if __name__ == "__main__":
    sys.exit(main())
