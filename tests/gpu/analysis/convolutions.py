#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what is recorded of convolutions on a GPU, with the real PyTorch and cuDNN (see convolutions.sh).

  convolutions.py check --library FILE --out OUT    runs the programs below and compares
  convolutions.py program NAME RESULT               one of them; writes what it counted as JSON

A program trains a small network of convolutions of many kinds for some steps inside NVTX ranges, then counts the FLOPs of one more step
with torch.utils.flop_counter. Depthwise ones are left out: PyTorch computes some of them without cuDNN.
The programs run several at a time: nothing here depends on how long they take.
"""

import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402
import matrix_products  # noqa: E402

PROGRAMS = ("bf16", "bf16_channels_last", "fp16", "fp32", "fp32_channels_last", "compiled")
COUNTED = ("convolution", "_convolution", "cudnn_convolution", "convolution_backward")
AT_ONCE = 4


def build(torch, name):
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    layers = [
        torch.nn.Conv2d(3, 64, 7, stride=2, padding=3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(64, 64, 3, padding=1),
        torch.nn.BatchNorm2d(64),
        torch.nn.Conv2d(64, 128, 1),
        torch.nn.Conv2d(128, 128, 3, padding=2, dilation=2),
        torch.nn.Conv2d(128, 128, 3, padding=1, groups=8),
        torch.nn.ConvTranspose2d(128, 64, 2, stride=2),
        torch.nn.Flatten(2),
        torch.nn.Conv1d(64, 32, 9, stride=4),
    ]
    network = torch.nn.Sequential(*layers).cuda()
    volume = torch.nn.Conv3d(4, 8, 3, padding=1).cuda()
    images, cubes = torch.randn(16, 3, 112, 112, device="cuda"), torch.randn(4, 4, 24, 24, 24, device="cuda")
    if name.endswith("channels_last"):
        images = images.to(memory_format=torch.channels_last)
        network = network.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD([*network.parameters(), *volume.parameters()], lr=1e-4)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "compiled": torch.bfloat16}.get(name.partition("_")[0])
    forward = torch.compile(network) if name == "compiled" else network

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=kind, enabled=kind is not None):
            loss = forward(images).float().square().mean() + volume(cubes).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def backward_flops(output_gradient, x, weight, _bias, _stride, _padding, _dilation, transposed, _output_padding, _groups, wanted, **_):
    """Of each gradient that is wanted, as many as of the forward pass: two for each weight of the filters, at each place they are put to.
    flop_counter's own formula (up to 2.11) overlooks groups in the gradient of the weights: of a convolution in 8 groups it counts 8 times
    as many. Here that is one layer of eight, and 16 % of all."""
    places = math.prod((x if transposed else output_gradient)[2:])
    return 2 * x[0] * math.prod(weight) * places * sum(wanted[:2])


def program(name, result):
    import torch
    formulas = {torch.ops.aten.convolution_backward: backward_flops}
    pathlib.Path(result).write_text(json.dumps(matrix_products.measure(torch, build(torch, name), name != "compiled", formulas)))


def check(library, out):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "convolutions")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {name: [pool.submit(matrix_products.run, name, out, library, traced, __file__) for traced in (False, True)]
                for name in PROGRAMS}
    for name, (plain_run, traced_run) in runs.items():
        try:
            (plain, _), (traced, recording) = plain_run.result(), traced_run.result()
        except (subprocess.SubprocessError, OSError) as error:
            checks.add(f"{name}: runs", False, str(error))
            continue
        counted = {"mm": sum(traced["flops"].get(operator, 0) for operator in COUNTED)}
        matrix_products.judge(checks, name, counted, *matrix_products.recorded(recording))
        checks.add(f"{name}: same results", plain["digest"] == traced["digest"], "losses of all steps, bit by bit")
    return summary(log, out / "results.json")


def main():
    parser, commands, _ = command_line(__doc__)
    one = commands.add_parser("program")
    one.add_argument("name", choices=PROGRAMS)
    one.add_argument("result")
    arguments = parser.parse_args()
    if arguments.command == "program":
        return program(arguments.name, arguments.result)
    return check(arguments.library, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
