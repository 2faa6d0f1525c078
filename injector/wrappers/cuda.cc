// SPDX-License-Identifier: Apache-2.0
// Wrappers of the calls that order work on the device, exported so that the dynamic linker binds
// the program's calls to them. API records have no event or stream handle; these have. CUPTI's
// SYNCHRONIZATION and CUDA_EVENT kinds would give the same at a cost on every launch.
//
// While a call waits, the writer can see it. That is all there is to those that wait for a device.
//
// A wrapper forwards the call whatever happens (real_function.h says to where). libcudart's own
// calls into libcuda do not come by here.
#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/exported.h"
#include "injector/base/own_cost.h"
#include "injector/base/real_function.h"
#include "injector/base/ring.h"
#include "injector/base/safe_point.h"
#include "injector/base/state.h"
#include "injector/cuda/stream_ids.h"
#include "injector/recorder/recorder.h"
#include "injector/stacks/own_stack.h"

namespace traceinject {
namespace {

// What a program gets when no loaded object has the function: cudaErrorSharedObjectInitFailed and
// CUDA_ERROR_SHARED_OBJECT_INIT_FAILED.
constexpr int kNotLoaded = 303;

constexpr char kRuntime[] = "libcudart.so";
constexpr char kDriver[] = "libcuda.so";

struct Target {
  SyncKind kind;
  void* event = nullptr;
  bool has_stream = false;
  void* stream = nullptr;
  bool per_thread = false;
};

void Emit(const Target& target, std::int64_t start, std::int64_t end) {
  StreamId stream;
  if (target.has_stream) stream = LookUpStream(target.stream, target.per_thread);
  Ring* ring = g_rings.OfThisThread();
  auto* event =
      ring == nullptr ? nullptr : static_cast<SyncEvent*>(ring->Reserve(sizeof(SyncEvent)));
  if (event == nullptr) return g_counters.AddLost(Health::kSyncSeen, Health::kSyncDropped);
  event->header = {sizeof(SyncEvent), static_cast<std::uint16_t>(EventType::kSync),
                   static_cast<std::uint16_t>(target.kind), start};
  event->end_ns = end;
  event->event = reinterpret_cast<std::uint64_t>(target.event);
  event->device = stream.device;
  event->context = stream.context;
  event->stream = stream.stream;
  event->has_stream = stream.known;
  ring->Publish(&g_wake);
}

// While it lives the thread is seen to wait.
class SeenWaiting {
 public:
  SeenWaiting(SyncKind kind, std::int64_t since_ns)
      : wait_(kind >= SyncKind::kHostWaitsEvent ? g_rings.WaitOfThisThread() : nullptr) {
    if (wait_ != nullptr) wait_->Begin(static_cast<int>(kind), since_ns);
  }
  ~SeenWaiting() {
    if (wait_ != nullptr) wait_->End();
  }
  SeenWaiting(const SeenWaiting&) = delete;
  SeenWaiting& operator=(const SeenWaiting&) = delete;

 private:
  OpenWait* wait_;
};

template <typename Call>
int Timed(const Target& target, Call call) {
  // Of the others, some are made by threads that launch nothing.
  if (target.kind >= SyncKind::kHostWaitsEvent) g_safe_point.Pass();
  if (!SyncWanted()) return call();
  OwnCost cost(Health::kSyncOwnNs);
  const std::int64_t start = NowNs();
  const SeenWaiting waiting(target.kind, start);
  cost.Leave();
  const int result = call();
  cost.Enter();
  const std::int64_t end = NowNs();
  if (result == 0 && target.kind != SyncKind::kHostWaitsDevice) Emit(target, start, end);
  if (target.kind >= SyncKind::kHostWaitsEvent && end - start >= kLeastWaitNs)
    NoteOwnWait(start, end);
  return result;
}

}  // namespace
}  // namespace traceinject

using traceinject::SyncKind;

