#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the library's side in the program's Python on a GPU, with the real PyTorch (see python_side.sh).

  python_side.py check --library FILE --out OUT      runs the programs below and compares
  python_side.py PROGRAM RESULT                      one of the programs (loaders, compile, variety, brief, cost, step): writes what it
                                                     measured itself as JSON

Step marks and waits are compared one configuration after the other: 0, 1 and 4 workers, forked and spawned.
"""

import argparse
import collections
import functools
import gc
import itertools
import json
import os
import pathlib
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "end_to_end"))
import watched  # noqa: E402

CONFIGURATIONS = [(0, None), (1, "fork"), (4, "fork"), (1, "spawn"), (4, "spawn")]
BATCHES, BATCH, ITEM_S = 40, 8, 0.0005
TOLERANCE = 0.02
# A batch comes from a thread that pins memory, which takes the interpreter back as often as not before the program's clock is read.
HANDOVER_NS = 150_000
PROGRAM_LIMIT_S = 170
STEP_PAIRS, STEP_BUDGET_S = 2000, 100  # of a step with and one without the patches; no more after so long


class Items:
    """Slow enough that workers cannot keep ahead: otherwise there is no wait to compare."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return BATCHES * BATCH

    def __getitem__(self, index):
        import torch
        time.sleep(self.seconds)
        return torch.full((64,), float(index))


def wait_until_hooked(torch):
    """Uses the GPU, which starts the recording. True once calls are observed; without the library they never are."""
    torch.zeros(1, device="cuda")
    expected = "libtraceinject" in os.environ.get("LD_PRELOAD", "") and os.environ.get("TRACEINJECT_PYTHON") != "0"
    return watched.wait_until_watched(torch.utils.data.dataloader._BaseDataLoaderIter.__next__, limit_s=20 if expected else 0.5)


def loaders():
    import torch
    hooked = wait_until_hooked(torch)
    model = torch.nn.Linear(64, 64).cuda()
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.01), torch.optim.Adam(model.parameters())]
    measured = []
    for workers, context in CONFIGURATIONS:
        loader = torch.utils.data.DataLoader(Items(ITEM_S * max(1, workers)), batch_size=BATCH, num_workers=workers,
                                             multiprocessing_context=context, pin_memory=True)
        begin, waits, steps = time.time_ns(), [], 0
        batches = iter(loader)
        while True:
            start = time.time_ns()
            batch = next(batches, None)
            waits.append(time.time_ns() - start)
            if batch is None:
                break
            model(batch.cuda(non_blocking=True)).sum().backward()
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
                steps += 1
        measured.append({"workers": workers, "context": context, "begin": begin, "end": time.time_ns(), "waits": waits,
                         "steps": steps})
    saves, state = [], {"model": model.state_dict(), "more": torch.zeros(8_000_000)}
    for _ in range(3):
        start = time.time_ns()
        torch.save(state, os.devnull)
        saves.append(time.time_ns() - start)
    start = time.time_ns()
    gc.collect()
    collect = time.time_ns() - start
    torch.cuda.synchronize()
    return {"hooked": hooked, "configurations": measured, "saves": saves, "collect": collect}


def compile_counters():
    """Compiled regions of several kinds, and the compiler's own counters afterwards."""
    import torch
    hooked = wait_until_hooked(torch)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 64)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = torch.utils.data.DataLoader(Items(0), batch_size=BATCH)

    # What is counted happens before the backend; this one is quick.
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    stepping = torch.compile(optimizer.step, backend="aot_eager")

    @functools.partial(torch.compile, backend="aot_eager")
    def draw(batches, x):  # a call that cannot be traced inside
        return x + next(batches).cuda().sum()

    @functools.partial(torch.compile, fullgraph=True, backend="aot_eager")
    def attend(x):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).sin()

    losses = []
    for size in (64, 64, 128, 128):  # one recompilation
        heads = torch.linspace(-1, 1, 4 * size * 32, device="cuda").view(1, 4, size, 32).requires_grad_()
        attend(heads).sum().backward()
        losses.append(round(heads.grad.sum().item(), 3))
    steps = 12
    for index, batch in enumerate(itertools.islice(loader, steps)):
        # Two sizes: one recompilation.
        loss = compiled(batch.cuda()[:4 + 4 * (index % 2)]).square().mean()
        loss.backward()
        if index < 8:
            optimizer.step()
        else:
            stepping()  # seen as well: what is compiled is called as a function
        optimizer.zero_grad()
        losses.append(round(loss.item(), 4))
    batches = iter(loader)
    for _ in range(4):
        losses.append(round(draw(batches, torch.zeros(1, device="cuda")).item(), 1))
    counters = {name: dict(sorted(counts.items())) for name, counts in sorted(torch._dynamo.utils.counters.items())}
    return {"hooked": hooked, "losses": losses, "steps": steps, "counters": counters}


