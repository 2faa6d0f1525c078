# SPDX-License-Identifier: Apache-2.0
"""Traces as torch.profiler writes them with with_stack=True and record_shapes=True, of a made-up program: `TorchTrace(seed).write(path)`.

Functions of the program call functions of libraries, which launch; autograd launches on a thread of its own, without Python.
"""

import json
import random

PID, MAIN, AUTOGRAD = 4242, 4242, 4250
LAYERS = [("model.py", 30 + 10 * number, f"layer_{number}") for number in range(8)]
AUGMENT = ("train.py", 88, "augment")
OPERATORS = {"aten::addmm": "AddmmBackward0", "aten::gelu": "GeluBackward0", "aten::layer_norm": "NativeLayerNormBackward0"}


class TorchTrace:
    def __init__(self, seed, steps=12, augment_us=4000):
        self.chance, self.events, self.kernel_us = random.Random(seed), [], {}
        self.now, self.gpu, self.python, self.correlation, self.sequence = 1000.0, 0.0, 0, 0, 0
        # Some layers have much more to do than others.
        self.weights = [self.chance.choice((20, 60, 200, 500)) for _ in LAYERS]
        with self.function("train.py", 1, "<module>"):
            with self.function("train.py", 120, "main"):
                for step in range(steps):
                    self.step(step, augment_us)
        self.event("Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", 0, self.gpu + 100)

    def event(self, category, name, pid, tid, start, length, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3), "dur": round(length, 3),
                            "args": arguments})

    class Scope:
        def __init__(self, trace, category, name, tid, **arguments):
            self.trace, self.what, self.tid, self.arguments = trace, (category, name), tid, arguments

        def __enter__(self):
            self.start = self.trace.now
            self.trace.now += 2

        def __exit__(self, *_):
            self.trace.event(*self.what, PID, self.tid, self.start, self.trace.now - self.start, **self.arguments)
            self.trace.now += 1

    def function(self, file, line, name):
        self.python += 1
        return self.Scope(self, "python_function", f"{file}({line}): {name}" if file else name, MAIN, **{"Python id": self.python})

    def operator(self, name, tid, forward=0, **arguments):
        return self.Scope(self, "cpu_op", name, tid, **{"Sequence number": self.sequence, "Fwd thread id": forward, **arguments})

    def launch(self, tid, us, function):
        """A kernel of the line of this function."""
        self.correlation += 1
        us *= self.chance.uniform(0.9, 1.1)
        self.event("cuda_runtime", "cudaLaunchKernel", PID, tid, self.now, 4, correlation=self.correlation)
        self.gpu = max(self.gpu, self.now + 8)
        self.event("kernel", f"gemm_{round(us / 100)}", 0, 7, self.gpu, us, device=0, context=1, stream=7, correlation=self.correlation,
                   grid=[132, 1, 1], block=[256, 1, 1])
        self.gpu += us + 1
        self.now += 5
        if function:
            self.kernel_us[function] = self.kernel_us.get(function, 0) + us

    def step(self, number, augment_us):
        begin = self.now
        with self.function(*AUGMENT), self.function("", 0, "<built-in method choice of numpy.random.mtrand.RandomState object at 0x7f21>"):
            self.now += augment_us
        graph = []
        for (file, line, name), weight in zip(LAYERS, self.weights):
            with self.function(file, line, name):
                for operator in self.chance.sample(sorted(OPERATORS), 2):
                    self.sequence += 1
                    graph.append((self.sequence, OPERATORS[operator], name, weight))
                    with self.function("torch/nn/modules/module.py", 1511, "_call_impl"), self.function("", 0, "nn.Module: Linear_0"):
                        with self.operator(operator, MAIN, **{"Input Dims": [[64, 512], [512, 512]]}):
                            self.launch(MAIN, weight, name)
        with self.function("torch/_tensor.py", 430, "backward"):
            with self.function("", 0, "<built-in method run_backward of torch._C._EngineBase object at 0x7f22>"):
                for self.sequence, operator, name, weight in reversed(graph):
                    with self.operator(f"autograd::engine::evaluate_function: {operator}", AUTOGRAD, 1):
                        with self.operator(operator, AUTOGRAD, 1):
                            self.launch(AUTOGRAD, 2 * weight, name)
                self.sequence = graph[-1][0]
        with self.function("torch/optim/adamw.py", 200, "step"):
            self.launch(MAIN, 50, "main")
        self.event("cuda_runtime", "cudaStreamSynchronize", PID, MAIN, self.now, max(0, self.gpu - self.now), correlation=0)
        self.now = max(self.now, self.gpu) + 5
        self.event("user_annotation", f"ProfilerStep#{number}", PID, MAIN, begin, self.now - begin)

    def write(self, path):
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                                    "traceEvents": self.events}))
