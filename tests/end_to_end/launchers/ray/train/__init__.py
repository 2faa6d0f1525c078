# SPDX-License-Identifier: Apache-2.0
"""Stands in for Ray Train."""


class ScalingConfig:
    def __init__(self, num_workers, use_gpu=False):
        self.num_workers, self.use_gpu = num_workers, use_gpu
