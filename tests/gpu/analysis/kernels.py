#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `analyze` says of kernels, with the real PyTorch on a GPU (see kernels.sh).

  kernels.py check --library FILE --analyze FILE --out OUT    runs the programs below and compares
  kernels.py program NAME RESULT    one of them: rate, clean, unaligned, fp32, math, single, foreach, layout

`rate` multiplies large matrices and times them with CUDA events; `clean` trains a small transformer as it should be; the others train
something with one planted slowness each.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("shared", "recording")]

from checks import Checks, command_line, summary  # noqa: E402
import matrix_products  # noqa: E402
from programs import find_cupti, find_nvcc  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# What the names of the kernels have to show; more may be true of a program with a planted slowness, but not of one without.
PLANTED = {"clean": None, "unaligned": "unaligned_products", "fp32": "fp32_products", "math": "unfused_attention",
           "single": "single_optimizer", "foreach": "foreach_optimizer", "layout": "layout_changes"}
STEPS = 8
LIMIT_S = 120
ANALYZE_LIMIT_S = 60
RATE_TOLERANCE = 0.03
FLOPS_TOLERANCE = 0.001
KNOWN_SHARE = 0.95
MATRIX = 8192
PRODUCTS = 50


def rate(torch):
    """TFLOP/s of products of large bf16 matrices, by CUDA events around all of them."""
    a, b = (torch.randn(MATRIX, MATRIX, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(5):
        a @ b
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(PRODUCTS):
        a @ b
    end.record()
    end.synchronize()
    return 2 * MATRIX**3 * PRODUCTS / (begin.elapsed_time(end) / 1e3) / 1e12


def model_of(torch, name):
    """A model, its input, the optimizer's options and whether it computes in bf16."""
    nn = torch.nn
    if name == "unaligned":
        return nn.Sequential(*[nn.Linear(2045, 2045) for _ in range(4)]), (4096, 2045), {"fused": True}, True
    if name == "fp32":
        return nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]), (4096, 2048), {"fused": True}, False
    if name == "layout":
        layers = [[nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()] for _ in range(4)]
        return nn.Sequential(*[layer for block in layers for layer in block]), (32, 64, 56, 56), {"fused": True}, True
    sys.path.insert(0, str(HERE.parents[2] / "samples" / "workloads"))
    import transformer
    options = {"single": {"foreach": False}, "foreach": {"foreach": True}}.get(name, {"fused": True})
    return nn.Sequential(*[transformer.Block(512, 8) for _ in range(4)]), (4, 256, 512), options, True


def train(torch, name):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    model, shape, options, half = model_of(torch, name)
    model.cuda()
    data = torch.randn(*shape, device="cuda")
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    with sdpa_kernel([SDPBackend.MATH if name == "math" else SDPBackend.FLASH_ATTENTION]):
        for _ in range(STEPS):
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=half):
                loss = model(data).float().square().mean()
            loss.backward()
            optimizer.step()
    torch.cuda.synchronize()


def program(name, result):
    import torch
    from python_side import wait_until_hooked
    wait_until_hooked(torch)
    measured = {"tflops_per_s": rate(torch)} if name == "rate" else train(torch, name) or {}
    pathlib.Path(result).write_text(json.dumps(measured))


def reported(analyze, recording):
    text = subprocess.run([analyze, str(recording), "--top", "1000", "--format", "json"], capture_output=True, text=True, check=True,
                          timeout=ANALYZE_LIMIT_S).stdout
    return json.loads(text)["run"]


def judge_names(checks, name, run):
    # That kernels are small does not come from their names, and may be true of any of these models.
    found = {finding["name"]: finding["share"] for finding in run.get("kernel_findings", []) if finding["name"] in PLANTED.values()}
    told = ", ".join(f"{key} {share:.1%}" for key, share in found.items()) or "nothing"
    planted = PLANTED[name]
    passed = planted in found if planted else not found
    checks.add(f"{name}: names of kernels show {planted or 'nothing'}", passed, told)
    for kernel in run["top_kernels"][:4]:
        checks.note(f"{name}: kernel", f"{kernel['share']:.1%} {kernel.get('dtype') or 'unknown'} {kernel['name'][:150]}")


