// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/levers.h"

#include <algorithm>

#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

constexpr std::string_view kTuning =
    "PyTorch Performance Tuning Guide, pytorch.org/tutorials/recipes/recipes/tuning_guide.html";
constexpr std::string_view kDataDoc = "docs.pytorch.org/docs/stable/data.html";
constexpr std::string_view kCudaDoc = "docs.pytorch.org/docs/stable/notes/cuda.html";
constexpr std::string_view kDdpDoc =
    "docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html";
constexpr std::string_view kCheckpointDoc =
    "docs.pytorch.org/docs/stable/distributed.checkpoint.html";

bool PinsMemory(const Rank& rank) {
  return !rank.loaders.empty() &&
         std::all_of(rank.loaders.begin(), rank.loaders.end(),
                     [](const DataLoader& loader) { return loader.pin_memory; });
}

// Its kernels tell.
bool FusesOptimizer(const Rank& rank) {
  return std::any_of(rank.shapes.begin(), rank.shapes.end(), [&](const KernelShape& shape) {
    return shape.kernel_class == KernelClass::kOptimizer &&
           MatchesAny(rank.string(shape.name), "multi_tensor_apply*Fused");
  });
}

constexpr LeverRow kLevers[] = {
    {"dataloader", "DataLoader(num_workers=N)",
     "load batches in worker processes while the GPU computes; raise N until the wait is gone",
     kTuning, nullptr, WorkersOf},
    {"dataloader", "DataLoader(prefetch_factor=4, persistent_workers=True)",
     "more batches in store evens out slow ones; workers survive the end of an epoch", kDataDoc,
     nullptr, PrefetchingOf},
    {"dataloader", "DataLoader(pin_memory=True)",
     "batches arrive in memory that the GPU can copy from without the host", kDataDoc, PinsMemory,
     PinningOf},
    {"dataloader", "decoding and augmentation",
     "do less per sample: smaller or packed files, decoding on the GPU (NVIDIA DALI), cached "
     "results",
     "docs.nvidia.com/deeplearning/dali"},
    {"h2d_copy", "DataLoader(pin_memory=True)",
     "copies from pinned memory run at the speed of the link; from pageable memory the driver "
     "copies twice",
     kCudaDoc, PinsMemory, PinningOf},
    {"h2d_copy", "tensor.to(device, non_blocking=True)",
     "with pinned memory the host goes on launching during the copy", kCudaDoc},
    {"h2d_copy", "copy the next batch on a stream of its own",
     "the copy then runs while the GPU computes the batch before", kCudaDoc},
    {"sync_bound", ".item(), .cpu(), print(tensor), tensor.tolist()",
     "each waits for the GPU: keep values on the device, fetch them every N steps", kTuning},
    {"sync_bound", "masks, nonzero(), boolean indexing",
     "their shapes are known only on the device: use torch.where or fixed shapes", kTuning},
    {"sync_bound", "torch.cuda.set_sync_debug_mode(\"warn\")",
     "names each line that waits for the GPU",
     "docs.pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html"},
    {"allocator", "torch.cuda.empty_cache()",
     "take it out of the loop: what it frees is allocated again in the next step, and freeing "
     "waits "
     "for the GPU",
     kCudaDoc},
    {"allocator", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "sizes that change no longer fragment the cache, so less is freed and allocated", kCudaDoc},
    {"allocator", "fixed shapes", "pad to few sizes, so that cached blocks fit", kTuning},
    {"checkpoint", "torch.distributed.checkpoint.async_save",
     "copies to host memory, then writes while training goes on", kCheckpointDoc},
    {"checkpoint", "sharded checkpoints", "each rank writes its own part at the same time",
     kCheckpointDoc},
    {"checkpoint", "the number of steps between checkpoints",
     "their cost is spread over the steps between them", kCheckpointDoc},
    {"gc_pause", "gc.freeze() after setting up",
     "objects that live for ever are no longer looked at in each collection",
     "docs.python.org/3/library/gc.html"},
    {"gc_pause", "gc.disable(), then gc.collect() every N steps",
     "collections come when chosen, at the same time on all ranks",
     "docs.python.org/3/library/gc.html"},
    {"launch_bound", "torch.compile(model)", "fuses small kernels into few: less to launch",
     kTuning},
    {"launch_bound", "CUDA graphs: torch.compile(mode=\"reduce-overhead\"), torch.cuda.graph",
     "a whole step is launched by one call", kCudaDoc},
    {"launch_bound", "optimizer with fused=True",
     "one kernel for many parameters instead of several for each",
     "docs.pytorch.org/docs/stable/optim.html", FusesOptimizer},
    {"launch_bound", "larger batches", "the same launches do more work", kTuning},
    {"comm_exposed", "DistributedDataParallel(bucket_cap_mb=...)",
     "buckets of 25 to 100 MB start early enough to overlap the backward pass and are large enough "
     "for full bandwidth",
     kDdpDoc, nullptr, BucketsOf},
    {"comm_exposed", "no_sync() during gradient accumulation",
     "communicates once per optimizer step instead of once per backward pass", kDdpDoc},
    {"comm_exposed", "gradient compression: fp16_compress_hook, bf16_compress_hook",
     "half the bytes", "docs.pytorch.org/docs/stable/ddp_comm_hooks.html"},
};

}  // namespace

std::vector<LeverRow> LeversOf(std::string_view label, const Rank& rank) {
  std::vector<LeverRow> levers;
  for (const LeverRow& lever : kLevers) {
    if (lever.label == label && (lever.is_set == nullptr || !lever.is_set(rank)))
      levers.push_back(lever);
  }
  return levers;
}

}  // namespace traceinject
