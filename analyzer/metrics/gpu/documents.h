// SPDX-License-Identifier: Apache-2.0
// Documents that advice points to, as they are printed.
#pragma once

#include <string_view>

namespace traceinject::documents {

inline constexpr std::string_view kTuning =
    "docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html";
// The same, with its title.
inline constexpr std::string_view kTuningByName =
    "PyTorch Performance Tuning Guide, pytorch.org/tutorials/recipes/recipes/tuning_guide.html";
inline constexpr std::string_view kChannelsLast =
    "docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html";
inline constexpr std::string_view kTorchCuda = "docs.pytorch.org/docs/stable/notes/cuda.html";
inline constexpr std::string_view kTorchData = "docs.pytorch.org/docs/stable/data.html";
inline constexpr std::string_view kTorchSharing =
    "docs.pytorch.org/docs/stable/multiprocessing.html";
inline constexpr std::string_view kTorchDistributed =
    "docs.pytorch.org/docs/stable/distributed.html";
inline constexpr std::string_view kDataParallel =
    "docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html";
inline constexpr std::string_view kDdp =
    "docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html";
inline constexpr std::string_view kDdpHooks = "docs.pytorch.org/docs/stable/ddp_comm_hooks.html";
inline constexpr std::string_view kFsdp =
    "docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html";
inline constexpr std::string_view kCheckpoints =
    "docs.pytorch.org/docs/stable/distributed.checkpoint.html";
inline constexpr std::string_view kOptimizers = "docs.pytorch.org/docs/stable/optim.html";
inline constexpr std::string_view kAutocast = "docs.pytorch.org/docs/stable/amp.html";
inline constexpr std::string_view kMatmulPrecision =
    "docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html";
inline constexpr std::string_view kAttention =
    "docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html";
inline constexpr std::string_view kAttentionKernels =
    "docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html";
inline constexpr std::string_view kSyncDebug =
    "docs.pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html";
inline constexpr std::string_view kTorchCompile =
    "docs.pytorch.org/docs/stable/generated/torch.compile.html";

inline constexpr std::string_view kMatrixProducts =
    "docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication";
inline constexpr std::string_view kHopperTuning = "docs.nvidia.com/cuda/hopper-tuning-guide";
inline constexpr std::string_view kCudaPractices =
    "docs.nvidia.com/cuda/cuda-c-best-practices-guide";
inline constexpr std::string_view kDali = "docs.nvidia.com/deeplearning/dali";
inline constexpr std::string_view kNcclTroubles =
    "docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html";
inline constexpr std::string_view kNcclVariables =
    "docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html";
inline constexpr std::string_view kNvmlQueries =
    "docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html";
inline constexpr std::string_view kNvmlClocks =
    "docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html";
inline constexpr std::string_view kNvidiaSmi = "docs.nvidia.com/deploy/nvidia-smi";
inline constexpr std::string_view kMemoryErrors = "docs.nvidia.com/deploy/gpu-debug-guidelines";
inline constexpr std::string_view kPersistence = "docs.nvidia.com/deploy/driver-persistence";
inline constexpr std::string_view kContainers =
    "docs.nvidia.com/datacenter/cloud-native/container-toolkit";

inline constexpr std::string_view kJaxJit = "docs.jax.dev/en/latest/jit-compilation.html";
inline constexpr std::string_view kPythonGc = "docs.python.org/3/library/gc.html";
inline constexpr std::string_view kPySpy = "github.com/benfred/py-spy";
inline constexpr std::string_view kTransformersAttention =
    "huggingface.co/docs/transformers/attention_interface";
inline constexpr std::string_view kSchedstat = "docs.kernel.org/scheduler/sched-stats.html";
inline constexpr std::string_view kCpuFrequency = "docs.kernel.org/admin-guide/pm/cpufreq.html";

}  // namespace traceinject::documents