def variety():
    """Attention called in many ways, with another batch size in each, and a distributed checkpoint."""
    import tempfile

    import torch
    import torch.distributed.checkpoint as distributed_checkpoint
    from torch.utils.checkpoint import checkpoint
    functional = torch.nn.functional
    hooked = wait_until_hooked(torch)
    if hooked:
        watched.wait_until_watched(watched.innermost(distributed_checkpoint.save))

    def heads(batch, grad=True, size=64):
        return torch.randn(batch, 8, 128, size, device="cuda", dtype=torch.bfloat16).requires_grad_(grad)

    def attend(x):
        return functional.scaled_dot_product_attention(x, x, x, is_causal=True)

    # batch: calls that can have a backward, and that cannot
    expected = {1: [1, 0], 2: [0, 1], 3: [2, 0], 4: [1, 1], 5: [1, 0], 6: [1, 0], 7: [1, 0], 15: [0, 1]}
    attend(heads(1)).sum().backward()
    attend(heads(2, grad=False))
    checkpoint(lambda x: attend(x).sin(), heads(3), use_reentrant=False).sum().backward()
    checkpoint(lambda x: attend(x).sin(), heads(4), use_reentrant=True).sum().backward()
    twice = attend(heads(5)).sum()
    twice.backward(retain_graph=True)
    twice.backward()
    attend(heads(6, size=60)).sum().backward()  # padded for the kernel
    thread = threading.Thread(target=lambda: attend(heads(7)).sum().backward())
    thread.start()
    thread.join()
    # Not seen but for the bias, and not harmed:
    torch.jit.script(torch.nn.MultiheadAttention(64, 8, batch_first=True).cuda().eval())
    torch.jit.trace(attend, heads(11, grad=False), check_trace=False)
    torch.func.vmap(attend)(heads(12, grad=False)[:, None])
    torch.compile(attend, fullgraph=True, backend="aot_eager")(heads(13))
    graph = torch.fx.symbolic_trace(attend).graph
    with torch.device("meta"):
        attend(torch.empty(14, 8, 128, 64))
    from torch.nn.attention.bias import causal_lower_right
    lower_right = functional.scaled_dot_product_attention(heads(15, grad=False), heads(15, grad=False), heads(15, grad=False),
                                                          causal_lower_right(128, 128)).shape

    class Told(torch.Tensor):
        """A subclass that compares the function it is told with the one that the program knows."""
        same = []

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if function.__name__ == "scaled_dot_product_attention":
                cls.same.append(function is functional.scaled_dot_product_attention)
            return super().__torch_function__(function, types, args, kwargs or {})

    attend(heads(16, grad=False).as_subclass(Told))
    memory = torch.cuda.memory_allocated()
    for _ in range(20):
        attend(heads(1))
    held = torch.cuda.memory_allocated() - memory
    expected[1][0] += 20
    saves, state = [], {"weights": torch.zeros(4_000_000)}
    with tempfile.TemporaryDirectory() as folder:
        start = time.time_ns()
        distributed_checkpoint.save(state, checkpoint_id=folder)
        saves.append(time.time_ns() - start)
    torch.optim.SGD([heads(1)], lr=0.1).step()
    torch.cuda.synchronize()
    return {"hooked": hooked, "attention": expected, "saves": saves, "held": held, "graph": str(graph), "same": Told.same,
            "lower_right": list(lower_right), "allocated": torch.cuda.max_memory_allocated()}


def brief():
    """Something of everything that is marked."""
    import torch
    hooked = wait_until_hooked(torch)
    model = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in torch.utils.data.DataLoader(Items(0), batch_size=BATCH):
        model(batch.cuda()).sum().backward()
        optimizer.step()
    torch.save(model.state_dict(), os.devnull)
    gc.collect()
    torch.cuda.synchronize()
    return {"hooked": hooked}


def nanoseconds_of(function, argument):
    """Of a call, over as many as fit into the queue of a thread."""
    start = time.perf_counter_ns()
    for _ in range(2000):
        function(argument)
    return (time.perf_counter_ns() - start) / 2000