// One wrapper: its exported name, the library, the parameters, the arguments, and what the call
// means.
#define TRACEINJECT_WRAP(library, name, parameters, arguments, ...)             \
  extern "C" TRACEINJECT_EXPORT int name parameters {                           \
    static constinit traceinject::RealFunction<int parameters> real;            \
    auto* function = real.Get(traceinject::library, #name, TRACEINJECT_CALLER); \
    if (function == nullptr) return traceinject::kNotLoaded;                    \
    return traceinject::Timed(__VA_ARGS__, [&] { return function arguments; }); \
  }

#define TRACEINJECT_RECORD(per_thread) \
  { SyncKind::kEventRecord, event, true, stream, per_thread }
#define TRACEINJECT_STREAM_WAIT(per_thread) \
  { SyncKind::kStreamWaitsEvent, event, true, stream, per_thread }
#define TRACEINJECT_STREAM_SYNC(per_thread) \
  { SyncKind::kHostWaitsStream, nullptr, true, stream, per_thread }
#define TRACEINJECT_EVENT_SYNC \
  { SyncKind::kHostWaitsEvent, event, false, nullptr, false }
#define TRACEINJECT_DEVICE_SYNC \
  { SyncKind::kHostWaitsDevice, nullptr, false, nullptr, false }

TRACEINJECT_WRAP(kRuntime, cudaEventRecord, (void* event, void* stream), (event, stream),
                 TRACEINJECT_RECORD(false))
TRACEINJECT_WRAP(kRuntime, cudaEventRecord_ptsz, (void* event, void* stream), (event, stream),
                 TRACEINJECT_RECORD(true))
TRACEINJECT_WRAP(kRuntime, cudaEventRecordWithFlags, (void* event, void* stream, unsigned flags),
                 (event, stream, flags), TRACEINJECT_RECORD(false))
TRACEINJECT_WRAP(kRuntime, cudaEventRecordWithFlags_ptsz,
                 (void* event, void* stream, unsigned flags), (event, stream, flags),
                 TRACEINJECT_RECORD(true))
TRACEINJECT_WRAP(kRuntime, cudaStreamWaitEvent, (void* stream, void* event, unsigned flags),
                 (stream, event, flags), TRACEINJECT_STREAM_WAIT(false))
TRACEINJECT_WRAP(kRuntime, cudaStreamWaitEvent_ptsz, (void* stream, void* event, unsigned flags),
                 (stream, event, flags), TRACEINJECT_STREAM_WAIT(true))
TRACEINJECT_WRAP(kRuntime, cudaEventSynchronize, (void* event), (event), TRACEINJECT_EVENT_SYNC)
TRACEINJECT_WRAP(kRuntime, cudaStreamSynchronize, (void* stream), (stream),
                 TRACEINJECT_STREAM_SYNC(false))
TRACEINJECT_WRAP(kRuntime, cudaStreamSynchronize_ptsz, (void* stream), (stream),
                 TRACEINJECT_STREAM_SYNC(true))
TRACEINJECT_WRAP(kRuntime, cudaDeviceSynchronize, (), (), TRACEINJECT_DEVICE_SYNC)
TRACEINJECT_WRAP(kDriver, cuEventRecord, (void* event, void* stream), (event, stream),
                 TRACEINJECT_RECORD(false))
TRACEINJECT_WRAP(kDriver, cuEventRecord_ptsz, (void* event, void* stream), (event, stream),
                 TRACEINJECT_RECORD(true))
TRACEINJECT_WRAP(kDriver, cuEventRecordWithFlags, (void* event, void* stream, unsigned flags),
                 (event, stream, flags), TRACEINJECT_RECORD(false))
TRACEINJECT_WRAP(kDriver, cuEventRecordWithFlags_ptsz, (void* event, void* stream, unsigned flags),
                 (event, stream, flags), TRACEINJECT_RECORD(true))
TRACEINJECT_WRAP(kDriver, cuStreamWaitEvent, (void* stream, void* event, unsigned flags),
                 (stream, event, flags), TRACEINJECT_STREAM_WAIT(false))
TRACEINJECT_WRAP(kDriver, cuStreamWaitEvent_ptsz, (void* stream, void* event, unsigned flags),
                 (stream, event, flags), TRACEINJECT_STREAM_WAIT(true))
TRACEINJECT_WRAP(kDriver, cuEventSynchronize, (void* event), (event), TRACEINJECT_EVENT_SYNC)
TRACEINJECT_WRAP(kDriver, cuStreamSynchronize, (void* stream), (stream),
                 TRACEINJECT_STREAM_SYNC(false))
TRACEINJECT_WRAP(kDriver, cuStreamSynchronize_ptsz, (void* stream), (stream),
                 TRACEINJECT_STREAM_SYNC(true))
TRACEINJECT_WRAP(kDriver, cuCtxSynchronize, (), (), TRACEINJECT_DEVICE_SYNC)

// A destroyed stream's handle may come back for another stream.
#define TRACEINJECT_WRAP_DESTROY(library, name)                                 \
  extern "C" TRACEINJECT_EXPORT int name(void* stream) {                        \
    static constinit traceinject::RealFunction<int(void*)> real;                \
    auto* function = real.Get(traceinject::library, #name, TRACEINJECT_CALLER); \
    traceinject::ForgetStreams();                                               \
    return function == nullptr ? traceinject::kNotLoaded : function(stream);    \
  }
TRACEINJECT_WRAP_DESTROY(kRuntime, cudaStreamDestroy)
TRACEINJECT_WRAP_DESTROY(kDriver, cuStreamDestroy_v2)
