// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/train_nccl.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "tests/fake_gpu/clock.h"
#include "tests/fake_gpu/truth.h"

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

nvtxDomainHandle_t Domain() {
  static nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
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

void PushRange(const std::string& name, int schema, const std::string& payload) {
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

void PlainRange(const std::string& name, const std::function<void()>& body) {
  PushRange(name, 0, "");
  body();
  nvtxDomainRangePop(Domain());
}

std::uint64_t NewHash() {
  static std::atomic<std::uint64_t> last{0xb5ad4eceda1ce2a9};
  return last += 0x9e3779b9;
}

}  // namespace

NcclCommunicator::NcclCommunicator(bool with_hash, int size, int rank, int device)
    : with_hash_(with_hash), hash_(NewHash()) {
  const std::int64_t start_before = NowNs();
  PushRange("ncclCommInitRankConfig", 0, "");
  if (!with_hash_) {
    nvtxDomainRangePop(Domain());
    return;
  }
  std::string payload;
  Put(&payload, hash_);
  Put(&payload, size);
  Put(&payload, rank);
  Put(&payload, device);
  PadTo8(&payload);
  const nvtxPayloadData_t data{kSchemaBase + kCommInitRankConfig, payload.size(), payload.data()};
  nvtxRangePopPayload(Domain(), &data, 1);
  TruthLine("communicator")
      .Number("hash", static_cast<std::int64_t>(hash_))
      .Number("size", size)
      .Number("rank", rank)
      .Number("device", device)
      .Number("start_before", start_before)
      .Number("end_after", NowNs())
      .Write();
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

void NcclCommunicator::Announce(const Operation& operation, const std::function<void()>& body) {
  const std::int64_t start_before = NowNs();
  PushRange(std::string("nccl") + operation.function, operation.schema, Payload(operation));
  const std::int64_t start_after = NowNs();
  body();
  const std::int64_t end_before = NowNs();
  nvtxDomainRangePop(Domain());
  TruthLine line("collective");
  line.Text("function", operation.function)
      .Number("bytes", static_cast<std::int64_t>(operation.bytes))
      .Number("start_before", start_before)
      .Number("start_after", start_after)
      .Number("end_before", end_before)
      .Number("end_after", NowNs())
      .Number("tid", gettid());
  if (with_hash_) line.Number("communicator", static_cast<std::int64_t>(hash_));
  if (operation.root >= 0) line.Number("root", operation.root);
  if (operation.reduction >= 0) line.Number("reduction", operation.reduction);
  if (operation.peer >= 0) line.Number("peer", operation.peer);
  line.Write();
}

void NcclCommunicator::AllReduce(std::uint64_t bytes, int reduction,
                                 const std::function<void()>& launch) {
  Announce({"AllReduce", kAllReduce, bytes, -1, reduction}, launch);
}

void NcclCommunicator::AllGather(std::uint64_t bytes, const std::function<void()>& launch) {
  Announce({"AllGather", kAllGather, bytes}, launch);
}

void NcclCommunicator::ReduceScatter(std::uint64_t bytes, int reduction,
                                     const std::function<void()>& launch) {
  Announce({"ReduceScatter", kReduceScatter, bytes, -1, reduction}, launch);
}

void NcclCommunicator::Broadcast(std::uint64_t bytes, int root,
                                 const std::function<void()>& launch) {
  Announce({"Broadcast", kBroadcast, bytes, root}, launch);
}

void NcclCommunicator::Reduce(std::uint64_t bytes, int root, int reduction,
                              const std::function<void()>& launch) {
  Announce({"Reduce", kReduce, bytes, root, reduction}, launch);
}

void NcclCommunicator::Exchange(std::uint64_t bytes, int peer,
                                const std::function<void()>& launch) {
  PlainRange("ncclGroupStart", [] {});
  Announce({"Send", kSend, bytes, -1, -1, peer}, [] {});
  Announce({"Recv", kRecv, bytes, -1, -1, peer}, [] {});
  PlainRange("ncclGroupEnd", launch);
}

}  // namespace traceinject::fake
