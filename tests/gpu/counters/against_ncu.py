#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of kernels against Nsight Compute, see against_ncu.sh.

  against_ncu.py check --library LIB --analyze ANALYZE --out OUT [--seconds S] [--interval-us US]
  against_ncu.py program [--seconds S]      the kernels, each for so long; without --seconds each once, between cudaProfilerStart and -Stop
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks, full_path, summary  # noqa: E402
from run_db import demangle  # noqa: E402

LIMIT_S = 200
PEAK = ".avg.pct_of_peak_sustained_elapsed"
DURATION = "gpu__time_duration.sum"
# Ours by ncu's. The judged ones first.
METRICS = {
    "tensor_active": "sm__pipe_tensor_cycles_active" + PEAK,
    "tensor_hmma_active": "sm__pipe_tensor_op_hmma_cycles_active" + PEAK,
    "dram_read": "dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
    "dram_write": "dram__bytes_write.sum.pct_of_peak_sustained_elapsed",
    "dram_active": "dram__throughput" + PEAK,
    "sm_active": "sm__cycles_active" + PEAK,
    "warps_active": "sm__warps_active" + PEAK,
}
NOT_JUDGED = ("sm_active", "warps_active")
# Kernels of at least so many ns: points by which they may differ.
LIMITS = ((200_000, 5), (30_000, 10))
LEAST_KERNELS = 12


