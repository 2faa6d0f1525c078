// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler plug-in: what NCCL calls when NCCL_PROFILER_PLUGIN names us (see
// environment/environment.cc). NCCL looks for the newest version that it knows.
//
// Runs on the program's threads: nothing here allocates, locks, blocks or throws, and NCCL is
// always told that all went well.
#include <string.h>

#include <algorithm>
#include <atomic>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/exported.h"
#include "injector/base/own_cost.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/nccl/profiler_abi.h"
#include "injector/options/options.h"

namespace traceinject {
namespace {

using namespace nccl_abi;

constexpr int kMask = kColl | kP2p;
constexpr int kMaskV5 = kMask | kCollApi | kP2pApi | kKernelLaunch;

// NCCL's handles of events are ids of ours: the two lowest bits say whose end the writer wants to
// know. No handle is null, since until version 4 NCCL tells nothing of a group without one.
enum HandleKind : std::uint64_t { kNoEnd = 1, kCallHandle = 2, kLaunchHandle = 3 };
constexpr std::uint64_t kHandleKindMask = 3;

constinit std::atomic<std::uint64_t> g_last_id{0};

std::uint64_t NewId(HandleKind kind) {
  return (g_last_id.fetch_add(1, std::memory_order_relaxed) + 1) << 2 | kind;
}

void* HandleOf(std::uint64_t id) { return reinterpret_cast<void*>(id); }
std::uint64_t IdOf(const void* handle) { return reinterpret_cast<std::uint64_t>(handle); }

// A parent process may have named us in the environment although this one switches us off.
bool Wanted() { return !IsSwitchedOff("TRACEINJECT") && !IsSwitchedOff("TRACEINJECT_NCCL"); }

template <std::size_t size>
std::size_t CopyWord(char (&to)[size], const char* from) {
  const std::size_t length = from == nullptr ? 0 : strnlen(from, size - 1);
  if (length != 0) memcpy(to, from, length);
  memset(to + length, 0, size - length);
  return length;
}

// Room for an event whose bytes are zero but for the header; null: counted as dropped.
template <typename Event>
Event* Reserve(Ring** ring, EventType type) {
  *ring = g_rings.OfThisThread();
  auto* event = *ring == nullptr ? nullptr : static_cast<Event*>((*ring)->Reserve(sizeof(Event)));
  if (event == nullptr) {
    g_counters.Add(Health::kNcclPluginDropped);
    return nullptr;
  }
  memset(static_cast<void*>(event), 0, sizeof(Event));
  event->header = {sizeof(Event), static_cast<std::uint16_t>(type), 0, NowNs()};
  return event;
}

// Fills an event in and hands it to the writer.
template <typename Event, typename Fill>
void Emit(EventType type, Fill fill) {
  const OwnCost cost(Health::kNcclPluginOwnNs);
  Ring* ring = nullptr;
  Event* event = Reserve<Event>(&ring, type);
  if (event == nullptr) return;
  fill(event);
  ring->Publish(&g_wake);
}

// The words of version 1, which has numbers: ncclFunc_t, ncclDataType_t, NCCL_ALGO_* and
// NCCL_PROTO_* of NCCL 2.23.
template <std::size_t count>
const char* Word(const char* const (&words)[count], std::uint8_t number) {
  return number < count ? words[number] : nullptr;
}
constexpr const char* kFunctions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                      "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* kDatatypes[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                      "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                      "ncclFloat64", "ncclBfloat16"};
constexpr const char* kAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

// What tells one version from the next.
std::uint64_t CommunicatorOf(const DescriptorV1* d, void*, bool p2p) {
  return p2p ? d->p2p.communicator : d->coll.communicator;
}
std::uint64_t CommunicatorOf(const DescriptorV2* d, void*, bool p2p) {
  return p2p ? d->p2p.communicator : d->coll.communicator;
}
std::uint64_t CommunicatorOf(const DescriptorV3* d, void*, bool p2p) {
  return p2p ? d->p2p.communicator : d->coll.communicator;
}
std::uint64_t CommunicatorOf(const DescriptorV4*, void* context, bool) { return IdOf(context); }
std::uint64_t CommunicatorOf(const DescriptorV5*, void* context, bool) { return IdOf(context); }

template <typename Descriptor>
constexpr int kVersionOf = 0;
template <>
constexpr int kVersionOf<DescriptorV1> = 1;
template <>
constexpr int kVersionOf<DescriptorV2> = 2;
template <>
constexpr int kVersionOf<DescriptorV3> = 3;
template <>
constexpr int kVersionOf<DescriptorV4> = 4;
template <>
constexpr int kVersionOf<DescriptorV5> = 5;

template <typename Descriptor>
void FillColl(const Descriptor& d, NcclOperationEvent* event) {
  event->sequence = static_cast<std::int64_t>(d.coll.sequence);
  event->count = static_cast<std::int64_t>(d.coll.count);
  event->root = d.coll.root;
  event->channels = d.coll.channels;
  event->warps = d.coll.warps;
  if constexpr (kVersionOf<Descriptor> == 1) {
    // NCCL 2.27 and later do not report it, nor the communicator.
    if (d.coll.communicator != 0) event->reduction = static_cast<std::int32_t>(d.coll.reduction);
    CopyWord(event->function, Word(kFunctions, d.coll.function));
    CopyWord(event->datatype, Word(kDatatypes, d.coll.datatype));
    CopyWord(event->algorithm, Word(kAlgorithms, d.coll.algorithm));
    CopyWord(event->protocol, Word(kProtocols, d.coll.protocol));
  } else {
    CopyWord(event->function, d.coll.function);
    CopyWord(event->datatype, d.coll.datatype);
    CopyWord(event->algorithm, d.coll.algorithm);
    CopyWord(event->protocol, d.coll.protocol);
  }
}

template <typename Descriptor>
void FillP2p(const Descriptor& d, NcclOperationEvent* event) {
  event->count = static_cast<std::int64_t>(d.p2p.count);
  event->peer = d.p2p.peer;
  if constexpr (kVersionOf<Descriptor> == 1) {
    CopyWord(event->function, Word(kFunctions, d.p2p.function));
    CopyWord(event->datatype, Word(kDatatypes, d.p2p.datatype));
  } else {
    CopyWord(event->function, d.p2p.function);
    CopyWord(event->datatype, d.p2p.datatype);
  }
  if constexpr (kVersionOf<Descriptor> >= 4) event->channels = d.p2p.channels;
}

template <typename Descriptor>
void EmitOperation(void* context, const Descriptor& d, bool p2p) {
  g_counters.Add(Health::kNcclPluginSeen);
  Emit<NcclOperationEvent>(EventType::kNcclOperation, [&](NcclOperationEvent* event) {
    event->header.flags = kVersionOf<Descriptor>;
    event->communicator = CommunicatorOf(&d, context, p2p);
    event->sequence = event->root = event->peer = event->reduction = -1;
    event->channels = event->warps = -1;
    if constexpr (kVersionOf<Descriptor> >= 5) event->call = IdOf(d.parent);
    p2p ? FillP2p(d, event) : FillColl(d, event);
  });
}

std::uint64_t EmitCall(void* context, const DescriptorV5& d) {
  const std::uint64_t id = NewId(kCallHandle);
  Emit<NcclCallEvent>(EventType::kNcclCall, [&](NcclCallEvent* event) {
    const bool p2p = d.type == kP2pApi;
    event->id = id;
    event->group = IdOf(d.parent);
    event->communicator = IdOf(context);
    event->count = static_cast<std::int64_t>(p2p ? d.p2p_api.count : d.coll_api.count);
    event->root = p2p ? -1 : d.coll_api.root;
    event->captured = (p2p ? d.p2p_api.graph_captured : d.coll_api.graph_captured) ? 1 : 0;
    CopyWord(event->function, p2p ? d.p2p_api.function : d.coll_api.function);
    CopyWord(event->datatype, p2p ? d.p2p_api.datatype : d.coll_api.datatype);
  });
  return id;
}

std::uint64_t EmitLaunch(void* context, const DescriptorV5& d) {
  const std::uint64_t id = NewId(kLaunchHandle);
  Emit<NcclLaunchEvent>(EventType::kNcclLaunch, [&](NcclLaunchEvent* event) {
    event->id = id;
    event->group = IdOf(d.parent);
    event->communicator = IdOf(context);
  });
  return id;
}

template <typename Descriptor>
std::uint64_t Started(void* context, const Descriptor& d) {
  const auto type = static_cast<std::uint64_t>(d.type);
  if (type == kColl || type == kP2p) EmitOperation(context, d, type == kP2p);
  if constexpr (kVersionOf<Descriptor> >= 5) {
    if (type == kCollApi || type == kP2pApi) return EmitCall(context, d);
    if (type == kKernelLaunch) return EmitLaunch(context, d);
  }
  return NewId(kNoEnd);  // parents (groups) come although they are not in the mask
}

template <typename Descriptor>
int StartEvent(void* context, void** handle, Descriptor* descriptor) {
  if (handle == nullptr) return kSuccess;
  *handle = nullptr;
  if (descriptor != nullptr && Recording() && Delivers(Source::kProgram))
    *handle = HandleOf(Started(context, *descriptor));
  return kSuccess;
}

int StopEvent(void* handle) {
  const std::uint64_t kind = IdOf(handle) & kHandleKindMask;
  if (!Recording() || (kind != kCallHandle && kind != kLaunchHandle)) return kSuccess;
  Emit<NcclEndEvent>(kind == kCallHandle ? EventType::kNcclCallEnd : EventType::kNcclLaunchEnd,
                     [&](NcclEndEvent* event) { event->id = IdOf(handle); });
  return kSuccess;
}

int RecordEventState(void*, int, void*) { return kSuccess; }
int Finalize(void*) { return kSuccess; }

void SetMask(int* mask, int wanted) {
  if (mask != nullptr) *mask = Wanted() ? wanted : 0;
}

// The context is the communicator's hash: it needs no memory, and it is right also for a
// communicator that was made before recording began.
void Initialize(void** context, std::uint64_t communicator, const char* name, int nodes, int ranks,
                int rank) {
  if (context != nullptr) *context = HandleOf(communicator);
  if (!Recording() || !Wanted()) return;
  Emit<NcclInitEvent>(EventType::kNcclInit, [&](NcclInitEvent* event) {
    event->communicator = communicator;
    event->nodes = nodes;
    event->ranks = ranks;
    event->rank = rank;
    event->name_bytes = static_cast<std::uint32_t>(CopyWord(event->name, name));
  });
}

// Until version 3 init() tells nothing about the communicator; every event does.
int Init(void** context, int* mask) {
  if (context != nullptr) *context = nullptr;
  SetMask(mask, kMask);
  return kSuccess;
}

int InitWithName(void** context, int* mask, const char* name, std::uint64_t communicator, int nodes,
                 int ranks, int rank, void*) {
  SetMask(mask, kMask);
  Initialize(context, communicator, name, nodes, ranks, rank);
  return kSuccess;
}

int InitWithCalls(void** context, std::uint64_t communicator, int* mask, const char* name,
                  int nodes, int ranks, int rank, void*) {
  SetMask(mask, kMaskV5);
  Initialize(context, communicator, name, nodes, ranks, rank);
  return kSuccess;
}

template <typename Init, typename Descriptor>
constexpr Profiler<Init, Descriptor> Make(Init* init) {
  return {"traceinject", init, StartEvent<Descriptor>, StopEvent, RecordEventState, Finalize};
}

}  // namespace
}  // namespace traceinject

extern "C" {
TRACEINJECT_EXPORT constinit traceinject::nccl_abi::ProfilerV1 ncclProfiler_v1 =
    traceinject::Make<traceinject::InitV1, traceinject::DescriptorV1>(traceinject::Init);
TRACEINJECT_EXPORT constinit traceinject::nccl_abi::ProfilerV2 ncclProfiler_v2 =
    traceinject::Make<traceinject::InitV1, traceinject::DescriptorV2>(traceinject::Init);
TRACEINJECT_EXPORT constinit traceinject::nccl_abi::ProfilerV3 ncclProfiler_v3 =
    traceinject::Make<traceinject::InitV1, traceinject::DescriptorV3>(traceinject::Init);
TRACEINJECT_EXPORT constinit traceinject::nccl_abi::ProfilerV4 ncclProfiler_v4 =
    traceinject::Make<traceinject::InitV4, traceinject::DescriptorV4>(traceinject::InitWithName);
TRACEINJECT_EXPORT constinit traceinject::nccl_abi::ProfilerV5 ncclProfiler_v5 =
    traceinject::Make<traceinject::InitV5, traceinject::DescriptorV5>(traceinject::InitWithCalls);
}
