# SPDX-License-Identifier: Apache-2.0
"""What is C++ in the package: it subscribes to CUPTI with the first session, and finalizes it with the last. It loads libcupti.so from a
folder that the environment names."""

import ctypes
import itertools
import os

from builtins_of_c import builtin

library = ctypes.CDLL("libunseen_client.so")
numbers = itertools.count()
sessions = set()


def start(name, context, data, backend, mode):
    if backend == "broken":
        raise RuntimeError("Failed to execute cuptiSubscribe with error 15")
    os.environ.setdefault("FAKE_PROFILER_CUPTI", os.path.join(os.environ["TRITON_CUPTI_LIB_PATH"], "libcupti.so"))
    if backend != "instrumentation" and not sessions:
        library.profiler_start()
    number = next(numbers)
    sessions.add((number, backend))
    return number


def end(ended):
    used_cupti = any(backend != "instrumentation" for _, backend in sessions)
    sessions.difference_update(ended)
    if used_cupti and not any(backend != "instrumentation" for _, backend in sessions):
        library.profiler_stop(os.environ["FAKE_GPU_PROFILE"].encode(), True)


def finalize(session, output_format):
    end({one for one in sessions if one[0] == session})


def finalize_all(output_format):
    end(set(sessions))


start, finalize, finalize_all = (builtin(function) for function in (start, finalize, finalize_all))