def cases(torch):
    """What to call, by name."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    functional = torch.nn.functional

    def tensor(*shape, dtype=torch.bfloat16, grad=False):
        return torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=grad)

    found = {}
    for name, size, dtype, tf32 in (("product bf16 8192", 8192, torch.bfloat16, False), ("product fp16 4096", 4096, torch.float16, False),
                                    ("product tf32 4096", 4096, torch.float32, True), ("product fp32 4096", 4096, torch.float32, False),
                                    ("product bf16 2048", 2048, torch.bfloat16, False)):
        def product(a=tensor(size, size, dtype=dtype), b=tensor(size, size, dtype=dtype), tf32=tf32):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            torch.mm(a, b)
        found[name] = product

    query, key, value = (tensor(8, 16, 4096, 64, grad=True) for _ in range(3))
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
        attended = functional.scaled_dot_product_attention(query, key, value)
    gradient = torch.randn_like(attended)

    def attention():
        with torch.no_grad(), sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
            functional.scaled_dot_product_attention(query, key, value)
    found["attention"] = attention
    found["attention backward"] = lambda: torch.autograd.grad(attended, (query, key, value), gradient, retain_graph=True)

    images = tensor(64, 256, 56, 56).to(memory_format=torch.channels_last)
    filters = tensor(256, 256, 3, 3).to(memory_format=torch.channels_last)
    answer = torch.randn_like(functional.conv2d(images, filters, padding=1))
    found["convolution"] = lambda: functional.conv2d(images, filters, padding=1)
    for name, mask in (("convolution backward to data", [True, False, False]), ("convolution backward to filters", [False, True, False])):
        found[name] = lambda mask=mask: torch.ops.aten.convolution_backward(answer, images, filters, None, [1, 1], [1, 1], [1, 1], False,
                                                                            [0, 0], 1, mask)

    wide, rows = tensor(1 << 27), tensor(16384, 4096)
    chain = torch.compile(lambda x: functional.gelu(x * 2 + 1) * x)
    softmax = torch.compile(lambda x: torch.softmax(x.float(), -1).to(x.dtype))
    found["compiled chain"] = lambda: chain(wide)
    found["compiled softmax"] = lambda: softmax(rows)
    found["layer norm"] = lambda: functional.layer_norm(rows, (4096,))
    found["sum"] = lambda: torch.sum(wide, dtype=torch.float32)
    found["addition"] = lambda: torch.add(wide, wide)
    parameter = torch.nn.Parameter(tensor(1 << 26, dtype=torch.float32))
    parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW([parameter], fused=True)
    found["optimizer"] = optimizer.step
    return found


def play(seconds):
    import torch
    calls = cases(torch)
    for call in calls.values():
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    if seconds is None:
        torch.cuda.profiler.start()
        for call in calls.values():
            call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        return
    begin = time.monotonic()  # counters have begun by then: a trial of a set takes a second or two
    while time.monotonic() - begin < 5:
        time.sleep(0.02)
        torch.zeros(1, device="cuda")
    for call in calls.values():
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            for _ in range(4):
                call()
            torch.cuda.synchronize()
        time.sleep(0.02)


def known_metrics():
    listed = subprocess.run(["ncu", "--query-metrics", "--query-metrics-collection", "profiling"], capture_output=True, text=True, timeout=LIMIT_S).stdout
    names = {line.split()[0] for line in listed.splitlines() if line[:1].isalpha()}
    return {ours: theirs for ours, theirs in METRICS.items() if theirs.partition(".")[0] in names}


def measured_by_ncu(options, metrics):
    """By kernel name: [ns, {ours: share}] of each launch."""
    table = options.out / "ncu.csv"
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled", "--profile-from-start", "off",
               "--clock-control", "none", "--cache-control", "none", "--metrics", ",".join([DURATION, *metrics.values()]), sys.executable, __file__, "program"]
    with open(table, "w") as out, open(options.out / "ncu.log", "w") as log:
        subprocess.run(command, stdout=out, stderr=log, timeout=LIMIT_S, check=True)
    lines = [line for line in table.read_text().splitlines() if line.startswith('"')]
    found = {}
    for row in csv.DictReader(lines):
        if not row["ID"]:
            continue  # the line of units
        shares = {ours: float(row[theirs].replace(",", "")) / 100 for ours, theirs in metrics.items() if row.get(theirs, "").replace(",", "").replace(".", "").isdigit()}
        found.setdefault(demangle(row["Kernel Name"]), []).append((float(row[DURATION].replace(",", "")), shares))
    return found


def recorded(options):
    path = options.out / f"kernels_{options.interval_us}.db"
    for left in options.out.glob(f"{path.stem}.db*"):
        left.unlink()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACEINJECT")}
    environment |= {"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": str(path), "TRACEINJECT_COUNTERS": "1",
                    "TRACEINJECT_COUNTERS_US": options.interval_us}
    subprocess.run([sys.executable, __file__, "program", "--seconds", str(options.seconds)], env=environment, timeout=LIMIT_S, check=True)
    report = subprocess.run([options.analyze, path, "--all", "--format", "json", "--top", "1000"], stdout=subprocess.PIPE, text=True, check=True).stdout
    path.with_suffix(".json").write_text(report)
    return {kernel["name"]: kernel for kernel in json.loads(report)["devices"][0]["top_kernels"]}


def compare(checks, theirs, ours):
    """Kernels that ncu saw once, or always with about the same duration."""
    compared = 0
    for name, launches in sorted(theirs.items(), key=lambda item: -item[1][0][0]):
        duration, shares = launches[0]
        limit = next((points for least, points in LIMITS if duration >= least), None)
        if limit is None or any(abs(other / duration - 1) > 0.1 for other, _ in launches):
            continue
        kernel = ours.get(name)
        values = {value["name"]: value for value in (kernel or {}).get("counters", {}).get("values", [])}
        if not values:
            checks.add(name[:60], False, f"{duration / 1e3:.0f} us; no counters{'' if kernel else ': not recorded'}")
            continue
        compared += 1
        told, worst = [], 0
        for counter in METRICS:
            if counter not in values or counter not in shares:
                continue
            share, error = values[counter].get("share", 0), values[counter].get("error", 0)
            told.append(f"{counter} {share:.1%} ± {error:.1%} (ncu {shares[counter]:.1%})")
            if counter not in NOT_JUDGED:
                worst = max(worst, 100 * abs(share - shares[counter]))
        checks.add(name[:60], worst <= limit, f"{duration / 1e3:.0f} us, ours {float(kernel['mean_ns']) / 1e3:.0f}; {'; '.join(told)}; worst {worst:.1f} points of {limit}",
                   duration_ns=duration, worst_points=worst)
    checks.add("kernels", compared >= LEAST_KERNELS, f"{compared} compared, at least {LEAST_KERNELS}")


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes = options.out / "outcomes.jsonl"
    outcomes.write_text("")
    checks = Checks(outcomes, "counters")
    ours = recorded(options)
    metrics = known_metrics()
    if missing := METRICS.keys() - metrics.keys():
        checks.note("ncu", f"has no metric for {', '.join(sorted(missing))}")
    compare(checks, measured_by_ncu(options, metrics), ours)
    return summary(outcomes, options.out / "results.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("program")
    playing.add_argument("--seconds", type=float)
    checking = commands.add_parser("check")
    for name in ("library", "analyze", "out"):
        checking.add_argument(f"--{name}", type=full_path, required=True)
    checking.add_argument("--seconds", type=float, default=0.6, help="of each kernel (default: 0.6)")
    checking.add_argument("--interval-us", default="auto", help="TRACEINJECT_COUNTERS_US (default: auto)")
    options = parser.parse_args()
    return play(options.seconds) if options.command == "program" else check(options)


if __name__ == "__main__":
    sys.exit(main())
