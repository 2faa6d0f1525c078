#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what is recorded of matrix products on a GPU, with the real PyTorch (see matrix_products.sh).

  matrix_products.py check --library FILE --out OUT    runs the programs below and compares
  matrix_products.py program NAME RESULT               one of them: bf16, fp32, tf32, fp16, compiled; writes what it counted as JSON

A program trains a small transformer for some steps inside NVTX ranges "step N", then counts the FLOPs of one more step with
torch.utils.flop_counter (which is no part of what is compared: it runs outside of the ranges).
"""

import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 5
LIMIT_S = 120
TOLERANCE = 0.01
LINKED = 0.99
# Of what flop_counter counts, those that are matrix products of cuBLAS; attention and convolutions are not.
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "_scaled_mm")


def build(torch, name, optimizer="SGD", deterministic=True):
    sys.path.insert(0, str(HERE.parents[2] / "samples" / "workloads"))
    import transformer
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(deterministic)
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    width, heads, sequence, batch = 512, 8, 256, 4
    blocks = torch.nn.Sequential(*[transformer.Block(width, heads) for _ in range(4)]).cuda()
    data = torch.randn(batch, sequence, width, device="cuda")
    optimizer = getattr(torch.optim, optimizer)(blocks.parameters(), lr=1e-3)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "compiled": torch.bfloat16}.get(name)
    forward = torch.compile(blocks) if name == "compiled" else blocks

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=kind, enabled=kind is not None):
            loss = forward(data).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def measure(torch, step, eager, formulas=None):
    """Runs the steps; a digest of their losses, and what flop_counter counts in one more by operator, some by formulas of the caller's."""
    from torch.utils.flop_counter import FlopCounterMode
    for _ in range(2):
        step()
    torch.cuda.synchronize()
    losses = []
    for number in range(STEPS):
        with torch.cuda.nvtx.range(f"step {number}"):
            losses.append(step())
            torch.cuda.synchronize()
    digest = hashlib.sha256(b"".join(loss.detach().cpu().numpy().tobytes() for loss in losses)).hexdigest()
    counted = {}
    if eager:
        with FlopCounterMode(display=False, custom_mapping=formulas) as counter:
            step()
        for operator, flops in counter.get_flop_counts()["Global"].items():
            counted[str(operator).rpartition(".")[2]] = flops
    return {"flops": counted, "digest": digest}


def program(name, result):
    import torch
    pathlib.Path(result).write_text(json.dumps(measure(torch, build(torch, name), name != "compiled")))


RECORDED = """
WITH step AS (SELECT start, start + dur AS stop FROM nvtx JOIN string ON string.id = nvtx.text WHERE string.text GLOB 'step [0-9]*'),
     product AS (
       SELECT g.rowid AS id, s.m * s.n * s.k * s.batch * 2 AS flops,
              EXISTS (SELECT 1 FROM api a JOIN kernel k USING (correlation) WHERE a.thread = g.thread
                      AND a.start >= g.start AND a.start < g.start + g.dur) AS linked
       FROM gemm g JOIN gemm_shape s ON s.id = g.shape
       WHERE EXISTS (SELECT 1 FROM step WHERE g.start >= step.start AND g.start < step.stop))
SELECT count(*), coalesce(sum(flops), 0), coalesce(sum(linked), 0) FROM product"""


def recorded(path):
    """(calls, FLOPs, calls with kernels) inside of the steps."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        # The joins above are by thread and correlation; without indexes they would take minutes.
        memory = sqlite3.connect(":memory:")
        database.backup(memory)
    memory.execute("CREATE INDEX by_thread ON api(thread, start)")
    memory.execute("CREATE INDEX by_correlation ON kernel(correlation)")
    return memory.execute(RECORDED).fetchone()


def judge(checks, name, counted, calls, flops, linked):
    """`counted`: FLOPs of one step by operator."""
    expected = STEPS * sum(counted.get(operator, 0) for operator in PRODUCTS)
    if expected:
        error = flops / expected - 1
        checks.add(f"{name}: FLOPs", abs(error) <= TOLERANCE,
                   f"{flops:.6g} recorded, {expected:.6g} counted by torch: {error:+.3%} (limit {TOLERANCE:.0%})", error=error)
    else:
        checks.note(f"{name}: FLOPs", f"{flops:.6g} recorded in {STEPS} steps; torch counts none of a compiled program")
    share = linked / calls if calls else 0
    checks.add(f"{name}: calls with kernels", share >= LINKED, f"{linked} of {calls} ({share:.3%}, at least {LINKED:.0%})", share=share)


def run(name, out, library, traced, script=__file__):
    """What the program `name` of a script counted, and its recording."""
    result, recording = out / f"{name}.{'traced' if traced else 'plain'}.json", out / f"{name}.db"
    environment = dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:8")
    if traced:
        environment.update(LD_PRELOAD=str(library), TRACEINJECT_OUTPUT=str(recording))
    subprocess.run([sys.executable, script, "program", name, str(result)], env=environment, check=True, timeout=LIMIT_S)
    return json.loads(result.read_text()), recording


def check(library, out):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "products")
    for name in ("bf16", "fp32", "tf32", "fp16", "compiled"):
        try:
            plain, _ = run(name, out, library, False)
            traced, recording = run(name, out, library, True)
        except (subprocess.SubprocessError, OSError) as error:
            checks.add(f"{name}: runs", False, str(error))
            continue
        judge(checks, name, traced["flops"], *recorded(recording))
        checks.add(f"{name}: same results", plain["digest"] == traced["digest"], "losses of all steps, bit by bit")
    return summary(log, out / "results.json")


def main():
    parser, commands, _ = command_line(__doc__)
    one = commands.add_parser("program")
    one.add_argument("name", choices=("bf16", "fp32", "tf32", "fp16", "compiled"))
    one.add_argument("result")
    arguments = parser.parse_args()
    if arguments.command == "program":
        return program(arguments.name, arguments.result)
    return check(arguments.library, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
