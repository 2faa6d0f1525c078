# SPDX-License-Identifier: Apache-2.0
"""The costs of try_program.py: one for each lever of TRACEINJECT_TRY, which it alone takes away."""

import gc
import os


class Trained:
    """What a program trains with, each thing as the lever about it finds it. `torch`: the stand-in in levers_torch."""

    def __init__(self, torch):
        data, nn = torch.utils.data, torch.nn
        self.torch, self.weight = torch, nn.Parameter((1, 1, 1, 1), "cuda")
        self.loader, self.with_workers = data.DataLoader(range(4)), data.DataLoader(range(4), num_workers=2)
        self.net, self.optimizer = nn.Module(self.weight), torch.optim.Adam([self.weight])
        self.parallel = nn.DistributedDataParallel(nn.Module())
        self.layout = "contiguous"

    def step(self):
        """One, without what it costs."""
        self.net(self.torch.Tensor((1, 3, 8, 8), "cuda"))
        self.torch.Tensor().backward()
        self.optimizer.step()
        if ("module", "Module", "channels_last") in self.torch.log:
            self.layout = "channels_last"
        del self.torch.log[:]


def pinned_copy_waits(it):
    it.torch.Tensor(pinned=True).to("cuda")
    return not it.torch.log.pop()[2]


def gradients_are_zeroed(it):
    it.optimizer.zero_grad(set_to_none=False)
    return not it.optimizer.set_to_none


def cache_is_emptied(it):
    try:
        it.torch.cuda.empty_cache()
    except RuntimeError:  # as the stand-in's does
        return True
    return False


def is_saved(it):
    """The weights, also where they are saved elsewhere; a file of nothing costs nothing."""
    written = it.torch.serialization.written
    del written[:]
    it.torch.save("weights", "model.pt")
    return written == ["weights"]


def is_not_loaded(library):
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return library not in maps.read()


def is_not(variable, value):
    return lambda it: os.environ.get(variable) != value


PRELOADED = "libanl.so.1"  # of glibc, and nobody loads it

# Lever -> (the value that takes the cost away, whether it is there in this step).
COSTS = {
    "num_workers": ("2", lambda it: it.loader.num_workers == 0),
    "prefetch_factor": ("4", lambda it: it.with_workers.prefetch_factor != 4),
    "persistent_workers": ("1", lambda it: not it.with_workers.persistent_workers),
    "pin_memory": ("1", lambda it: not it.loader.pin_memory),
    "start_method": ("forkserver", lambda it: it.with_workers.multiprocessing_context != "forkserver"),
    "non_blocking": ("1", pinned_copy_waits),
    "fused_optimizer": ("1", lambda it: not it.optimizer.param_groups[0]["fused"]),
    "foreach_optimizer": ("1", lambda it: not it.optimizer.param_groups[0]["foreach"]),
    "set_to_none": ("1", gradients_are_zeroed),
    "gc_freeze": ("2", lambda it: gc.get_freeze_count() == 0),
    "gc_threshold": ("0", lambda it: gc.get_threshold()[0] != 0),
    "omp_threads": ("2", is_not("OMP_NUM_THREADS", "2")),
    "cpus": (str(min(os.sched_getaffinity(0))), lambda it: len(os.sched_getaffinity(0)) != 1),
    "cuda_connections": ("8", is_not("CUDA_DEVICE_MAX_CONNECTIONS", "8")),
    "module_loading": ("EAGER", is_not("CUDA_MODULE_LOADING", "EAGER")),
    "allocator": (PRELOADED, lambda it: is_not_loaded(PRELOADED)),
    "empty_cache": ("0", cache_is_emptied),
    "alloc_conf": ("expandable_segments:True", is_not("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")),
    "matmul_precision": ("high", lambda it: it.torch.get_float32_matmul_precision() != "high"),
    "autocast": ("bf16", lambda it: not it.torch.autocast["on"]),
    "cudnn_benchmark": ("1", lambda it: not it.torch.backends.cudnn.benchmark),
    "sdpa": ("flash", lambda it: it.torch.backends.on["cudnn"]),
    "compile": ("default", lambda it: not it.net._compiled_call_impl),
    "channels_last": ("1", lambda it: it.layout != "channels_last"),
    "ddp_bucket_mb": ("50", lambda it: it.parallel.given[1] != 50),
    "ddp_bucket_view": ("1", lambda it: not it.parallel.given[2]),
    "ddp_static_graph": ("1", lambda it: not it.parallel.given[3]),
    "checkpoints": ("none", is_saved),
    "env.NCCL_P2P_DISABLE": ("", lambda it: "NCCL_P2P_DISABLE" in os.environ),
}
