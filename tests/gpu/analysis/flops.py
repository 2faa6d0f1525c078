#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the FLOPs of a step, matrix products and attention, as `analyze` reports them, with the real PyTorch on a GPU (see flops.sh).

  flops.py check --library FILE --analyze FILE --out OUT    runs the programs below and compares
  flops.py program NAME RESULT    one of them: flash, efficient, cudnn, math (backends of scaled_dot_product_attention), compiled

A program trains a small transformer in bf16 with AdamW, and counts the FLOPs of one more step with torch.utils.flop_counter.
"""

import json
import pathlib
import subprocess
import sys

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("shared", "recording")]

from checks import Checks, command_line, summary  # noqa: E402
import matrix_products  # noqa: E402

BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION", "math": "MATH"}
UNSTEADY = ("cudnn",)  # has no deterministic kernels
TOLERANCE = 0.01
LINKED = 0.99
ANALYZE_LIMIT_S = 60


def program(name, result):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from python_side import wait_until_hooked
    hooked = wait_until_hooked(torch)
    step = matrix_products.build(torch, "compiled" if name == "compiled" else "bf16", optimizer="AdamW", deterministic=name not in UNSTEADY)
    with sdpa_kernel([getattr(SDPBackend, BACKENDS.get(name, "FLASH_ATTENTION"))]):
        measured = matrix_products.measure(torch, step, name != "compiled")
    pathlib.Path(result).write_text(json.dumps({**measured, "hooked": hooked}))


def reported(analyze, recording):
    text = subprocess.run([analyze, str(recording), "--format", "json"], capture_output=True, text=True, check=True,
                          timeout=ANALYZE_LIMIT_S).stdout
    return json.loads(text)["run"]["matrix_products"]


def judge(checks, name, counted, products):
    """`counted`: FLOPs of one step by operator; empty: of a compiled program. `products`: what analyze reports."""
    attention = products.get("attention", {})
    forward_and_backward = int(attention.get("calls", 0)), int(attention.get("backward_calls", 0))
    unknown = products.get("unknown_share", 0)
    calls, linked = int(products.get("calls", 0)), int(products.get("linked_calls", 0))
    flops = products.get("flops_per_step", 0)
    if counted:
        expected = sum(counted.values())
        error = flops / expected - 1
        checks.add(f"{name}: FLOPs of a step", abs(error) <= TOLERANCE,
                   f"{flops:.6g} reported, {expected:.6g} counted by torch: {error:+.3%} (limit {TOLERANCE:.0%})", error=error)
        checks.add(f"{name}: nothing of unknown size", unknown <= TOLERANCE, f"{unknown:.3%} of the kernel time", share=unknown)
        done = int(attention.get("product_calls", 0)) if name == "math" else int(attention.get("linked_calls", 0))
        checks.add(f"{name}: attention calls", done == forward_and_backward[0] > 0,
                   f"{forward_and_backward[0]} calls, {forward_and_backward[1]} backward; {done} of them "
                   f"{'done as products' if name == 'math' else 'with kernels'}")
    else:
        checks.add(f"{name}: nothing is guessed", forward_and_backward[0] == 0 and unknown > 0,
                   f"{forward_and_backward[0]} attention calls, {unknown:.3%} of the kernel time of unknown size", share=unknown)
        checks.note(f"{name}: FLOPs of a step", f"{flops:.6g} known")
    share = linked / calls if calls else 0
    checks.add(f"{name}: products with kernels", share >= LINKED, f"{linked} of {calls} ({share:.3%}, at least {LINKED:.0%})", share=share)


def check(library, analyze, out, programs):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "flops")
    for name in programs or (*BACKENDS, "compiled"):
        try:
            plain, _ = matrix_products.run(name, out, library, False, __file__)
            traced, recording = matrix_products.run(name, out, library, True, __file__)
            products = reported(analyze, recording)
        except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
            checks.add(f"{name}: runs", False, str(error))
            continue
        checks.add(f"{name}: hooks", traced["hooked"], "in place" if traced["hooked"] else "never came")
        judge(checks, name, traced["flops"], products)
        if name not in UNSTEADY:
            checks.add(f"{name}: same results", plain["digest"] == traced["digest"], "losses of all steps, bit by bit")
    return summary(log, out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__, "analyze")
    checking.add_argument("--program", action="append", choices=(*BACKENDS, "compiled"), help="may be repeated (default: all)")
    one = commands.add_parser("program")
    one.add_argument("name", choices=(*BACKENDS, "compiled"))
    one.add_argument("result")
    arguments = parser.parse_args()
    if arguments.command == "program":
        return program(arguments.name, arguments.result)
    return check(arguments.library, arguments.analyze, arguments.out, arguments.program)


if __name__ == "__main__":
    sys.exit(main())
