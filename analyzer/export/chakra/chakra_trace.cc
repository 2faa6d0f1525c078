// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/chakra_trace.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/common/printable.h"
#include "analyzer/export/chakra/chakra_graph.h"
#include "analyzer/export/chakra/kernel_flops.h"
#include "analyzer/export/event_names.h"
#include "analyzer/export/kineto_nccl.h"
#include "schemas/chakra.pb.h"
#include "schemas/chakra_attributes.h"

namespace traceinject {
namespace {

// Of the schema, as Chakra's own generator writes it.
constexpr char kChakraVersion[] = "1.0.0";
constexpr char kHostCodeName[] = "host";
constexpr std::int64_t kMicrosecond_ns = 1'000;

struct ChakraFunction {
  std::string_view nccl;
  chakra::NodeType type;
  chakra::CollectiveType collective = chakra::ALL_REDUCE;
};
constexpr ChakraFunction kChakraFunctions[] = {
    {"AllReduce", chakra::COMM_COLL_NODE, chakra::ALL_REDUCE},
    {"AllGather", chakra::COMM_COLL_NODE, chakra::ALL_GATHER},
    {"ReduceScatter", chakra::COMM_COLL_NODE, chakra::REDUCE_SCATTER},
    {"AlltoAll", chakra::COMM_COLL_NODE, chakra::ALL_TO_ALL},
    {"Broadcast", chakra::COMM_COLL_NODE, chakra::BROADCAST},
    {"Reduce", chakra::COMM_COLL_NODE, chakra::REDUCE},
    {"Gather", chakra::COMM_COLL_NODE, chakra::GATHER},
    {"Scatter", chakra::COMM_COLL_NODE, chakra::SCATTER},
    {"Send", chakra::COMM_SEND_NODE},
    {"Recv", chakra::COMM_RECV_NODE},
};

const ChakraFunction* FindChakraFunction(std::string_view nccl) {
  const auto* const found =
      std::find_if(std::begin(kChakraFunctions), std::end(kChakraFunctions),
                   [&](const ChakraFunction& function) { return function.nccl == nccl; });
  return found == std::end(kChakraFunctions) ? nullptr : found;
}

// By CUpti_ActivityMemcpyKind: arrays are on the device.
chakra::NodeType TypeOfCopy(std::uint8_t kind) {
  constexpr std::uint8_t kHostToDevice = 1, kDeviceToHost = 2, kHostToArray = 3, kArrayToHost = 4;
  if (kind == kHostToDevice || kind == kHostToArray) return chakra::MEM_LOAD_NODE;
  if (kind == kDeviceToHost || kind == kArrayToHost) return chakra::MEM_STORE_NODE;
  return chakra::COMP_NODE;
}

class ChakraWriter {
 public:
  ChakraWriter(const Run& run, std::size_t rank, const CommGroups& groups, OutputFile& file)
      : base_(run.base_ns),
        rank_(run.ranks[rank]),
        index_(rank),
        own_number_(NumbersOfRanks(run)[rank]),
        groups_(groups),
        file_(file),
        names_(rank_) {
    for (const Device& device : rank_.devices) {
      NcclOfDevice& nccl = nccl_.emplace_back();
      nccl.links = LinkNccl(rank_, device, &nccl.parts);
      flops_.push_back(FindKernelFlops(rank_, device));
    }
  }

  ChakraCounts Write(const std::vector<Intervals>& chosen) {
    WriteHead();
    const std::vector<ChakraNode> graph = MakeChakraGraph(rank_, nccl_, chosen);
    for (std::size_t id = 0; id < graph.size(); ++id) WriteNode(id, graph[id]);
    counts_.nodes = graph.size();
    return counts_;
  }

 private:
  // A message behind its length.
  void Send(const google::protobuf::MessageLite& message) {
    using google::protobuf::io::CodedOutputStream;
    constexpr std::size_t kLongestLength = 5;
    const std::size_t size = message.ByteSizeLong();
    bytes_.resize(kLongestLength + size);
    auto* const begin = reinterpret_cast<std::uint8_t*>(bytes_.data());
    std::uint8_t* at =
        CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(size), begin);
    at = message.SerializeWithCachedSizesToArray(at);
    file_.Write({bytes_.data(), static_cast<std::size_t>(at - begin)});
  }

  void WriteHead() {
    chakra::GlobalMetadata head;
    head.set_version(kChakraVersion);
    const auto add = [&](const char* name) {
      chakra::Attribute& attribute = *head.add_attr();
      attribute.set_name(name);
      return &attribute;
    };
    add("producer")->set_string_val("traceinject");
    add("rank")->set_int64_val(own_number_);
    if (rank_.process.world_size) add("world_size")->set_int64_val(*rank_.process.world_size);
    add("host")->set_string_val(Printable(rank_.process.host));
    for (const Device& device : rank_.devices) add("gpu")->set_string_val(Printable(device.name));
    Send(head);
  }

  chakra::Attribute& Add(std::string_view name) {
    chakra::Attribute& attribute = *node_.add_attr();
    attribute.set_name(std::string(name));
    return attribute;
  }

