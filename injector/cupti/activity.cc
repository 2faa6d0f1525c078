// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/activity.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "injector/core/counters.h"
#include "injector/core/ring.h"
#include "injector/cupti/activity_kinds.h"
#include "injector/cupti/allow_list.h"
#include "injector/cupti/buffer_pool.h"
#include "injector/cupti/name_table.h"
#include "injector/cupti/records.h"

namespace traceinject {
namespace {

// cuptiGetVersion from which a null buffer is a legal answer; older versions crash on it (release
// notes of 12.9).
constexpr std::uint32_t kNullBufferAllowed = 27;
// So many buffers waiting wake the writer before its time.
constexpr int kWakeAt = 4;

// A buffer on its way from CUPTI's thread to the writer. CUPTI's callbacks have no user pointer, so
// this state is the file's.
struct Node {
  CompletedBuffer buffer;
  Node* next = nullptr;
};

BufferPool g_pool;
NameTable& Names() {
  static auto* names =
      new NameTable;  // never destroyed: CUPTI's thread may outlive static destructors
  return *names;
}
CuptiLibrary* g_cupti = nullptr;
std::atomic<Node*> g_completed{nullptr};
std::atomic<int> g_waiting{0};
// Where the records go that CUPTI must not refuse while the pool is empty.
alignas(8) std::uint8_t g_scratch[BufferPool::kBufferBytes];

void CUPTIAPI OnBufferRequested(std::uint8_t** buffer, std::size_t* size,
                                std::size_t* max_records) {
  *max_records = 0;
  *size = BufferPool::kBufferBytes;
  *buffer = g_pool.Take();
  if (*buffer != nullptr) {
    g_counters.Add(Health::kBuffersRequested);
    return;
  }
  g_counters.Add(Health::kBuffersExhausted);
  g_wake.Post();
  if (g_cupti->version >= kNullBufferAllowed) {
    *size = 0;
  } else {
    *buffer = g_scratch;
  }
}

// Copies the kernel names now: CUPTI may free them once this callback returns.
void InternNames(std::uint8_t* buffer, std::size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (g_cupti->ActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
        record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
      auto* kernel = reinterpret_cast<KernelRecord*>(record);
      kernel->name = Names().Intern(kernel->name);
    }
  }
}

std::int64_t CountRecords(std::uint8_t* buffer, std::size_t valid_bytes) {
  std::int64_t records = 0;
  CUpti_Activity* record = nullptr;
  while (g_cupti->ActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) ++records;
  return records;
}

void CountDropped(CUcontext context, std::uint32_t stream) {
  std::size_t dropped = 0;
  if (g_cupti->ActivityGetNumDroppedRecords != nullptr &&
      g_cupti->ActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
      dropped != 0) {
    g_counters.Add(Health::kCuptiDropped, static_cast<std::int64_t>(dropped));
  }
}

void CUPTIAPI OnBufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t, std::size_t valid_bytes) {
  if (buffer == nullptr || !g_pool.Owns(buffer))
    return;  // the scratch buffer: its records are lost and counted
  g_counters.Add(Health::kBuffersCompleted);
  CountDropped(context, stream);
  if (valid_bytes == 0) {
    g_pool.Return(buffer);
    return;
  }
  Node* node = nullptr;
  try {  // CUPTI's frames are not made for exceptions
    InternNames(buffer, valid_bytes);
    node = new Node{{buffer, valid_bytes}, g_completed.load(std::memory_order_relaxed)};
  } catch (const std::bad_alloc&) {
    g_counters.Add(Health::kCuptiDropped, CountRecords(buffer, valid_bytes));
    g_pool.Return(buffer);
    return;
  }
  while (!g_completed.compare_exchange_weak(node->next, node, std::memory_order_release,
                                            std::memory_order_relaxed)) {
  }
  if (g_waiting.fetch_add(1, std::memory_order_relaxed) + 1 >= kWakeAt) g_wake.Post();
}

}  // namespace

