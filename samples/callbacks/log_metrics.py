# SPDX-License-Identifier: Apache-2.0
"""Figures of `analyze serve` beside the loss curve, in whatever draws that.

  log = LogMetrics(SummaryWriter().add_scalar)                                # TensorBoard
  log = LogMetrics(lambda name, value, step: wandb.log({name: value}, step))  # Weights & Biases
  ...
  log(step)  # in the loop, on rank 0; asks at most every ten seconds, and not in the training thread
"""

import re
import threading
import time
import urllib.request

WANTED = "step_seconds|step_data_wait_seconds|gpu_busy_ratio|communication_to_compute_ratio|mfu_ratio|verdict_saved_seconds"


class LogMetrics:
    def __init__(self, log, address="127.0.0.1:9464", wanted=WANTED, every_s=10):
        self.log, self.url, self.every_s, self.next = log, f"http://{address}/metrics", every_s, 0
        self.line = re.compile(rf"^(traceinject_(?:{wanted}))(?:\{{(.*)\}})? (\S+)$", re.MULTILINE)

    def __call__(self, step):
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + self.every_s
            threading.Thread(target=self.ask, args=(step,), daemon=True).start()

    def ask(self, step):
        try:
            text = urllib.request.urlopen(self.url, timeout=5).read().decode()
        except OSError:  # no server yet, or no more: training goes on
            return
        for name, labels, value in self.line.findall(text):
            place = "/".join(re.findall(r'\b(?:rank|gpu)="(\w+)"', labels))
            self.log(f"{name}/{place}" if place else name, float(value), step)