  void WriteNode(std::size_t id, const ChakraNode& node) {
    node_.Clear();
    node_.set_id(id);
    node_.set_type(chakra::COMP_NODE);
    for (const std::uint32_t other : node.after) node_.add_data_deps(other);
    const std::int64_t start_us = (base_ + node.time.start) / kMicrosecond_ns;
    const std::int64_t end_us = (base_ + node.time.end) / kMicrosecond_ns;
    node_.set_start_time_micros(static_cast<std::uint64_t>(start_us));
    node_.set_duration_micros(static_cast<std::uint64_t>(end_us - start_us));
    const bool on_host = node.thread != kNone;
    Add(chakra::kIsCpuOp).set_bool_val(on_host);
    Add(chakra::kStartNs).set_int64_val(base_ + node.time.start);
    Add(chakra::kDurationNs).set_int64_val(node.time.end - node.time.start);
    on_host ? Host(node) : Gpu(node);
    Send(node_);
  }

  void Host(const ChakraNode& node) {
    node_.set_name(node.row == kNone ? kHostCodeName
                                     : Printable(rank_.api_names[rank_.api.name[node.row]].name));
    Add(chakra::kTid).set_int64_val(rank_.threads[node.thread].tid);
  }

  void Gpu(const ChakraNode& node) {
    const Device& device = rank_.devices[node.device];
    const GpuOps& ops = device.ops;
    node_.set_name(names_.text(names_.Of(ops, node.row)));
    Add(chakra::kDevice).set_int32_val(device.ordinal);
    Add(chakra::kStream).set_int64_val(rank_.streams[ops.stream[node.row]].stream_id);
    if (ops.launch[node.row] == kNone) ++counts_.without_launch;
    if (node.kind == ChakraNodeKind::kCommunication) return Communication(node);
    if (ops.kind[node.row] != OpKind::kKernel) {
      const Transfer& transfer = rank_.transfers[ops.detail[node.row]];
      if (ops.kind[node.row] == OpKind::kMemcpy) node_.set_type(TypeOfCopy(transfer.kind));
      Add(chakra::kTensorSize).set_uint64_val(static_cast<std::uint64_t>(transfer.bytes));
      return;
    }
    const auto flops = flops_[node.device].find(node.row);
    if (flops == flops_[node.device].end()) return;
    Add(chakra::kNumOps).set_int64_val(std::llround(flops->second.flops));
    if (flops->second.bytes)
      Add(chakra::kTensorSize)
          .set_uint64_val(static_cast<std::uint64_t>(std::llround(*flops->second.bytes)));
  }

  // Of what was recorded of the call; else of its kernel, whose name tells the function at most.
  void Communication(const ChakraNode& node) {
    const NcclLaunch& launch = nccl_[node.device].links.launches[node.launch];
    const Collectives& calls = rank_.collectives;
    const bool is_known = node.collective != kNone;
    const std::string_view nccl =
        is_known ? rank_.string(calls.function[node.collective]) : launch.function;
    const ChakraFunction* const function = FindChakraFunction(nccl);
    if (function == nullptr) {
      ++counts_.without_size;
      return;
    }
    node_.set_type(function->type);
    if (function->type == chakra::COMM_COLL_NODE)
      Add(chakra::kCommType).set_int64_val(function->collective);
    if (is_known) {
      Bytes(nccl, node.collective);
      Group(node.collective, function->type);
    } else {
      ++counts_.without_size;
    }
  }

  void Bytes(std::string_view nccl, std::uint32_t call) {
    const std::uint32_t communicator = rank_.collectives.communicator[call];
    const std::optional<int> ranks =
        communicator == kNone ? std::nullopt : rank_.communicators[communicator].size;
    const auto message = MessageBytes(nccl, rank_.collectives.bytes[call], ranks);
    const auto given = message ? BytesGiven(nccl, *message, ranks) : std::nullopt;
    if (!given) {
      ++counts_.without_size;
      return;
    }
    Add(chakra::kCommSize).set_int64_val(*given);
    Add(chakra::kMessageBytes).set_int64_val(*message);
  }

  void Group(std::uint32_t call, chakra::NodeType type) {
    const std::uint32_t communicator = rank_.collectives.communicator[call];
    const int group = groups_.NumberOf(index_, communicator);
    if (group > 0) Add(chakra::kGroup).set_string_val(fmt::format("{}", group));
    if (type == chakra::COMM_COLL_NODE) return;
    const std::optional<int> peer =
        groups_.MemberOf(index_, communicator, rank_.collectives.peer[call]);
    if (!peer) ++counts_.without_peer;
    const bool sends = type == chakra::COMM_SEND_NODE;
    Add(sends ? chakra::kCommSource : chakra::kCommTarget).set_int32_val(own_number_);
    if (peer) Add(sends ? chakra::kCommTarget : chakra::kCommSource).set_int32_val(*peer);
    // The k-th send to a rank is its k-th receive, in each group.
    Add(chakra::kCommTag).set_int32_val(group);
  }

  std::int64_t base_;
  const Rank& rank_;
  std::size_t index_;
  int own_number_;
  const CommGroups& groups_;
  OutputFile& file_;
  EventNames names_;
  std::vector<NcclOfDevice> nccl_;                                     // by device
  std::vector<std::unordered_map<std::uint32_t, KernelFlops>> flops_;  // likewise
  chakra::Node node_;
  std::string bytes_;
  ChakraCounts counts_;
};

}  // namespace

ChakraCounts& ChakraCounts::operator+=(const ChakraCounts& other) {
  nodes += other.nodes;
  without_size += other.without_size;
  without_peer += other.without_peer;
  without_launch += other.without_launch;
  return *this;
}

ChakraCounts WriteChakraTrace(const Run& run, std::size_t rank, const CommGroups& groups,
                              const std::vector<Intervals>& chosen, OutputFile& file) {
  return ChakraWriter(run, rank, groups, file).Write(chosen);
}

}  // namespace traceinject
