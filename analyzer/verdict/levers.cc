// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/levers.h"

#include <algorithm>

#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/what_if/pinned_uploads.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

bool HasComputeCapability(const Rank& rank, int least) {
  return std::any_of(rank.devices.begin(), rank.devices.end(), [&](const Device& device) {
    return device.ops.size() > 0 && device.cc_major.value_or(least) >= least;
  });
}
bool HasNoTf32(const Rank& rank) { return !HasComputeCapability(rank, 8); }
bool HasBf16(const Rank& rank) { return HasComputeCapability(rank, 8); }

bool PinsMemory(const Rank& rank) {
  return !rank.loaders.empty() &&
         std::all_of(rank.loaders.begin(), rank.loaders.end(),
                     [](const DataLoader& loader) { return loader.pin_memory; });
}

bool PinsUploads(const Rank& rank) { return PinsMemory(rank) || UploadsFromPinned(rank); }

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
     documents::kTuningByName, nullptr, WorkersOf},
    {"dataloader", "DataLoader(prefetch_factor=4, persistent_workers=True)",
     "more batches in store evens out slow ones; workers survive the end of an epoch",
     documents::kTorchData, nullptr, PrefetchingOf},
    {"dataloader", "DataLoader(pin_memory=True)",
     "batches arrive in memory that the GPU can copy from without the host", documents::kTorchData,
     PinsMemory, PinningOf},
    {"dataloader", "decoding and augmentation",
     "do less per sample: smaller or packed files, decoding on the GPU (NVIDIA DALI), cached "
     "results",
     documents::kDali},
    {"h2d_copy", "DataLoader(pin_memory=True)",
     "copies from pinned memory run at the speed of the link; from pageable memory the driver "
     "copies twice",
     documents::kTorchCuda, PinsUploads, PinningOf},
    {"h2d_copy", "tensor.to(device, non_blocking=True)",
     "with pinned memory the host goes on launching during the copy", documents::kTorchCuda,
     UploadsFromPinned},
    {"h2d_copy", "copy the next batch on a stream of its own",
     "the copy then runs while the GPU computes the batch before", documents::kTorchCuda},
    {"sync_bound", ".item(), .cpu(), print(tensor), tensor.tolist()",
     "each waits for the GPU: keep values on the device, fetch them every N steps",
     documents::kTuningByName},
    {"sync_bound", "masks, nonzero(), boolean indexing",
     "their shapes are known only on the device: use torch.where or fixed shapes",
     documents::kTuningByName},
    {"sync_bound", "torch.cuda.set_sync_debug_mode(\"warn\")",
     "names each line that waits for the GPU", documents::kSyncDebug},
    {"allocator", "torch.cuda.empty_cache()",
     "take it out of the loop: what it frees is allocated again in the next step, and freeing "
     "waits "
     "for the GPU",
     documents::kTorchCuda},
    {"allocator", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "sizes that change no longer fragment the cache, so less is freed and allocated",
     documents::kTorchCuda},
    {"allocator", "fixed shapes", "pad to few sizes, so that cached blocks fit",
     documents::kTuningByName},
    {"checkpoint", "torch.distributed.checkpoint.async_save",
     "copies to host memory, then writes while training goes on", documents::kCheckpoints},
    {"checkpoint", "sharded checkpoints", "each rank writes its own part at the same time",
     documents::kCheckpoints},
    {"checkpoint", "the number of steps between checkpoints",
     "their cost is spread over the steps between them", documents::kCheckpoints},
    {"gc_pause", "gc.freeze() after setting up",
     "objects that live for ever are no longer looked at in each collection", documents::kPythonGc},
    {"gc_pause", "gc.disable(), then gc.collect() every N steps",
     "collections come when chosen, at the same time on all ranks", documents::kPythonGc},
    {"launch_bound", "torch.compile(model)", "fuses small kernels into few: less to launch",
     documents::kTuningByName},
    {"launch_bound", "CUDA graphs: torch.compile(mode=\"reduce-overhead\"), torch.cuda.graph",
     "a whole step is launched by one call", documents::kTorchCuda},
    {"launch_bound", "optimizer with fused=True",
     "one kernel for many parameters instead of several for each", documents::kOptimizers,
     FusesOptimizer},
    {"launch_bound", "Python between the launches",
     "py-spy record --native names what it computes: take it out of the step, or give it to "
     "another "
     "process",
     documents::kPySpy},
    {"launch_bound", "larger batches", "the same launches do more work", documents::kTuningByName},
    {"comm_exposed", "DistributedDataParallel(bucket_cap_mb=...)",
     "buckets of 25 to 100 MB start early enough to overlap the backward pass and are large enough "
     "for full bandwidth",
     documents::kDdp, nullptr, BucketsOf},
    {"comm_exposed", "no_sync() during gradient accumulation",
     "communicates once per optimizer step instead of once per backward pass", documents::kDdp},
    {"comm_exposed", "gradient compression: fp16_compress_hook, bf16_compress_hook",
     "half the bytes", documents::kDdpHooks},
    {"low_precision_unused", "torch.set_float32_matmul_precision(\"high\")",
     "lets fp32 products run on the tensor cores in TF32 (10 bits of mantissa); for convolutions "
     "torch.backends.cudnn.allow_tf32 = True",
     documents::kMatmulPrecision, HasNoTf32},
    {"low_precision_unused", "torch.autocast(\"cuda\", dtype=torch.bfloat16)",
     "products in bf16: twice the rate of TF32 and half the memory", documents::kAutocast,
     HasNoTf32},
    {"low_precision_unused", "torch.autocast(\"cuda\", dtype=torch.float16) with a GradScaler",
     "products in fp16 on the tensor cores", documents::kAutocast, HasBf16},
    {"inefficient_gemm", "newer PyTorch, CUDA and cuBLAS",
     "bring kernels that use the matrix instructions of this GPU", documents::kHopperTuning},
    {"inefficient_gemm", "larger and fewer products",
     "larger batches, one product for query, key and value, experts in one grouped call: small "
     "ones "
     "leave most of the GPU idle",
     documents::kMatrixProducts},
    {"unfused_attention", "torch.nn.functional.scaled_dot_product_attention",
     "one kernel computes scores, softmax and result without storing the scores",
     documents::kAttention},
    {"unfused_attention", "torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION)",
     "says why a fused kernel cannot be used: it needs fp16 or bf16 and its masks as is_causal",
     documents::kAttentionKernels},
    {"unfused_attention", "attn_implementation=\"sdpa\" or \"flash_attention_2\"",
     "in Hugging Face Transformers; \"eager\" computes attention in separate kernels",
     documents::kTransformersAttention},
    {"memory_bound", "torch.compile(model)",
     "fuses elementwise kernels that follow each other: numbers are read and written once instead "
     "of "
     "once a kernel",
     documents::kTorchCompile},
    {"memory_bound", "fused modules: torch.nn.functional.gelu, layer_norm, rms_norm, cross_entropy",
     "one kernel instead of the same written out in single operations", documents::kTuningByName},
    {"memory_bound", "optimizer with fused=True",
     "one kernel reads and writes each parameter once instead of several that do one operation "
     "each",
     documents::kOptimizers, FusesOptimizer},
    {"memory_bound", "torch.autocast(\"cuda\", dtype=torch.bfloat16)",
     "numbers of 16 bits are half as much to move", documents::kAutocast, HasNoTf32},
    {"throttled", "cooling: fans, air flow, inlet temperature, neighbours",
     "where heat is the reason: cards lower their clock near the limit of their temperature",
     documents::kNvmlClocks},
    {"throttled", "nvidia-smi -q -d POWER,CLOCK; nvidia-smi -pl WATTS",
     "where power is the reason: compare the enforced limit with the default one, and raise it",
     documents::kNvidiaSmi},
    {"throttled", "nvidia-smi -rac and nvidia-smi -rgc",
     "where clocks were set: takes application clocks and locked clocks back",
     documents::kNvidiaSmi},
    {"throttled", "power supplies and cables",
     "where a hardware slowdown or power brake is the reason: the card is not given its power",
     documents::kNvmlClocks},
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