def judge_work(checks, name, run):
    """Every product belongs to one kernel, and no kernel is faster than the GPU."""
    kernels = run["top_kernels"]
    flops = sum(kernel["work"]["flops"] for kernel in kernels if "work" in kernel and kernel["kernel_class"] == "gemm")
    counted = run["matrix_products"]["flops"]
    error = flops / counted - 1 if counted else 1
    checks.add(f"{name}: work of kernels", abs(error) <= FLOPS_TOLERANCE,
               f"{flops:.6g} FLOP of kernels, {counted:.6g} of calls: {error:+.3%}", error=error)
    products = [kernel for kernel in kernels if kernel["kernel_class"] == "gemm"]
    known = sum(int(kernel["work"]["kernel_ns"]) for kernel in products if "work" in kernel)
    share = known / max(1, sum(int(kernel["total_ns"]) for kernel in products))
    checks.add(f"{name}: products of known work", share >= KNOWN_SHARE, f"{share:.2%} of their time (at least {KNOWN_SHARE:.0%})",
               share=share)
    refused = [kernel["name"] for kernel in kernels if "impossible" in kernel.get("work", {}).get("peak_reason", "")]
    checks.add(f"{name}: nothing above the peak", not refused, ", ".join(refused) or "no kernel")


def judge_rate(checks, measured, run):
    kernel = max((kernel for kernel in run["top_kernels"] if "work" in kernel), key=lambda one: one["work"]["flops"], default=None)
    if kernel is None:
        return checks.add("rate: TFLOP/s", False, "no kernel has known work")
    told = kernel["work"].get("tflops_per_s", 0)
    error = told / measured["tflops_per_s"] - 1
    checks.add("rate: TFLOP/s", abs(error) <= RATE_TOLERANCE,
               f"{told:.1f} reported, {measured['tflops_per_s']:.1f} by events: {error:+.2%} (limit {RATE_TOLERANCE:.0%})", error=error)
    checks.add("rate: bound by compute", kernel["work"].get("bound") == "compute",
               f"{kernel['work'].get('flops_per_byte', 0):.0f} FLOP a byte")
    checks.note("rate: of the peak", f"{kernel['work'].get('peak_share', 0):.1%} {kernel['work'].get('peak_reason', '')}")


def judge_occupancy(checks, answered, kernels):
    """`answered`: blocks a multiprocessor by name of the kernel, as CUDA says."""
    told = {kernel["name"]: kernel["shape"].get("blocks_per_sm") for kernel in kernels}
    for name, blocks in answered.items():
        checks.add(f"occupancy: {name}", told.get(name) == blocks, f"{told.get(name)} blocks reported, {blocks} by CUDA")


def check_occupancy(checks, library, analyze, out):
    nvcc = find_nvcc()
    if not nvcc:
        return checks.skip("occupancy", "nvcc is not here; set NVCC to it")
    binary, recording = out / "occupancy", out / "occupancy.db"
    cupti = find_cupti(nvcc)
    environment = dict(os.environ, LD_PRELOAD=str(library), TRACEINJECT_OUTPUT=str(recording))
    if cupti:
        environment["TRACEINJECT_CUPTI"] = cupti
    try:
        subprocess.run([nvcc, "-std=c++17", "-O2", "-arch=native", "-o", binary, HERE / "occupancy.cu"], check=True, timeout=LIMIT_S)
        printed = subprocess.run([binary], env=environment, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        judge_occupancy(checks, json.loads(printed), reported(analyze, recording)["top_kernels"])
    except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        checks.add("occupancy: runs", False, str(error))


def check(library, analyze, out, programs):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "kernels")
    for name in programs or ("rate", *PLANTED):
        try:
            measured, recording = matrix_products.run(name, out, library, True, __file__)
            run = reported(analyze, recording)
        except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
            checks.add(f"{name}: runs", False, str(error))
            continue
        if name == "rate":
            judge_rate(checks, measured, run)
        else:
            judge_names(checks, name, run)
        if name in ("rate", "clean"):
            judge_work(checks, name, run)
    if not programs:
        check_occupancy(checks, library, analyze, out)
    return summary(log, out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__, "analyze")
    checking.add_argument("--program", action="append", choices=("rate", *PLANTED), help="may be repeated (default: all, and occupancy)")
    one = commands.add_parser("program")
    one.add_argument("name", choices=("rate", *PLANTED))
    one.add_argument("result")
    arguments = parser.parse_args()
    if arguments.command == "program":
        return program(arguments.name, arguments.result)
    return check(arguments.library, arguments.analyze, arguments.out, arguments.program)


if __name__ == "__main__":
    sys.exit(main())
