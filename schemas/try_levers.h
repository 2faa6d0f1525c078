// SPDX-License-Identifier: Apache-2.0
// The levers that TRACEINJECT_TRY pulls: changes to a program from outside, to see what they bring.
// The only place where the library changes the program that it is in; the recording says so
// (system_fact of kind `try`), and so does every report.
//
// The table is read by the library (which pulls them), by `analyze try` (which chooses and explains
// them) and by the table in docs/try.md. Those of kTryPython are pulled by
// injector/tries/levers.py.
#pragma once

#include <cstdint>
#include <string_view>

namespace traceinject {

enum class TryBy : std::uint8_t {
  kVariable,    // the environment variable `target`, set before the program's first line
  kPython,      // in the program's interpreter, once torch is imported
  kProcessors,  // the process and all that it starts run on certain processors
  kPreload,     // the library `target` is preloaded: by `analyze try` alone, as it has to start the
                // program
};

// What a lever may change besides time, the worst of it. All but kNothing and kMemory are told
// beside the result.
enum class TryEffect : std::uint8_t {
  kNothing,
  kMemory,    // more memory is used
  kRounding,  // the same numbers but for their last bits: other kernels, another order of sums
  kNumerics,  // fewer bits: losses differ. Tried where asked for by name or with --allow-numerics
  kMeaning,   // the program may do something else. Tried where asked for by name
};

struct TryLever {
  std::string_view name;  // as in TRACEINJECT_TRY
  TryBy by;
  std::string_view target;  // the variable or library, or in words what of the program it changes
  std::string_view values;  // that it takes, in words
  TryEffect effect;
  std::string_view since;      // the first version that has it; empty: all that we support
  std::string_view permanent;  // how to keep it, with {} for the value
};

inline constexpr TryLever kTryLevers[] = {
    // Data.
    {"num_workers", TryBy::kPython, "DataLoader(num_workers)",
     "a number; of 0 processes the main one loads", TryEffect::kMemory, "",
     "DataLoader(..., num_workers={})"},
    {"prefetch_factor", TryBy::kPython, "DataLoader(prefetch_factor) of loaders with workers",
     "batches a worker", TryEffect::kMemory, "", "DataLoader(..., prefetch_factor={})"},
    {"persistent_workers", TryBy::kPython, "DataLoader(persistent_workers) of loaders with workers",
     "0, 1", TryEffect::kMemory, "torch 1.7", "DataLoader(..., persistent_workers=True)"},
    {"pin_memory", TryBy::kPython, "DataLoader(pin_memory)", "0, 1", TryEffect::kMemory, "",
     "DataLoader(..., pin_memory=True)"},
    {"start_method", TryBy::kPython, "DataLoader(multiprocessing_context) of loaders with workers",
     "fork, forkserver, spawn", TryEffect::kMeaning, "",
     "DataLoader(..., multiprocessing_context=\"{}\")"},
    {"non_blocking", TryBy::kPython, "Tensor.to() and Tensor.cuda() of pinned memory", "1",
     TryEffect::kMeaning, "", "tensor.to(device, non_blocking=True)"},
    // Host.
    {"fused_optimizer", TryBy::kPython, "torch.optim: fused", "1", TryEffect::kRounding,
     "torch 2.0", "optimizer(..., fused=True)"},
    {"foreach_optimizer", TryBy::kPython, "torch.optim: foreach", "0, 1", TryEffect::kRounding,
     "torch 1.12", "optimizer(..., foreach=True)"},
    {"set_to_none", TryBy::kPython, "zero_grad(set_to_none)", "0, 1", TryEffect::kNothing,
     "torch 1.7", "optimizer.zero_grad(set_to_none=True)"},
    {"gc_freeze", TryBy::kPython, "gc.freeze() after so many backward passes", "a number",
     TryEffect::kMemory, "", "gc.freeze() after {} steps"},
    {"gc_threshold", TryBy::kPython, "gc.set_threshold()",
     "allocations between two collections; 0: no collection at all", TryEffect::kMemory, "",
     "gc.set_threshold({})"},
    {"omp_threads", TryBy::kVariable, "OMP_NUM_THREADS", "threads", TryEffect::kRounding, "",
     "export OMP_NUM_THREADS={}"},
    {"cpus", TryBy::kProcessors, "the processors that the process and its workers run on",
     "as of taskset: 0-7,16; with / between those of each rank of a host", TryEffect::kNothing, "",
     "taskset -c {} python ..."},
    {"cuda_connections", TryBy::kVariable, "CUDA_DEVICE_MAX_CONNECTIONS", "1 to 32",
     TryEffect::kNothing, "", "export CUDA_DEVICE_MAX_CONNECTIONS={}"},
    {"module_loading", TryBy::kVariable, "CUDA_MODULE_LOADING", "EAGER, LAZY", TryEffect::kMemory,
     "CUDA 11.7", "export CUDA_MODULE_LOADING={}"},
    {"allocator", TryBy::kPreload, "malloc()", "jemalloc, tcmalloc, or the path of a library",
     TryEffect::kMemory, "", "export LD_PRELOAD={}"},
    // The GPU's memory.
    {"empty_cache", TryBy::kPython, "torch.cuda.empty_cache() does nothing", "0",
     TryEffect::kMemory, "", "remove torch.cuda.empty_cache() from the loop"},
    {"alloc_conf", TryBy::kVariable, "PYTORCH_CUDA_ALLOC_CONF", "as that variable",
     TryEffect::kMemory, "torch 2.1", "export PYTORCH_CUDA_ALLOC_CONF={}"},
    // Compute.
    {"matmul_precision", TryBy::kPython, "torch.set_float32_matmul_precision(), cuDNN's allow_tf32",
     "high, highest", TryEffect::kRounding, "torch 1.12",
     "torch.set_float32_matmul_precision(\"{}\")"},
    {"autocast", TryBy::kPython, "torch.autocast around all of the program", "bf16, fp16",
     TryEffect::kNumerics, "torch 1.10",
     "with torch.autocast(\"cuda\", dtype={}): around the forward pass"},
    {"cudnn_benchmark", TryBy::kPython, "torch.backends.cudnn.benchmark", "0, 1",
     TryEffect::kRounding, "", "torch.backends.cudnn.benchmark = True"},
    {"sdpa", TryBy::kPython, "the kernels of scaled_dot_product_attention",
     "flash, efficient, cudnn, math", TryEffect::kRounding, "torch 2.0",
     "torch.nn.attention.sdpa_kernel(...) around the forward pass"},
    {"compile", TryBy::kPython, "torch.compile of the outermost module",
     "default, reduce-overhead, max-autotune", TryEffect::kRounding, "torch 2.2",
     "model = torch.compile(model, mode=\"{}\")"},
    {"channels_last", TryBy::kPython, "the memory format of the outermost module and of its inputs",
     "1", TryEffect::kRounding, "", "model.to(memory_format=torch.channels_last), and its inputs"},
    // Communication.
    {"ddp_bucket_mb", TryBy::kPython, "DistributedDataParallel(bucket_cap_mb)", "megabytes",
     TryEffect::kRounding, "", "DistributedDataParallel(..., bucket_cap_mb={})"},
    {"ddp_bucket_view", TryBy::kPython, "DistributedDataParallel(gradient_as_bucket_view)", "0, 1",
     TryEffect::kNothing, "torch 1.7",
     "DistributedDataParallel(..., gradient_as_bucket_view=True)"},
    {"ddp_static_graph", TryBy::kPython, "DistributedDataParallel(static_graph)", "0, 1",
     TryEffect::kMeaning, "torch 1.11", "DistributedDataParallel(..., static_graph=True)"},
    // Between steps.
    {"checkpoints", TryBy::kPython, "torch.save()",
     "none: it saves nothing, to see what saving costs", TryEffect::kNothing, "",
     "torch.distributed.checkpoint.async_save, or more steps between checkpoints"},
    // What `analyze try` uses itself.
    {"save_folder", TryBy::kPython, "where torch.save() writes", "a folder", TryEffect::kNothing,
     "", ""},
    {"losses", TryBy::kPython, "notes the value of what backward() is called on", "1",
     TryEffect::kNothing, "", ""},
    {"diff", TryBy::kPython, "notes how the program's lines would say what was changed", "1",
     TryEffect::kNothing, "", ""},
};

// Any variable: "env.NCCL_P2P_DISABLE=0"; with an empty value it is not set.
inline constexpr std::string_view kTryVariable = "env.";

inline constexpr std::string_view kTryFact = "try";  // system_fact.kind

// Null: there is none of this name.
constexpr const TryLever* FindTryLever(std::string_view name) {
  for (const TryLever& lever : kTryLevers) {
    if (lever.name == name) return &lever;
  }
  return nullptr;
}

}  // namespace traceinject
