#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports PyTorch and the workload once, then runs the workload in forked children, one after another, as it is told on stdin.

A request is one line of JSON: {"runs": [arguments, ...], "environment": {name: value, or null to unset}, "output": file}; the child
runs the workload once with each arguments, and the answer is one line with its exit code. What the child prints goes to `output`.
Children have the same memory layout and the same loaded libraries, so they differ far less in speed than processes that were
started apart; CUDA is first touched in the child. Started with LD_PRELOAD, its children are recorded like any program.
"""

import contextlib
import gc
import json
import os
import runpy
import sys
import traceback


def become(request, workload):
    for name, value in request["environment"].items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for arguments in request["runs"]:
        sys.argv = [workload] + arguments
        runpy.run_path(workload, run_name="__main__")
        gc.collect()  # a model holds itself by cycles; the next run gets its memory


def main():
    workload = sys.argv[1]
    answers = os.fdopen(os.dup(1), "w")
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # so that no import asks CUDA itself, which no child could use then
    import torch  # noqa: F401  what all children share
    with contextlib.suppress(ImportError):
        import torch._dynamo  # noqa: F401  what the first optimizer would import, for seconds
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                become(json.loads(line), workload)
            except Exception:
                traceback.print_exc()
                sys.exit(1)
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


if __name__ == "__main__":
    main()