bool Activity::Register(CuptiLibrary* cupti, const Options& options, std::string* why) {
  cupti_ = g_cupti = cupti;
  g_pool.SetLimit(options.buffer_bytes);
  // Thread ids as the kernel counts them: the same in records, wrappers and /proc.
  if (cupti->SetThreadIdType != nullptr)
    cupti->SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  const CUptiResult result = cupti->ActivityRegisterCallbacks(OnBufferRequested, OnBufferCompleted);
  if (result != CUPTI_SUCCESS) {
    *why = "CUPTI refused our callbacks: " + cupti->Describe(result) +
           (result == CUPTI_ERROR_NOT_INITIALIZED ? "; the GPU driver is too old for " + cupti->path
                                                  : "");
    return false;
  }
  return true;
}

bool Activity::Start(const Options& options, std::vector<std::string>* disabled, std::string* why) {
  bool anything = false;
  for (const std::string& name : options.kinds) {
    const ActivityKind kind = *FindActivityKind(name);
    if (kind.kind == CUPTI_ACTIVITY_KIND_INVALID) {
      calls_enabled_ = EnableCalls(disabled);
      anything |= calls_enabled_;
      continue;
    }
    const CUptiResult result = cupti_->ActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS) {
      enabled_.push_back(kind.kind);
      anything = true;
    } else {
      disabled->push_back(name + ": CUPTI refused it: " + cupti_->Describe(result));
      *why = disabled->back();
    }
  }
  if (!anything && why->empty()) *why = "TRACEINJECT_KINDS names nothing to record";
  return anything;
}

bool Activity::EnableCalls(std::vector<std::string>* disabled) {
  if (cupti_->ActivityEnableRuntimeApi == nullptr || cupti_->ActivityEnableDriverApi == nullptr) {
    // Before 12.5 there are only whole kinds; the decoder drops the calls that are not on the list.
    disabled->push_back(
        "api: this CUPTI (version " + std::to_string(cupti_->version) +
        ") cannot select single calls: all CUDA calls are traced, which costs more");
    const bool runtime = cupti_->ActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME) == CUPTI_SUCCESS;
    const bool driver = cupti_->ActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER) == CUPTI_SUCCESS;
    if (runtime) enabled_.push_back(CUPTI_ACTIVITY_KIND_RUNTIME);
    if (driver) enabled_.push_back(CUPTI_ACTIVITY_KIND_DRIVER);
    return runtime || driver;
  }
  bool anything = false;
  for (const AllowedCall& call : kAllowList) {
    auto enable = call.domain == CudaDomain::kRuntime ? cupti_->ActivityEnableRuntimeApi
                                                      : cupti_->ActivityEnableDriverApi;
    // A version that does not know a newer call refuses it: nothing is lost.
    anything |= enable(call.cbid, 1) == CUPTI_SUCCESS;
  }
  if (!anything) disabled->push_back("api: CUPTI refused every call of the list");
  return anything;
}

void Activity::Flush(bool everything) {
  cupti_->ActivityFlushAll(everything ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void Activity::Stop() {
  for (CUpti_ActivityKind kind : enabled_) cupti_->ActivityDisable(kind);
  enabled_.clear();
  if (!calls_enabled_ || cupti_->ActivityEnableRuntimeApi == nullptr) return;
  for (const AllowedCall& call : kAllowList) {
    auto enable = call.domain == CudaDomain::kRuntime ? cupti_->ActivityEnableRuntimeApi
                                                      : cupti_->ActivityEnableDriverApi;
    enable(call.cbid, 0);
  }
  calls_enabled_ = false;
}

std::vector<CompletedBuffer> Activity::TakeCompleted() {
  Node* node = g_completed.exchange(nullptr, std::memory_order_acquire);
  std::vector<CompletedBuffer> buffers;
  while (node != nullptr) {
    buffers.push_back(node->buffer);
    Node* next = node->next;
    delete node;
    node = next;
  }
  g_waiting.fetch_sub(static_cast<int>(buffers.size()), std::memory_order_relaxed);
  std::reverse(buffers.begin(), buffers.end());
  return buffers;
}

void Activity::Recycle(const CompletedBuffer& buffer) { g_pool.Return(buffer.data); }

}  // namespace traceinject