def median_difference(call, base):
    """Of what both return, in turn; what was recorded meanwhile is fetched."""
    differences = []
    for _ in range(21):
        differences.append(call() - base())
        time.sleep(0.2)
    return statistics.median(differences)


def nanoseconds_more(call, base, argument):
    """What a call takes longer than another."""
    return median_difference(lambda: nanoseconds_of(call, argument), lambda: nanoseconds_of(base, argument))


def attention_nanoseconds(torch):
    """What a watched call of attention takes longer, where the host is what it waits for."""
    attention = torch.nn.functional.scaled_dot_product_attention
    watches = watched.Watches(attention)
    tensor = torch.zeros(1, 1, 8, 8, device="cuda", dtype=torch.bfloat16)

    def unwatched():
        watches.take_out()
        try:
            return nanoseconds_of(lambda x: attention(x, x, x), tensor)
        finally:
            watches.put_back()
            torch.cuda.synchronize()

    return median_difference(lambda: nanoseconds_of(lambda x: attention(x, x, x), tensor), unwatched)


def cost():
    import torch
    hooked = wait_until_hooked(torch)
    iterator = torch.utils.data.dataloader._BaseDataLoaderIter

    class Endless(iterator):
        def __init__(self):
            self._num_yielded, self._dataset_kind, self._IterableDataset_len_called = 0, 0, None
            self._sampler_iter, self._profile_name = object(), "endless"

        def _next_data(self):
            return 0

    if not hooked:
        return {"hooked": hooked}
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    following, stepping = vars(iterator)["__next__"], torch.optim.SGD.step.__wrapped__
    return {"hooked": hooked, "wait_ns": nanoseconds_more(following, watched.unwatched_copy(following), Endless()),
            "step_mark_ns": nanoseconds_more(stepping, watched.unwatched_copy(stepping), optimizer),
            "attention_ns": attention_nanoseconds(torch)}


def step():
    """A launch-bound training step, recorded, with and without the patches in turn."""
    import torch
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "samples" / "workloads"))
    import transformer
    hooked = wait_until_hooked(torch)
    sys.argv = ["transformer.py", "--preset", "launch-bound", "--workers", "0", "--steps", str(2 * STEP_PAIRS)]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(10):
        trainer.step()
    steps = {"with": [], "without": []}
    watches = watched.Watches(torch.utils.data.dataloader._BaseDataLoaderIter.__next__, type(trainer.replicas[0].optimizer).step.__wrapped__)
    end = time.monotonic() + STEP_BUDGET_S
    for index in range(2 * STEP_PAIRS if hooked else 0):
        if time.monotonic() > end and index % 4 == 0:
            break
        # with, without, without, with: a drift in time hits both alike
        kind = "with" if index % 4 in (0, 3) else "without"
        if kind == "without":
            watches.take_out()
        start = time.perf_counter()
        trainer.step()  # the GPU is faster than the host: its time is the step's
        steps[kind].append((time.perf_counter() - start) * 1e3)
        if kind == "without":
            watches.put_back()
    return {"hooked": hooked, "steps_ms": steps}


PROGRAMS = {"loaders": loaders, "compile": compile_counters, "variety": variety, "brief": brief, "cost": cost, "step": step}


