// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/levers.h"

#include <algorithm>

#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/what_if/pinned_uploads.h"
#include "analyzer/model/name_patterns.h"
#include "analyzer/verdict/code/code_evidence.h"

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

// The verdict names the lines itself.
bool HasStacks(const Rank& rank) { return rank.stack_samples.size() > 0; }

// Its kernels tell.
bool FusesOptimizer(const Rank& rank) {
  return std::any_of(rank.shapes.begin(), rank.shapes.end(), [&](const KernelShape& shape) {
    return shape.kernel_class == KernelClass::kOptimizer &&
           MatchesAny(rank.string(shape.name), "multi_tensor_apply*Fused");
  });
}

// By the files that were on a stack: without stacks nothing is known.
bool UsesOnlyJax(const Rank& rank) {
  bool jax = false;
  for (const CodePlace& place : rank.places) {
    const std::string_view file = rank.string(place.file);
    if (file.find("/torch/") != std::string_view::npos) return false;
    jax = jax || file.find("/jax/") != std::string_view::npos;
  }
  return jax && rank.loaders.empty() && rank.step_marks.size() == 0;
}
bool UsesMoreThanJax(const Rank& rank) { return !UsesOnlyJax(rank); }

// A program of its own that links CUDA: by the name of what runs, where nothing of Python was seen.
bool HasNoPython(const Rank& rank) {
  if (rank.process.executable.empty() || rank.step_marks.size() > 0 || !rank.loaders.empty())
    return false;
  if (rank.process.executable.find("python") != std::string::npos) return false;
  return std::none_of(rank.places.begin(), rank.places.end(), [&](const CodePlace& place) {
    return rank.string(place.file).ends_with(".py");
  });
}
bool HasPython(const Rank& rank) { return !HasNoPython(rank); }

constexpr std::string_view kProcessors = "processors for the threads that launch",
                           kFreeProcessors =
                               "other processes or threads take them: fewer data loader workers, "
                               "fewer threads in each (OMP_NUM_THREADS), as many processors as the "
                               "job has busy threads (--cpus-per-task, a CPU request), or taskset "
                               "and numactl to keep others away";

// Advice of PyTorch is of no use elsewhere, nor that of Python where there is none.
constexpr std::string_view kTorchWords[] = {"torch", "DataLoader", "PYTORCH"};
constexpr std::string_view kPythonWords[] = {"tensor.",    "nonzero()", "py-spy",        "gc.",
                                             "fused=True", "no_sync()", "compress_hook", "PyTorch"};

template <std::size_t count>
bool Names(const LeverRow& lever, const std::string_view (&words)[count]) {
  for (const std::string_view text : {lever.setting, lever.change, lever.source}) {
    for (const std::string_view word : words) {
      if (text.find(word) != std::string_view::npos) return true;
    }
  }
  return false;
}

