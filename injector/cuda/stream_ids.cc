// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/stream_ids.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>

#include "injector/base/loaded_libraries.h"
#include "injector/cupti/library.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {
namespace {

// A direct-mapped cache. An entry is one 64-bit key check and one 64-bit value, each read and
// written atomically; the value repeats part of the key, so that a torn pair is noticed and asked
// for again.
struct Entry {
  std::atomic<std::uint64_t> key{0};
  std::atomic<std::uint64_t> value{0};
};
constexpr std::size_t kEntries = 256;
constexpr std::uint64_t kTagMask = 0xFFF;

Entry g_entries[kEntries];
std::atomic<std::uint64_t> g_generation{1};
std::atomic<CuptiLibrary*> g_cupti{nullptr};
CUresult (*g_current_context)(CUcontext*) = nullptr;

std::uint64_t Mix(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15;
  return value ^ value >> 29;
}

// From 1. Not an address of the thread: the next thread may have the same.
std::uint64_t NumberOfThread() {
  static constinit std::atomic<std::uint64_t> count{0};
  static thread_local constinit std::uint64_t t_number = 0;
  if (t_number == 0) t_number = count.fetch_add(1, std::memory_order_relaxed) + 1;
  return t_number;
}

std::uint64_t KeyOf(CUcontext context, void* stream, bool per_thread) {
  // These handles are another stream in each thread.
  const bool own = stream == CU_STREAM_PER_THREAD || (per_thread && stream == nullptr);
  const std::uint64_t thread = own ? Mix(NumberOfThread()) : 0;
  return Mix(Mix(Mix(reinterpret_cast<std::uint64_t>(context)) ^
                 reinterpret_cast<std::uint64_t>(stream)) ^
             thread ^ g_generation.load(std::memory_order_relaxed)) |
         1;
}

// Device 8 bits, context 20, stream 24, tag 12.
constexpr std::uint32_t kMaxDevice = 1 << 8, kMaxContext = 1 << 20, kMaxStream = 1 << 24;

}  // namespace

void BindStreamIds(CuptiLibrary* cupti) {
  void* library = OpenLoaded("libcuda.so");
  if (library == nullptr || cupti->GetStreamIdEx == nullptr || cupti->GetContextId == nullptr ||
      cupti->GetDeviceId == nullptr)
    return;
  g_current_context = reinterpret_cast<CUresult (*)(CUcontext*)>(dlsym(library, "cuCtxGetCurrent"));
  if (g_current_context != nullptr) g_cupti.store(cupti, std::memory_order_release);
}

StreamId LookUpStream(void* handle, bool per_thread) {
  CuptiLibrary* cupti = g_cupti.load(std::memory_order_acquire);
  CUcontext context = nullptr;
  if (cupti == nullptr || g_current_context(&context) != CUDA_SUCCESS || context == nullptr)
    return {};
  const std::uint64_t key = KeyOf(context, handle, per_thread);
  Entry& entry = g_entries[key / 2 % kEntries];
  if (entry.key.load(std::memory_order_acquire) == key) {
    const std::uint64_t value = entry.value.load(std::memory_order_acquire);
    if ((value & kTagMask) == (key >> 52)) {
      return {static_cast<std::uint32_t>(value >> 56),
              static_cast<std::uint32_t>(value >> 36 & (kMaxContext - 1)),
              static_cast<std::uint32_t>(value >> 12 & (kMaxStream - 1)), true};
    }
  }
  StreamId id;
  if (!g_shared_session.attached()) return id;
  id.known = cupti->GetContextId(context, &id.context) == CUPTI_SUCCESS &&
             cupti->GetDeviceId(context, &id.device) == CUPTI_SUCCESS &&
             cupti->GetStreamIdEx(context, static_cast<CUstream>(handle), per_thread ? 1 : 0,
                                  &id.stream) == CUPTI_SUCCESS;
  if (id.known && id.device < kMaxDevice && id.context < kMaxContext && id.stream < kMaxStream) {
    entry.key.store(0, std::memory_order_release);
    entry.value.store(std::uint64_t{id.device} << 56 | std::uint64_t{id.context} << 36 |
                          std::uint64_t{id.stream} << 12 | key >> 52,
                      std::memory_order_release);
    entry.key.store(key, std::memory_order_release);
  }
  return id;
}

void ForgetStreams() { g_generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace traceinject
