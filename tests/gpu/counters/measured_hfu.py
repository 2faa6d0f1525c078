#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HFU by counters against counted FLOPs, see measured_hfu.sh.

  measured_hfu.py check --library LIB --analyze ANALYZE --out OUT [--seconds S] [--program NAME]...
  measured_hfu.py program NAME RESULT [--seconds S]     one of them; writes FLOPs and time of a step as JSON

FLOPs are counted on the eager model. Attention is not causal: the counter counts all pairs, kernels leave half of them out.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[1:1] = [str(ROOT / "tests" / "gpu" / "shared"), str(ROOT / "samples" / "workloads")]

from checks import Checks, command_line, summary  # noqa: E402

LIMIT_S = 120
TOLERANCE = 0.03
WARM_S = 5  # counters have begun by then: a trial of a set takes a second or two


def trained(torch, forward, parameters):
    optimizer = torch.optim.AdamW(parameters, lr=1e-5, fused=True)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = forward().float().square().mean()
        loss.backward()
        optimizer.step()
    return step


def transformer(torch, compiled):
    import transformer as workload
    blocks = torch.nn.Sequential(*(workload.Block(2048, 16, causal=False) for _ in range(6))).cuda()
    data = torch.randn(8, 2048, 2048, device="cuda")
    called = torch.compile(blocks) if compiled else blocks
    return trained(torch, lambda: called(data), blocks.parameters()), trained(torch, lambda: blocks(data), blocks.parameters())


def vision(torch, name, batch, **layout):
    import torchvision
    torch.backends.cudnn.benchmark = True
    model = getattr(torchvision.models, name)().cuda().to(**layout)
    images = torch.randn(batch, 3, 224, 224, device="cuda").to(**layout)
    step = trained(torch, lambda: model(images), model.parameters())
    return step, step


def attention(torch):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    inputs = [torch.randn(8, 16, 4096, 128, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
    gradient = torch.randn_like(inputs[0])

    def step():
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
            torch.autograd.grad(torch.nn.functional.scaled_dot_product_attention(*inputs), inputs, gradient)
    return step, step


def fp8(torch):
    size = 8192
    a, b = (torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    scale = torch.ones((), device="cuda")

    def step():
        for _ in range(8):
            torch._scaled_mm(a, b.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16, use_fast_accum=True)
    return step, step


PROGRAMS = {
    "transformer": lambda torch: transformer(torch, False),
    "transformer compiled": lambda torch: transformer(torch, True),
    "vision transformer": lambda torch: vision(torch, "vit_b_16", 128),
    "resnet channels last": lambda torch: vision(torch, "resnet50", 256, memory_format=torch.channels_last),
    "resnet": lambda torch: vision(torch, "resnet50", 256),
    "attention": attention,
    "fp8": fp8,
}
# Operations a second, in those of bf16: that of the operands which nearly all products of the program have.
RATES = {"fp8": 2}


def program(name, result, seconds):
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    torch.manual_seed(1)
    step, eager = PROGRAMS[name](torch)
    with FlopCounterMode(display=False) as counter:
        eager()
    begin = time.monotonic()
    while time.monotonic() - begin < WARM_S:
        step()
        torch.cuda.synchronize()
    count, start = 0, time.time_ns()
    while time.time_ns() - start < seconds * 1e9:
        for _ in range(4):
            with torch.cuda.nvtx.range(f"step {count}"):
                step()
            count += 1
        torch.cuda.synchronize()
    end = time.time_ns()
    pathlib.Path(result).write_text(json.dumps({"flops": counter.get_total_flops(), "steps": count, "step_ns": (end - start) / count}))


def judge(checks, name, counted, report):
    device = report["devices"][0]
    measured, peak = device.get("measured_use", {}).get("peak_share"), device["peaks"]["bf16_tflops"] * 1e12
    rate = counted["flops"] / counted["step_ns"] * 1e9
    expected = rate / peak / RATES.get(name, 1)
    if measured is None:
        return checks.add(name, False, f"nothing measured: {device.get('measured_use')}")
    difference = measured / expected - 1
    flops = device.get("measured_use", {}).get("tflops_per_s")
    checks.add(name, abs(difference) <= TOLERANCE, f"HFU {measured:.2%} measured, {expected:.2%} counted ({rate / 1e12:.1f} TFLOP/s): {difference:+.2%}"
               f"{f', {flops:.1f} TFLOP/s measured' if flops else ''}", measured=measured, expected=expected)


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / "outcomes.jsonl"
    log.write_text("")
    checks = Checks(log, "hfu")
    for name in options.program or PROGRAMS:
        stem = name.replace(" ", "_")
        result, recording = options.out / f"{stem}.json", options.out / f"{stem}.db"
        recording.unlink(missing_ok=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACEINJECT")}
        environment |= {"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": str(recording), "TRACEINJECT_COUNTERS": "1"}
        try:
            subprocess.run([sys.executable, __file__, "program", name, str(result), "--seconds", str(options.seconds)], env=environment, check=True,
                           timeout=LIMIT_S)
            told = subprocess.run([options.analyze, recording, "--format", "json", "--top", "1000"], check=True, capture_output=True, text=True, timeout=LIMIT_S)
            (options.out / f"{stem}.report.json").write_text(told.stdout)
            judge(checks, name, json.loads(result.read_text()), json.loads(told.stdout))
        except (subprocess.SubprocessError, OSError, KeyError, IndexError, ValueError) as error:
            checks.add(f"{name}: runs", False, f"{type(error).__name__}: {error}")
    return summary(log, options.out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__, "analyze")
    one = commands.add_parser("program")
    one.add_argument("name", choices=PROGRAMS)
    one.add_argument("result")
    for command in (checking, one):
        command.add_argument("--seconds", type=float, default=3, help="of the measured steps (default: 3)")
    checking.add_argument("--program", action="append", choices=PROGRAMS, help="may be repeated (default: all)")
    options = parser.parse_args()
    if options.command == "program":
        return program(options.name, options.result, options.seconds)
    return check(options)


if __name__ == "__main__":
    sys.exit(main())