constexpr LeverRow kLevers[] = {
    {"dataloader", "DataLoader(num_workers=N)",
     "load batches in worker processes while the GPU computes; raise N until the wait is gone",
     documents::kTuningByName, nullptr, WorkersOf, "num_workers=", TryReach::kAll},
    {"dataloader", "DataLoader(prefetch_factor=4, persistent_workers=True)",
     "prefetching hides slow batches; workers survive the end of an epoch", documents::kTorchData,
     nullptr, PrefetchingOf, "prefetch_factor=4,persistent_workers=1"},
    {"dataloader", "DataLoader(pin_memory=True)",
     "batches land in pinned memory, which the GPU can copy from without blocking the host",
     documents::kTorchData, PinsMemory, PinningOf, "pin_memory=1"},
    {"dataloader", "decoding and augmentation",
     "do less work per sample: smaller or packed files, GPU decoding (NVIDIA DALI), cached results",
     documents::kDali},
    {"h2d_copy", "DataLoader(pin_memory=True)",
     "copies from pinned memory run at link speed; from pageable memory the driver copies twice",
     documents::kTorchCuda, PinsUploads, PinningOf, "pin_memory=1"},
    {"h2d_copy", "tensor.to(device, non_blocking=True)",
     "with pinned memory the host keeps launching during the copy", documents::kTorchCuda,
     UploadsFromPinned, nullptr, "non_blocking=1"},
    {"h2d_copy", "copy the next batch on a separate stream",
     "the copy then overlaps with compute on the current batch", documents::kTorchCuda},
    {"h2d_copy", "cudaMallocHost(), cudaMemcpyAsync()",
     "copies from pinned memory run at link speed and beside kernels of other streams",
     documents::kCudaPractices, HasPython},
    {"sync_bound", ".item(), .cpu(), print(tensor), tensor.tolist()",
     "each waits for the GPU: keep values on the device and fetch them every N steps",
     documents::kTuningByName},
    {"sync_bound", "masks, nonzero(), boolean indexing",
     "their output shapes are known only on the device: use torch.where or fixed shapes",
     documents::kTuningByName},
    {"sync_bound", "torch.cuda.set_sync_debug_mode(\"warn\")",
     "reports each line that waits for the GPU", documents::kSyncDebug},
    {"sync_bound", "cudaDeviceSynchronize(), cudaStreamSynchronize(), cudaMemcpy()",
     "each holds up the host until the GPU is done: wait only for what the host reads next, copy "
     "with cudaMemcpyAsync and pinned memory, and order streams with cudaStreamWaitEvent",
     documents::kCudaPractices, HasPython},
    {"allocator", "cudaMalloc() and cudaFree() in the loop",
     "freeing waits for the GPU: allocate once, or with cudaMallocAsync from a pool that stays",
     documents::kCudaPractices, HasPython},
    {"allocator", "torch.cuda.empty_cache()",
     "remove it from the loop: freed memory is allocated again in the next step, and freeing waits "
     "for the GPU",
     documents::kTorchCuda, nullptr, nullptr, "empty_cache=0", TryReach::kAll},
    {"allocator", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "varying sizes no longer fragment the cache, so less is freed and reallocated",
     documents::kTorchCuda, nullptr, nullptr, "alloc_conf=expandable_segments:True"},
    {"allocator", "fixed shapes", "pad to a few sizes, so cached blocks can be reused",
     documents::kTuningByName},
    {"checkpoint", "torch.distributed.checkpoint.async_save",
     "copies to host memory, then writes while training continues", documents::kCheckpoints,
     nullptr, nullptr, "checkpoints=none", TryReach::kAll},
    {"checkpoint", "sharded checkpoints", "each rank writes its own shard in parallel",
     documents::kCheckpoints},
    {"checkpoint", "more steps between checkpoints", "spreads their cost over more steps",
     documents::kCheckpoints},
    {"gc_pause", "gc.freeze() after setup",
     "long-lived objects are no longer scanned in each collection", documents::kPythonGc, nullptr,
     nullptr, "gc_freeze=10"},
    {"gc_pause", "gc.disable(), then gc.collect() every N steps",
     "collections run when chosen, at the same time on all ranks", documents::kPythonGc, nullptr,
     nullptr, "gc_threshold=0", TryReach::kAll},
    {"launch_bound", kProcessors, kFreeProcessors, documents::kSchedstat, nullptr, ProcessorsOf},
    {kHostCodeLabel, kProcessors, kFreeProcessors, documents::kSchedstat, nullptr, ProcessorsOf},
    {"launch_bound", "CUDA graphs: torch.compile(mode=\"reduce-overhead\"), torch.cuda.graph",
     "launches with one call all that one graph holds: a whole step in graphs saves as much as is "
     "told here",
     documents::kTorchCuda, nullptr, nullptr, "compile=reduce-overhead", TryReach::kBeyond},
    {"launch_bound", "cudaStreamBeginCapture(), cudaGraphLaunch()",
     "launches with one call all that one graph holds", documents::kCudaPractices, HasPython},
    {"launch_bound", "torch.compile(model)",
     "fuses small kernels: fewer launches, which saves a part; the rest is still launched one by "
     "one",
     documents::kTuningByName, nullptr, nullptr, "compile=default", TryReach::kBeyond},
    {"launch_bound", "optimizer with fused=True",
     "one kernel for many parameters instead of several for each", documents::kOptimizers,
     FusesOptimizer, nullptr, "fused_optimizer=1"},
    {"launch_bound", "Python between the launches",
     "py-spy record --native shows what it does: move it out of the step or to another process",
     documents::kPySpy, HasStacks},
    {"launch_bound", "larger batches", "the same number of launches does more work",
     documents::kTuningByName},
    {"launch_bound", "jax.jit around the whole step",
     "one compiled program instead of one launch for each operation", documents::kJaxJit,
     UsesMoreThanJax},
    {"launch_bound", "jax.lax.scan over several steps", "the host launches once for all of them",
     documents::kJaxJit, UsesMoreThanJax},
    {"comm_exposed", "DistributedDataParallel(bucket_cap_mb=...)",
     "buckets of 25 to 100 MB start early enough to overlap the backward pass and are large enough "
     "for full bandwidth",
     documents::kDdp, nullptr, BucketsOf, "ddp_bucket_mb=50"},
    {"comm_exposed", "no_sync() during gradient accumulation",
     "communicates once per optimizer step instead of once per backward pass", documents::kDdp},
    {"comm_exposed", "gradient compression: fp16_compress_hook, bf16_compress_hook",
     "half the bytes", documents::kDdpHooks},
    {"evaluation", "evaluate on fewer samples, or after more steps",
     "spreads its cost over more training steps", ""},
    {"evaluation", "torch.inference_mode() and larger batches",
     "without gradients a batch needs less memory, and fewer launches do the same work",
     documents::kTuningByName},
    {"evaluation", "DataLoader(persistent_workers=True) of the evaluation",
     "otherwise its workers start again each time", documents::kTorchData},
    {"epoch_end", "DataLoader(persistent_workers=True)",
     "workers survive the end of an epoch; otherwise they start, and import their modules, each "
     "time, and nothing is prefetched",
     documents::kTorchData, nullptr, PrefetchingOf, "persistent_workers=1", TryReach::kAll},
    {"epoch_end", "longer epochs",
     "a sampler that goes over the data several times ends fewer of them", ""},
    {"low_precision_unused", "torch.set_float32_matmul_precision(\"high\")",
     "lets fp32 GEMMs run on tensor cores in TF32 (10-bit mantissa); for convolutions "
     "torch.backends.cudnn.allow_tf32 = True",
     documents::kMatmulPrecision, HasNoTf32, nullptr, "matmul_precision=high", TryReach::kAll},
    {"low_precision_unused", "torch.autocast(\"cuda\", dtype=torch.bfloat16)",
     "bf16 GEMMs: twice the TF32 rate and half the memory", documents::kAutocast, HasNoTf32,
     nullptr, "autocast=bf16", TryReach::kBeyond},
    {"low_precision_unused", "torch.autocast(\"cuda\", dtype=torch.float16) with a GradScaler",
     "fp16 GEMMs on tensor cores", documents::kAutocast, HasBf16, nullptr, "autocast=fp16",
     TryReach::kBeyond},
    {"low_precision_unused", "cublasSetMathMode(CUBLAS_TF32_TENSOR_OP_MATH)",
     "lets fp32 GEMMs run on tensor cores in TF32 (10-bit mantissa); of cuBLASLt "
     "CUBLAS_COMPUTE_32F_FAST_TF32",
     documents::kMatrixProducts, HasPython},
    {"inefficient_gemm", "newer PyTorch, CUDA and cuBLAS",
     "newer kernels use this GPU's tensor-core instructions", documents::kHopperTuning},
    {"inefficient_gemm", "fewer, larger GEMMs",
     "larger batches, one GEMM for query, key and value, experts in one grouped call: small GEMMs "
     "leave most of the GPU idle",
     documents::kMatrixProducts},
    {"unfused_attention", "torch.nn.functional.scaled_dot_product_attention",
     "one kernel computes scores, softmax and result without storing the scores",
     documents::kAttention},
    {"unfused_attention", "torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION)",
     "reports why a fused kernel cannot be used: it needs fp16 or bf16, and is_causal instead of a "
     "mask",
     documents::kAttentionKernels, nullptr, nullptr, "sdpa=flash", TryReach::kAll},
    {"unfused_attention", "attn_implementation=\"sdpa\" or \"flash_attention_2\"",
     "in Hugging Face Transformers; \"eager\" computes attention in separate kernels",
     documents::kTransformersAttention},
    {"unfused_attention", "cuDNN's fused attention, FlashAttention, or CUTLASS",
     "one kernel that keeps the scores on the chip instead of storing them",
     documents::kMatrixProducts, HasPython},
    {"memory_bound", "fewer, larger kernels",
     "fuse those that work on the same numbers one after another: data is read and written once; "
     "16-bit values halve the traffic",
     documents::kCudaPractices, HasPython},
    {"memory_bound", "torch.compile(model)",
     "fuses consecutive elementwise kernels: data is read and written once instead of once per "
     "kernel",
     documents::kTorchCompile, nullptr, nullptr, "compile=default", TryReach::kBeyond},
    {"memory_bound", "fused modules: torch.nn.functional.gelu, layer_norm, rms_norm, cross_entropy",
     "one kernel instead of many elementwise operations", documents::kTuningByName},
    {"memory_bound", "optimizer with fused=True",
     "one kernel reads and writes each parameter once, instead of one kernel per operation",
     documents::kOptimizers, FusesOptimizer, nullptr, "fused_optimizer=1"},
    {"memory_bound", "torch.autocast(\"cuda\", dtype=torch.bfloat16)",
     "16-bit values halve the memory traffic", documents::kAutocast, HasNoTf32, nullptr,
     "autocast=bf16", TryReach::kBeyond},
    {"throttled", "cooling: fans, airflow, inlet temperature, neighboring cards",
     "if temperature is the reason: GPUs lower their clock near the thermal limit",
     documents::kNvmlClocks},
    {"throttled", "nvidia-smi -q -d POWER,CLOCK; nvidia-smi -pl WATTS",
     "if power is the reason: compare the enforced limit with the default, and raise it",
     documents::kNvidiaSmi},
    {"throttled", "nvidia-smi -rac and nvidia-smi -rgc",
     "if clocks were set: resets application clocks and locked clocks", documents::kNvidiaSmi},
    {"throttled", "power supplies and cables",
     "if hardware slowdown or power brake is the reason: the card is not getting enough power",
     documents::kNvmlClocks},
};

}  // namespace

std::vector<LeverRow> LeversOf(std::string_view label, const Rank& rank) {
  std::vector<LeverRow> levers;
  const bool no_python = HasNoPython(rank), no_torch = no_python || UsesOnlyJax(rank);
  for (const LeverRow& lever : kLevers) {
    if (no_torch && Names(lever, kTorchWords)) continue;
    if (no_python && Names(lever, kPythonWords)) continue;
    if (lever.label == label && (lever.is_set == nullptr || !lever.is_set(rank)))
      levers.push_back(lever);
  }
  return levers;
}

TryReach ReachOfTry(std::string_view label, std::string_view tried) {
  const auto found =
      std::find_if(std::begin(kLevers), std::end(kLevers), [&](const LeverRow& lever) {
        return lever.label == label && !lever.try_with.empty() && tried.starts_with(lever.try_with);
      });
  return found == std::end(kLevers) ? TryReach::kPart : found->try_reach;
}

}  // namespace traceinject
