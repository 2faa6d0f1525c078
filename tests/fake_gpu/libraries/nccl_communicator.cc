// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/nccl_communicator.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/fake_gpu/libraries/nccl_log.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/truth.h"

namespace traceinject::fake {
namespace {

// Payload schema ids are (1 << 24) + SID.
constexpr std::uint64_t kSchemaBase = 1 << 24;
enum Sid {
  kAllGather = 4,
  kAllReduce = 5,
  kBroadcast = 6,
  kReduceScatter = 7,
  kReduce = 8,
  kSend = 9,
  kRecv = 10,
  kCommInitRankConfig = 11,
};

// As NCCL does, it registers what it is going to tell before any thread tells it. That also starts
// NVTX's extension on one thread: where several start it at once, what one of them tells first can
// get lost (nvtxExtInit.h; the compiler may reuse the slot that was read before the wait).
nvtxDomainHandle_t Domain() {
  static const nvtxDomainHandle_t domain = [] {
    const nvtxDomainHandle_t made = nvtxDomainCreateA("NCCL");
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    schema.schemaId = kSchemaBase + kCommInitRankConfig;
    nvtxPayloadSchemaRegister(made, &schema);
    return made;
  }();
  return domain;
}

template <typename Value>
void Put(std::string* bytes, Value value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes->append(raw, sizeof raw);
}

// C structures end at a multiple of their alignment.
void PadTo8(std::string* bytes) { bytes->resize((bytes->size() + 7) / 8 * 8); }

bool NvtxIsOff() { return SettingNumber("NCCL_NVTX_DISABLE", 0) != 0; }

void PushRange(const std::string& name, int schema, const std::string& payload) {
  if (NvtxIsOff()) return;
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(Domain(), name.c_str());
  nvtxPayloadData_t data{};
  if (!payload.empty()) {
    NVTX_PAYLOAD_EVTATTR_SET_DATA(attributes, &data, kSchemaBase + static_cast<unsigned>(schema),
                                  payload.data(), payload.size());
  }
  nvtxDomainRangePushEx(Domain(), &attributes);
}

void PopRange() {
  if (!NvtxIsOff()) nvtxDomainRangePop(Domain());
}

void PlainRange(const std::string& name, const std::function<void()>& body) {
  PushRange(name, 0, "");
  body();
  PopRange();
}

std::uint64_t NewHash() {
  static std::atomic<std::uint64_t> last{0xb5ad4eceda1ce2a9};
  return last += 0x9e3779b9;
}

// The version that came last before payloads with a communicator, or the newest.
int NewestInterface(bool with_hash) {
  return static_cast<int>(SettingNumber("FAKE_NCCL_PROFILER", with_hash ? 5 : 0));
}

std::string Hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

int NewNumber() {
  static std::atomic<int> last{0};
  return ++last;
}

}  // namespace

NcclCommunicator::NcclCommunicator(bool with_hash, int size, int rank, int device, const char* name)
    : with_hash_(with_hash),
      size_(size),
      rank_(rank),
      device_(device),
      hash_((PushRange("ncclCommInitRankConfig", 0, ""), NewHash())),
      profiler_(NewestInterface(with_hash), {hash_, name, 2, size, rank}) {
  LogBeginning();
  if (SettingNumber("FAKE_NCCL_LAZY", 1) == 0) Connect();
  LogEnd();
  if (!with_hash_) {
    PopRange();
    return;
  }
  std::string payload;
  Put(&payload, hash_);
  Put(&payload, size);
  Put(&payload, rank);
  Put(&payload, device);
  PadTo8(&payload);
  const nvtxPayloadData_t data{kSchemaBase + kCommInitRankConfig, payload.size(), payload.data()};
  if (!NvtxIsOff()) nvtxRangePopPayload(Domain(), &data, 1);
  TruthLine("communicator")
      .Text("name", name == nullptr ? "" : name)
      .Number("hash", static_cast<std::int64_t>(hash_))
      .Number("size", size)
      .Number("rank", rank)
      .Number("device", device)
      .Write();
}

NcclCommunicator::~NcclCommunicator() { LogInit("Destroy COMPLETE"); }

void NcclCommunicator::LogInit(const char* moment) const {
  const bool gone = std::strcmp(moment, "Destroy COMPLETE") == 0;
  char line[256];
  std::snprintf(line, sizeof line, "%scomm %p rank %d nranks %d cudaDev %d%s busId %x%s - %s",
                gone ? "" : "ncclCommInitRankConfig ", static_cast<const void*>(this), rank_, size_,
                device_, gone ? "" : (" nvmlDev " + std::to_string(device_)).c_str(),
                0x60 + 16 * device_, gone ? "" : (" commId " + Hexadecimal(hash_)).c_str(), moment);
  WriteNcclLog(kNcclInit, line);
}

void NcclCommunicator::LogBeginning() const {
  const std::string transport = SettingText("FAKE_NCCL_TRANSPORT", "p2p");
  WriteNcclVersion();
  WriteNcclLog(kNcclInit | kNcclNet, "NET/Plugin: Could not find: libnccl-net.so");
  if (transport == "ib") {
    WriteNcclLog(kNcclInit | kNcclNet,
                 "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:192.0.2.2<0>");
    WriteNcclLog(kNcclInit, "Using network IB");
  } else {
    WriteNcclLog(kNcclInit | kNcclNet, "NET/IB : No device found.");
    WriteNcclLog(kNcclInit | kNcclNet, "NET/Socket : Using [0]eth0:192.0.2.2<0>");
    WriteNcclLog(kNcclInit, "Using network Socket");
  }
  LogInit("Init START");
  WriteNcclLog(kNcclNet, transport == "ib"
                             ? "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"
                             : "NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'");
  char line[256];
  const bool apart = transport == "socket" || transport == "ib";
  std::snprintf(line, sizeof line,
                "comm %p rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL 0",
                static_cast<const void*>(this), rank_, size_, apart ? size_ : 1, apart ? 1 : size_,
                apart ? 0 : rank_);
  WriteNcclLog(kNcclInit, line);
  for (const char* ring : {"Ring 00", "Ring 01"})
    WriteNcclLog(kNcclGraph, std::string(ring) + " : 1 -> 0 -> 1");
  WriteNcclLog(kNcclInit | kNcclGraph, "Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1 ");
}

void NcclCommunicator::LogEnd() const {
  WriteNcclLog(kNcclInit,
               "2 coll channels, 2 collnet channels, 0 nvls channels, 4 p2p channels, 4 p2p "
               "channels per peer");
  LogInit("Init COMPLETE");
}

void NcclCommunicator::Connect() {
  if (std::exchange(connected_, true) || size_ == 1) return;
  const auto end = [&](int rank) {
    return std::to_string(rank) + "[" + std::to_string(rank == rank_ ? device_ : rank) + "]";
  };
  const std::string self = end(rank_), next = end((rank_ + 1) % size_),
                    before = end((rank_ + size_ - 1) % size_);
  const std::string transport = SettingText("FAKE_NCCL_TRANSPORT", "p2p");
  for (const std::string channel : {"Channel 00", "Channel 01"}) {
    if (transport == "p2p") {
      WriteNcclLog(kNcclInit | kNcclP2p,
                   channel + "/0 : " + self + " -> " + next + " via P2P/CUMEM/read");
    } else if (transport == "shm") {
      WriteNcclLog(kNcclInit | kNcclShm,
                   channel + " : " + self + " -> " + next + " via SHM/direct/direct");
    } else {
      const std::string path = transport == "ib" ? "NET/IB/0/GDRDMA" : "NET/Socket/0";
      WriteNcclLog(kNcclInit | kNcclNet,
                   channel + "/0 : " + before + " -> " + self + " [receive] via " + path);
      WriteNcclLog(kNcclInit | kNcclNet,
                   channel + "/0 : " + self + " -> " + next + " [send] via " + path);
    }
  }
  WriteNcclLog(kNcclInit, "Connected all rings, use ring PXN 0 GDR 0");
}

std::string NcclCommunicator::Payload(const Operation& operation) const {
  std::string bytes;
  if (with_hash_) Put(&bytes, hash_);
  Put(&bytes, operation.bytes);
  if (operation.root >= 0) Put(&bytes, operation.root);
  if (operation.reduction >= 0) Put(&bytes, operation.reduction);
  if (operation.peer >= 0) Put(&bytes, operation.peer);
  PadTo8(&bytes);
  return bytes;
}

void NcclCommunicator::Announce(const Operation& operation, const Launch& body) {
  const std::int64_t start_before = NowNs();
  PushRange(std::string("nccl") + operation.function, operation.schema, Payload(operation));
  const std::int64_t start_after = NowNs();
  body();
  const std::int64_t end_before = NowNs();
  const int number = tasks_.empty() ? last_number_ : tasks_.back().number;
  PopRange();
  TruthLine line("collective");
  line.Number("number", number);
  line.Text("function", operation.function)
      .Number("bytes", static_cast<std::int64_t>(operation.bytes))
      .Number("start_before", start_before)
      .Number("start_after", start_after)
      .Number("end_before", end_before)
      .Number("end_after", NowNs())
      .Number("tid", gettid());
  if (with_hash_) line.Number("communicator", static_cast<std::int64_t>(hash_));
  line.Number("hash", static_cast<std::int64_t>(hash_));
  if (operation.root >= 0) line.Number("root", operation.root);
  if (operation.reduction >= 0) line.Number("reduction", operation.reduction);
  if (operation.peer >= 0) line.Number("peer", operation.peer);
  line.Write();
}

void NcclCommunicator::AllReduce(std::uint64_t bytes, int reduction, const Launch& launch) {
  Issue({"AllReduce", kAllReduce, bytes, -1, reduction}, launch);
}

void NcclCommunicator::AllGather(std::uint64_t bytes, const Launch& launch) {
  Issue({"AllGather", kAllGather, bytes}, launch);
}

void NcclCommunicator::ReduceScatter(std::uint64_t bytes, int reduction, const Launch& launch) {
  Issue({"ReduceScatter", kReduceScatter, bytes, -1, reduction}, launch);
}

void NcclCommunicator::Broadcast(std::uint64_t bytes, int root, const Launch& launch) {
  Issue({"Broadcast", kBroadcast, bytes, root}, launch);
}

void NcclCommunicator::Reduce(std::uint64_t bytes, int root, int reduction, const Launch& launch) {
  Issue({"Reduce", kReduce, bytes, root, reduction}, launch);
}

void NcclCommunicator::Exchange(std::uint64_t bytes, int peer, const Launch& launch) {
  const Operation send{"Send", kSend, bytes, -1, -1, peer},
      recv{"Recv", kRecv, bytes, -1, -1, peer};
  PlainRange("ncclGroupStart", [] {});
  Announce(send, [&] { Enqueue(send); });
  Announce(recv, [&] { Enqueue(recv); });
  PlainRange("ncclGroupEnd", [&] { LaunchAll(launch); });
}

void NcclCommunicator::Fused(const std::vector<std::uint64_t>& sizes, const Launch& launch) {
  PlainRange("ncclGroupStart", [] {});
  for (const std::uint64_t bytes : sizes) {
    const Operation operation{"AllReduce", kAllReduce, bytes, -1, 0};
    Announce(operation, [&] { Enqueue(operation); });
  }
  PlainRange("ncclGroupEnd", [&] { LaunchAll(launch); });
}

void NcclCommunicator::Deferred(std::uint64_t bytes, const Launch& launch) {
  Issue({"AllReduce", kAllReduce, bytes, -1, 0}, launch, Teller::kOtherThread);
}

void NcclCommunicator::Captured(std::uint64_t bytes, int replays) {
  const Operation operation{"AllReduce", kAllReduce, bytes, -1, 0};
  std::vector<NcclTask> captured;
  Announce(operation, [&] {
    Enqueue(operation, true);
    captured = tasks_;
    profiler_.Stop(profiler_.StartLaunch(group_of_calls_));
    profiler_.Stop(std::exchange(group_of_calls_, nullptr));
    tasks_.clear();
  });
  std::thread([&] {
    for (int replay = 0; replay < replays; ++replay) Tell(captured);
  }).join();
}

void NcclCommunicator::Aborted(std::uint64_t bytes) {
  const Operation operation{"AllReduce", kAllReduce, bytes, -1, 0};
  PlainRange("ncclGroupStart", [] {});
  Announce(operation, [&] { Enqueue(operation); });
  tasks_.clear();
  profiler_.Stop(std::exchange(group_of_calls_, nullptr));
}

void NcclCommunicator::Issue(const Operation& operation, const Launch& launch, Teller teller) {
  Announce(operation, [&] {
    Enqueue(operation);
    LaunchAll(launch, teller);
  });
}

void NcclCommunicator::Enqueue(const Operation& operation, bool captured) {
  const bool large = operation.bytes >= 1 << 20, p2p = operation.peer >= 0;
  NcclTask task;
  task.function = operation.function;
  task.datatype = "ncclFloat32";
  task.count = operation.bytes / 4;
  task.bytes = operation.bytes;
  task.root = operation.root;
  task.peer = operation.peer;
  task.reduction = operation.reduction;
  task.sequence = p2p ? 0 : sequence_++;
  task.channels = large ? 24 : 2;
  task.warps = p2p ? 0 : large ? 17 : 5;
  task.algorithm = p2p ? "" : large ? "RING" : "TREE";
  task.protocol = p2p ? "" : large ? "SIMPLE" : "LL";
  task.number = last_number_ = NewNumber();
  if (group_of_calls_ == nullptr) group_of_calls_ = profiler_.StartGroupOfCalls();
  task.call = profiler_.StartCall(group_of_calls_, task, captured);
  profiler_.Stop(task.call);
  tasks_.push_back(task);
}

void NcclCommunicator::LaunchAll(const Launch& launch, Teller teller) {
  Connect();
  const std::vector<NcclTask> tasks = std::exchange(tasks_, {});
  void* handle = profiler_.StartLaunch(group_of_calls_);
  const std::int64_t before = NowNs();
  launch();
  const std::int64_t after = NowNs();
  profiler_.Stop(handle);
  for (const NcclTask& task : tasks) {
    TruthLine("plan")
        .Number("number", task.number)
        .Text("datatype", task.datatype)
        .Number("count", static_cast<std::int64_t>(task.count))
        .Number("sequence", static_cast<std::int64_t>(task.sequence))
        .Number("channels", task.channels)
        .Number("warps", task.warps)
        .Text("algorithm", task.algorithm)
        .Text("protocol", task.protocol)
        .Number("launch_before", before)
        .Number("launch_after", after)
        .Number("tid", gettid())
        .Write();
  }
  if (teller == Teller::kLaunchingThread) {
    Tell(tasks);
  } else {
    std::thread([&] { Tell(tasks); }).join();
  }
  profiler_.Stop(std::exchange(group_of_calls_, nullptr));
}

// Large ones first, as NCCL carries them out.
void NcclCommunicator::Tell(const std::vector<NcclTask>& tasks) {
  std::vector<NcclTask> sorted = tasks;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const NcclTask& a, const NcclTask& b) { return a.bytes > b.bytes; });
  void* group = profiler_.StartGroup();
  std::vector<void*> handles;
  for (const NcclTask& task : sorted) handles.push_back(profiler_.StartTask(group, task));
  for (void* handle : handles) profiler_.Stop(handle);
  profiler_.Stop(group);
}

}  // namespace traceinject::fake

extern "C" __attribute__((visibility("default"))) int ncclGetVersion(int* version) {
  using traceinject::fake::SettingNumber;
  constexpr int kVersions[] = {22203, 22304, 22403, 22602, 22703, 22809};
  return *version =
             kVersions[std::clamp<std::int64_t>(SettingNumber("FAKE_NCCL_PROFILER", 5), 0, 5)],
         0;
}

// For programs in other languages. A communicator lives as long as its process.
extern "C" __attribute__((visibility("default"))) void* FakeNcclInit(int size, int rank,
                                                                     int device) {
  return new traceinject::fake::NcclCommunicator(true, size, rank, device);
}

// `launch` launches the kernel.
extern "C" __attribute__((visibility("default"))) void FakeNcclAllReduce(void* communicator,
                                                                         std::uint64_t bytes,
                                                                         void (*launch)()) {
  static_cast<traceinject::fake::NcclCommunicator*>(communicator)->AllReduce(bytes, 0, launch);
}
