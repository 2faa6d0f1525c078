// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/nccl_profiler.h"

#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>

#include "injector/nccl/profiler_abi.h"

namespace traceinject::fake {
namespace {

using namespace nccl_abi;

constexpr std::uint64_t kGroup = 1 << 0, kGroupApi = 1 << 8;

void* OpenNetPlugin() {
  const char* name = std::getenv("NCCL_NET_PLUGIN");
  return dlopen(
      name == nullptr ? "libnccl-net.so" : ("libnccl-net-" + std::string(name) + ".so").c_str(),
      RTLD_NOW | RTLD_LOCAL);
}

// The net plug-in, which is open by then, is asked where no plug-in is a profiler.
void* OpenPlugin() {
  static void* const net = OpenNetPlugin();
  const char* name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name != nullptr && strcasecmp(name, "none") == 0) return nullptr;
  const bool is_static = name != nullptr && strcasecmp(name, "STATIC_PLUGIN") == 0;
  if (name == nullptr) name = "libnccl-profiler.so";
  void* plugin = dlopen(is_static ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
  return plugin != nullptr ? plugin : net;
}

template <std::size_t count>
std::uint8_t Number(const char* const (&words)[count], const char* word) {
  const auto found = std::find_if(std::begin(words), std::end(words),
                                  [&](const char* known) { return std::strcmp(known, word) == 0; });
  return static_cast<std::uint8_t>(found - std::begin(words));
}

// nccl.h and src/include/nccl_common.h of 2.23.
constexpr const char* kFunctions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                      "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* kDatatypes[] = {"ncclInt8",  "ncclUint8",  "ncclInt32",   "ncclUint32",
                                      "ncclInt64", "ncclUint64", "ncclFloat16", "ncclFloat32"};
constexpr const char* kAlgorithms[] = {"TREE", "RING"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

// AllGather and Broadcast move bytes.
bool MovesBytes(const NcclTask& task) {
  return std::strcmp(task.function, "AllGather") == 0 ||
         std::strcmp(task.function, "Broadcast") == 0;
}
const char* DatatypeOf(const NcclTask& task) {
  return MovesBytes(task) ? "ncclInt8" : task.datatype;
}

template <typename Descriptor>
constexpr bool kHasCommunicator =
    std::is_same_v<Descriptor, DescriptorV1> || std::is_same_v<Descriptor, DescriptorV2> ||
    std::is_same_v<Descriptor, DescriptorV3>;
template <typename Descriptor>
constexpr bool kHasNumbers = std::is_same_v<Descriptor, DescriptorV1>;

template <typename Descriptor>
void FillColl(const NcclFacts& facts, const NcclTask& task, Descriptor* d) {
  d->type = kColl;
  d->coll.sequence = task.sequence;
  d->coll.count = MovesBytes(task) ? task.bytes : task.count;
  d->coll.root = std::max(0, task.root);
  d->coll.channels = static_cast<std::uint8_t>(task.channels);
  d->coll.warps = static_cast<std::uint8_t>(task.warps);
  if constexpr (kHasCommunicator<Descriptor>) {
    d->coll.name = facts.name;
    d->coll.communicator = facts.hash;
  }
  if constexpr (kHasNumbers<Descriptor>) {
    d->coll.reduction = static_cast<std::uint32_t>(std::max(0, task.reduction));
    d->coll.function = Number(kFunctions, task.function);
    d->coll.datatype = Number(kDatatypes, DatatypeOf(task));
    d->coll.algorithm = Number(kAlgorithms, task.algorithm);
    d->coll.protocol = Number(kProtocols, task.protocol);
  } else {
    d->coll.function = task.function;
    d->coll.datatype = DatatypeOf(task);
    d->coll.algorithm = task.algorithm;
    d->coll.protocol = task.protocol;
  }
}

template <typename Descriptor>
void FillP2p(const NcclFacts& facts, const NcclTask& task, Descriptor* d) {
  d->type = kP2p;
  d->p2p.count = task.count;
  d->p2p.peer = task.peer;
  if constexpr (kHasCommunicator<Descriptor>) {
    d->p2p.name = facts.name;
    d->p2p.communicator = facts.hash;
  } else {
    d->p2p.channels = static_cast<std::uint8_t>(task.channels);
  }
  if constexpr (kHasNumbers<Descriptor>) {
    d->p2p.function = Number(kFunctions, task.function);
    d->p2p.datatype = Number(kDatatypes, task.datatype);
  } else {
    d->p2p.function = task.function;
    d->p2p.datatype = task.datatype;
  }
}

// Calls with the interface of the version.
template <typename Call>
void* With(int version, void* profiler, Call call) {
  switch (version) {
    case 1:
      return call(static_cast<ProfilerV1*>(profiler), DescriptorV1{});
    case 2:
      return call(static_cast<ProfilerV2*>(profiler), DescriptorV2{});
    case 3:
      return call(static_cast<ProfilerV3*>(profiler), DescriptorV3{});
    case 4:
      return call(static_cast<ProfilerV4*>(profiler), DescriptorV4{});
    case 5:
      return call(static_cast<ProfilerV5*>(profiler), DescriptorV5{});
    default:
      return nullptr;
  }
}

}  // namespace

NcclProfiler::NcclProfiler(int newest, const NcclFacts& facts) : facts_(facts) {
  void* library = newest > 0 ? OpenPlugin() : nullptr;
  if (library == nullptr) return;
  for (version_ = newest; version_ > 0; --version_) {
    profiler_ = dlsym(library, ("ncclProfiler_v" + std::to_string(version_)).c_str());
    if (profiler_ != nullptr) break;
  }
  With(version_, profiler_, [&](auto* profiler, auto descriptor) -> void* {
    using Descriptor = decltype(descriptor);
    int result = 0;
    if constexpr (std::is_same_v<Descriptor, DescriptorV5>) {
      result = profiler->init(&context_, facts.hash, &mask_, facts.name, facts.nodes, facts.size,
                              facts.rank, nullptr);
    } else if constexpr (std::is_same_v<Descriptor, DescriptorV4>) {
      result = profiler->init(&context_, &mask_, facts.name, facts.hash, facts.nodes, facts.size,
                              facts.rank, nullptr);
    } else {
      result = profiler->init(&context_, &mask_);
    }
    if (result != kSuccess) version_ = 0;
    return nullptr;
  });
}

NcclProfiler::~NcclProfiler() {
  With(version_, profiler_, [&](auto* profiler, auto) -> void* {
    if (context_ != nullptr) profiler->finalize(context_);
    return nullptr;
  });
}

void* NcclProfiler::StartGroupOfCalls() {
  if (version_ < 5 || mask_ == 0) return nullptr;
  DescriptorV5 descriptor{};
  descriptor.type = kGroupApi;
  void* handle = nullptr;
  static_cast<ProfilerV5*>(profiler_)->start_event(context_, &handle, &descriptor);
  return handle;
}

// All that is under a call is told of it, too, whatever the mask.
void* NcclProfiler::StartCall(void* group_of_calls, const NcclTask& task, bool captured) {
  if (version_ < 5 || mask_ == 0) return nullptr;
  DescriptorV5 descriptor{};
  descriptor.parent = group_of_calls;
  if (task.p2p()) {
    descriptor.type = kP2pApi;
    descriptor.p2p_api.function = task.function;
    descriptor.p2p_api.count = task.count;
    descriptor.p2p_api.datatype = task.datatype;
    descriptor.p2p_api.graph_captured = captured;
  } else {
    descriptor.type = kCollApi;
    descriptor.coll_api.function = task.function;
    descriptor.coll_api.count = task.count;
    descriptor.coll_api.datatype = task.datatype;
    descriptor.coll_api.root = std::max(0, task.root);
    descriptor.coll_api.graph_captured = captured;
  }
  void* handle = nullptr;
  static_cast<ProfilerV5*>(profiler_)->start_event(context_, &handle, &descriptor);
  return handle;
}

void* NcclProfiler::StartLaunch(void* group_of_calls) {
  if (version_ < 5 || (static_cast<unsigned>(mask_) & kKernelLaunch) == 0) return nullptr;
  DescriptorV5 descriptor{};
  descriptor.type = kKernelLaunch;
  descriptor.parent = group_of_calls;
  void* handle = nullptr;
  static_cast<ProfilerV5*>(profiler_)->start_event(context_, &handle, &descriptor);
  return handle;
}

void* NcclProfiler::StartGroup() {
  if (mask_ == 0) return nullptr;
  return With(version_, profiler_, [&](auto* profiler, auto descriptor) {
    descriptor.type = kGroup;
    void* handle = nullptr;
    profiler->start_event(context_, &handle, &descriptor);
    return handle;
  });
}

void* NcclProfiler::StartTask(void* group, const NcclTask& task) {
  // Until version 4 nothing is told of a group without a handle.
  if (mask_ == 0 || (version_ < 5 && group == nullptr)) return nullptr;
  return With(version_, profiler_, [&](auto* profiler, auto descriptor) {
    task.p2p() ? FillP2p(facts_, task, &descriptor) : FillColl(facts_, task, &descriptor);
    descriptor.parent = version_ < 5 ? group : task.call;
    descriptor.rank = facts_.rank;
    void* handle = nullptr;
    profiler->start_event(context_, &handle, &descriptor);
    return handle;
  });
}

void NcclProfiler::Stop(void* handle) {
  if (handle == nullptr) return;
  With(version_, profiler_, [&](auto* profiler, auto) -> void* {
    profiler->stop_event(handle);
    return nullptr;
  });
}

}  // namespace traceinject::fake