class Check:
    def __init__(self, library, out):
        self.library, self.out = library, pathlib.Path(out)
        self.outcomes = []

    def add(self, name, passed, detail):
        self.outcomes.append({"outcome": "PASS" if passed else "FAIL", "check": name, "detail": detail})
        print(f"{'PASS' if passed else 'FAIL'}  {name}: {detail}", flush=True)

    def run(self, program, name, library=True, **environment):
        """What the program measured; None after a failure, which is a failed check."""
        result, recording = self.out / f"{name}.json", self.out / f"{name}.db"
        for path in (result, recording):
            path.unlink(missing_ok=True)
        env = {**os.environ, "TRACEINJECT_OUTPUT": str(recording), "TRACEINJECT_FLUSH_MS": "100", **environment}
        if library:
            env["LD_PRELOAD"] = str(self.library)
        command = [sys.executable, __file__, program, str(result)]
        began = time.monotonic()
        with open(self.out / f"{name}.log", "w") as log:
            try:
                code = subprocess.run(command, env=env, stdout=log, stderr=subprocess.STDOUT, timeout=PROGRAM_LIMIT_S).returncode
            except subprocess.TimeoutExpired:
                code = f"none: ended after {PROGRAM_LIMIT_S} s"
        print(f"      {name}: {time.monotonic() - began:.0f} s", flush=True)
        if code != 0 or not result.exists():
            self.add(f"{name} runs", False, f"exit code {code}; the end of its output: {(self.out / f'{name}.log').read_text()[-1500:]}")
            return None
        return json.loads(result.read_text())

    def database(self, name):
        return sqlite3.connect(f"file:{self.out / name}.db?mode=ro", uri=True)

    def check_configuration(self, db, own):
        name = f"{own['workers']} workers" + (f", {own['context']}" if own["context"] else "")
        inside = (own["begin"], own["end"])
        rows = db.execute("SELECT dur_ns, workers FROM data_waits WHERE start_ns BETWEEN ? AND ? ORDER BY start_ns", inside).fetchall()
        self.add(f"{name}: calls", len(rows) == len(own["waits"]) and {workers for _, workers in rows} == {own["workers"]},
                 f"{len(rows)} recorded, {len(own['waits'])} made; workers recorded: {sorted({workers for _, workers in rows})}")
        # The first wait has the start of the workers in it, and would hide what is wrong with the others.
        for part, first in (("all waits", 0), ("all but the first", 1)):
            recorded, measured = sum(dur for dur, _ in rows[first:]), sum(own["waits"][first:])
            off = abs(recorded - measured) / measured
            handovers = HANDOVER_NS * len(rows[first:]) if own["workers"] else 0
            self.add(f"{name}: {part}", abs(recorded - measured) <= max(TOLERANCE * measured, handovers),
                     f"{recorded / 1e6:.2f} ms recorded, {measured / 1e6:.2f} ms measured: {100 * off:.2f} % off")
        samples = db.execute("SELECT DISTINCT samples FROM data_waits WHERE batch IS NOT NULL AND start_ns BETWEEN ? AND ?",
                             inside).fetchall()
        self.add(f"{name}: samples of a batch", samples == [(BATCH,)], f"{samples} recorded, {BATCH} made")
        steps = db.execute("SELECT count(*) FROM step_marks WHERE time_ns BETWEEN ? AND ?", inside).fetchone()[0]
        self.add(f"{name}: step marks", steps == own["steps"], f"{steps} marks, {own['steps']} optimizer steps")

    def check_loaders(self):
        own = self.run("loaders", "loaders")
        if own is None:
            return
        self.add("hooks", own["hooked"], "in place" if own["hooked"] else "never came")
        db = self.database("loaders")
        for configuration in own["configurations"]:
            self.check_configuration(db, configuration)
        saves = [dur for (dur,) in db.execute("SELECT dur_ns FROM host_spans WHERE kind = 'checkpoint' ORDER BY start_ns")]
        off = abs(sum(saves) - sum(own["saves"])) / sum(own["saves"])
        self.add("checkpoints", len(saves) == len(own["saves"]) and off <= TOLERANCE,
                 f"{len(saves)} of {len(own['saves'])}, {sum(saves) / 1e6:.2f} ms recorded, {sum(own['saves']) / 1e6:.2f} ms measured")
        full = [dur for (dur,) in db.execute("SELECT dur_ns FROM host_spans WHERE generation = 2")]
        close = [dur for dur in full if 0.9 * own["collect"] <= dur <= own["collect"]]
        self.add("garbage collection", bool(close), f"gc.collect() took {own['collect'] / 1e6:.2f} ms; recorded: "
                 f"{[round(dur / 1e6, 2) for dur in full[-3:]]} ms")
        lost = db.execute("SELECT source, value FROM health WHERE counter = 'dropped' AND value > 0").fetchall()
        self.add("nothing lost", not lost, str(lost or "no dropped events"))

    def check_compile(self):
        plain = self.run("compile", "compile_plain", library=False)
        loaded = self.run("compile", "compile_recorded")
        if plain is None or loaded is None:
            return
        self.add("torch.compile: hooks", loaded["hooked"], "in place" if loaded["hooked"] else "never came")
        self.add("torch.compile: results", plain["losses"] == loaded["losses"], f"{len(plain['losses'])} values equal")
        names = sorted(set(plain["counters"]) | set(loaded["counters"]))
        for name in names:
            with_us, without = (result["counters"].get(name, {}) for result in (loaded, plain))
            if name in ("frames", "stats", "graph_break", "unimplemented", "recompiles"):
                total = sum(value for value in without.values() if isinstance(value, int))
                self.add(f"torch.compile: counters of {name}", with_us == without,
                         f"{len(without)} equal, {total} in all" if with_us == without else f"without {without}, with {with_us}")
        steps = self.database("compile_recorded").execute("SELECT count(*) FROM step_mark").fetchone()[0]
        self.add("torch.compile: step marks", steps == loaded["steps"], f"{steps} marks, {loaded['steps']} steps")

        rows = self.database("compile_recorded").execute("SELECT count(*) FROM attention").fetchone()[0]
        self.add("torch.compile: attention inside is not marked", rows == 0, f"{rows} calls")

    def check_variety(self):
        plain = self.run("variety", "variety_plain", library=False)
        own = self.run("variety", "variety")
        if own is None or plain is None:
            return
        db = self.database("variety")
        for batch, made in own["attention"].items():
            found = [db.execute("SELECT count(*) FROM attentions WHERE batch = ? AND gradient = ?", (batch, gradient)).fetchone()[0]
                     for gradient in (1, 0)]
            self.add(f"attention of batch {batch}", found == made, f"{found} recorded, {made} made (with, without gradients)")
        others = [batch for batch, in db.execute("SELECT batch FROM attentions") if str(batch) not in own["attention"]]
        self.add("attention that is traced or has no memory", not others, f"{len(others)} calls {others or ''}")
        self.add("attention keeps nothing alive", own["held"] == plain["held"], f"{own['held']} and {plain['held']} bytes")
        self.add("attention in torch.fx", own["graph"] == plain["graph"], "the same graph")
        self.add("attention told to a subclass", own["same"] == plain["same"] == [True], "the function that the program knows")
        self.add("attention with a causal bias", own["lower_right"] == plain["lower_right"], "torch.nn.attention.bias")
        allocator = db.execute("SELECT max(peak_allocated_bytes) FROM allocator_sample").fetchone()[0]
        self.add("allocator", allocator == own["allocated"], f"peak of {allocator} bytes recorded, {own['allocated']} told by torch")
        saves = [dur for (dur,) in db.execute("SELECT dur_ns FROM host_spans WHERE kind = 'checkpoint' ORDER BY dur_ns DESC LIMIT 1")]
        off = abs(sum(saves) - sum(own["saves"])) / sum(own["saves"])
        self.add("distributed checkpoint", bool(saves) and off <= TOLERANCE, f"{saves} ns recorded, {own['saves']} ns measured")

    def check_off(self):
        own = self.run("brief", "off", TRACEINJECT_PYTHON="0")
        if own is None:
            return
        db = self.database("off")
        rows = sum(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("data_wait", "step_mark", "host_span"))
        self.add("TRACEINJECT_PYTHON=0", rows == 0 and not own["hooked"], f"{rows} rows")

    def note_cost(self):
        own = self.run("cost", "cost")
        if own is None or not own["hooked"]:
            return
        print(f"NOTE  a wait costs {own['wait_ns']:.0f} ns, a step mark {own['step_mark_ns']:.0f} ns, a call of attention {own['attention_ns']:.0f} ns", flush=True)

    def note_step_cost(self):
        own = self.run("step", "step")
        if own is None or not own["hooked"]:
            return
        without = statistics.median(own["steps_ms"]["without"])
        changes = [100 * (mine / base - 1) for mine, base in zip(own["steps_ms"]["with"], own["steps_ms"]["without"])]
        generator = random.Random(1)
        draws = sorted(statistics.median(generator.choices(changes, k=len(changes))) for _ in range(2000))
        print(f"NOTE  launch-bound step without the patches {without:.3f} ms; with them {statistics.median(changes):+.3f} % "
              f"({draws[50]:+.3f} to {draws[-51]:+.3f}), {len(changes)} pairs of neighbouring steps", flush=True)

    def finish(self):
        count = collections.Counter(outcome["outcome"] for outcome in self.outcomes)
        (self.out / "results.json").write_text(json.dumps({"passed": count["PASS"], "failed": count["FAIL"], "checks": self.outcomes},
                                                          indent=1))
        print(f"{count['PASS']} passed, {count['FAIL']} failed")
        return 0 if count["PASS"] and not count["FAIL"] else 1


def main():
    if len(sys.argv) == 3 and sys.argv[1] in PROGRAMS:
        program, result = sys.argv[1:]  # read before it runs: a program may need arguments of its own there
        pathlib.Path(result).write_text(json.dumps(PROGRAMS[program]()))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check"])
    parser.add_argument("--library", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    check = Check(pathlib.Path(options.library).resolve(), options.out)
    check.check_loaders()
    check.check_compile()
    check.check_variety()
    check.check_off()
    check.note_cost()
    check.note_step_cost()
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
