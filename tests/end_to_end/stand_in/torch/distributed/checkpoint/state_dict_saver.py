# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import functools
import time

import torch


def _logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@_logged
def save(state, *, checkpoint_id):
    """Docs of the distributed save."""
    time.sleep(0.02)
    torch.save(state, checkpoint_id)
    return checkpoint_id


@_logged
def async_save(state, *, checkpoint_id):
    time.sleep(0.01)  # what blocks
    executor = concurrent.futures.ThreadPoolExecutor(max_workers=1)
    return executor.submit(save, state, checkpoint_id=checkpoint_id)
