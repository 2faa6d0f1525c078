# SPDX-License-Identifier: Apache-2.0
"""Ray Train: `python3 ray_train.py` runs the `main` of train.py on each of GPUS workers."""

import os

import ray
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer

KIT = os.environ.get("KIT", "/opt/traceinject")
RESULTS = os.environ.get("RESULTS", "/results")
GPUS = int(os.environ.get("GPUS", "8"))


def train_worker():
    import train  # here, so that no process but the workers uses a GPU

    train.main()


if __name__ == "__main__":
    # Not in the environment of `ray start`: Ray takes LD_PRELOAD from its workers, and then sets what the runtime environment has.
    ray.init(runtime_env={"env_vars": {"LD_PRELOAD": f"{KIT}/libtraceinject.so", "TRACEINJECT_OUTPUT": f"{RESULTS}/run.db"}})
    TorchTrainer(train_worker, scaling_config=ScalingConfig(num_workers=GPUS, use_gpu=True)).fit()
