# SPDX-License-Identifier: Apache-2.0
"""Stands in for Ray Train's trainer. Each worker is a process without the LD_PRELOAD of its parents and with the runtime environment;
its rank is set in it once it runs.
"""

import os
import pathlib
import subprocess
import sys

import ray

WORKER = """
import os, runpy, sys
rank, size, script, function = sys.argv[1:]
os.environ.update(RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=size, LOCAL_WORLD_SIZE=size, MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
runpy.run_path(script)[function]()
"""


class TorchTrainer:
    def __init__(self, function, scaling_config):
        self.function, self.scaling = function, scaling_config

    def fit(self):
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        environment.update(ray.env_vars)
        if not self.scaling.use_gpu:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        script, size = str(pathlib.Path(sys.argv[0]).resolve()), self.scaling.num_workers
        workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(rank), str(size), script, self.function.__name__], env=environment)
                   for rank in range(size)]
        if any([worker.wait() for worker in workers]):
            raise RuntimeError("a worker failed")
