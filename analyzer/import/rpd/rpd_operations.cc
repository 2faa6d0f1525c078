// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/rpd/rpd_operations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/import/source/column_ranges.h"

namespace traceinject {
namespace {

constexpr std::string_view kOps = "rocpd_op", kLinks = "rocpd_api_ops",
                           kLaunches = "rocpd_kernelapi", kCopies = "rocpd_copyapi";

// CUpti_ActivityMemcpyKind.
constexpr std::uint8_t kPeerCopy = 10;
struct Direction {
  std::string_view word;  // in lower case, without underscores
  std::uint8_t kind;
};
constexpr Direction kDirections[] = {
    {"hosttodevice", 1}, {"devicetohost", 2}, {"devicetodevice", 8}, {"hosttohost", 9}};
// hipMemcpyKind, which is cudaMemcpyKind; the default one says nothing.
constexpr std::array<std::uint8_t, 5> kKindOfCall = {9, 1, 2, 8, 0};

std::string LowerWord(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c != '_') word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

// What a text of opType_id or description_id says of an operation.
struct RpdOpType {
  std::optional<OpKind> kind;
  std::uint8_t copy = 0;
  bool empty = true;
};

// CopyHostToDevice, FillBuffer, KernelExecution and Task of roctracer, MEMORY_COPY_HOST_TO_DEVICE
// of rocprofiler, Memcpy, Memset, Kernel and ConcurrentKernel of CUPTI.
RpdOpType TypeFrom(std::string_view text) {
  const std::string word = LowerWord(text);
  RpdOpType type;
  type.empty = word.empty();
  for (const Direction& direction : kDirections) {
    if (word.find(direction.word) != std::string::npos) type.copy = direction.kind;
  }
  if (word.find("copy") != std::string::npos || word == "memcpy") {
    type.kind = OpKind::kMemcpy;
  } else if (word.starts_with("fill") || word == "memset") {
    type.kind = OpKind::kMemset;
  } else if (word.find("kernel") != std::string::npos || word == "task") {
    type.kind = OpKind::kKernel;
  }
  return type;
}

// A row of rocpd_kernelapi.
using RpdLaunch = std::array<std::int64_t, 8>;  // name_id, grid, block, shared memory

struct RpdCopy {
  std::int64_t bytes = -1;  // -1: not told
  std::uint8_t kind = 0;
  int src_device = -1, dst_device = -1;
};

// An operation whose call is not there.
struct Orphan {
  ForeignOperation operation;
  std::int64_t gpu = 0;
  std::int64_t description = 0;
  std::int64_t type = 0;
};

class RpdOpReader {
 public:
  explicit RpdOpReader(RpdReader& reader) : reader_(reader) {
    // CUPTI's tracer puts context and stream where others put queue and packet.
    const auto& texts = reader.strings().texts;
    by_cupti_ = std::find(texts.begin(), texts.end(), "ConcurrentKernel") != texts.end();
    for (const std::string& text : texts) types_.push_back(TypeFrom(text));
  }

  Status Read() {
    Status status = ReadLinks();
    if (status.ok()) status = ReadLaunches();
    if (status.ok()) status = ReadCopies();
    if (status.ok()) status = ReadOps();
    if (status.ok()) PlaceOrphans();
    return status;
  }

  std::int64_t unsized_copies() const { return unsized_copies_; }

 private:
  Status ReadLinks() {
    return reader_.rows().ForEachRowOf(
        kLinks, {"api_id", "op_id"}, {"api_id", "op_id"}, [&](const SqlRow& row) {
          link_ids_.Add(row.int64(1), static_cast<std::uint32_t>(links_.size()));
          links_.push_back(row.int64(0));
        });
  }

  Status ReadLaunches() {
    return reader_.rows().ForEachRowOf(
        kLaunches, {"api_ptr_id"},
        {"api_ptr_id", "kernelName_id", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY",
         "workgroupZ", "groupSegmentSize"},
        [&](const SqlRow& row) {
          RpdLaunch launch{};
          for (int i = 0; i < static_cast<int>(launch.size()); ++i)
            launch[static_cast<std::size_t>(i)] = row.int64(i + 1);
          // Few are different.
          const auto next = static_cast<std::uint32_t>(launches_.size());
          const auto [entry, is_new] = launch_numbers_.try_emplace(launch, next);
          if (is_new) launches_.push_back(launch);
          launch_ids_.Add(row.int64(0), entry->second);
        });
  }

  Status ReadCopies() {
    return reader_.rows().ForEachRowOf(
        kCopies, {"api_ptr_id", "size", "kind"},
        {"api_ptr_id", "size", "width", "height", "kind", "srcDevice", "dstDevice"},
        [&](const SqlRow& row) {
          RpdCopy copy;
          if (row.type(1) == SQLITE_INTEGER) {
            copy.bytes = row.int64(1);
          } else if (row.type(2) == SQLITE_INTEGER && row.type(3) == SQLITE_INTEGER) {
            if (__builtin_mul_overflow(row.int64(2), row.int64(3), &copy.bytes)) copy.bytes = -1;
          }
          const std::int64_t kind = row.int64(4);
          if (row.type(4) == SQLITE_INTEGER && kind >= 0 &&
              kind < static_cast<std::int64_t>(kKindOfCall.size()))
            copy.kind = kKindOfCall[static_cast<std::size_t>(kind)];
          copy.src_device = Narrow(row.int64(5));
          copy.dst_device = Narrow(row.int64(6));
          copy_ids_.Add(row.int64(0), static_cast<std::uint32_t>(copies_.size()));
          copies_.push_back(copy);
        });
  }

  Status ReadOps() {
    return reader_.rows().ForEachRowOf(
        kOps,
        {"id", "start", "end", "gpuId", "queueId", "sequenceId", "description_id", "opType_id"},
        {"start", "end", "id", "gpuId", "queueId", "sequenceId", "description_id", "opType_id"},
        [&](const SqlRow& row) { AddOp(row); });
  }

  void AddOp(const SqlRow& row) {
    ForeignOperation operation;
    if (!reader_.Times(kOps, row, operation.start, operation.end, reader_.base())) return;
    const std::int64_t gpu = row.is_null(3) ? -1 : row.int64(3);
    operation.device = gpu < 0 ? -1 : reader_.GpuOf(gpu);
    const std::int64_t queue = reader_.QueueOf(gpu, row.int64(4));
    operation.context = by_cupti_ ? queue : 0;
    operation.stream = by_cupti_ ? row.int64(5) : QueueNumber(queue);
    // Of rocprofiler's tracer, which counts the threads of a grid.
    const bool is_packet = !by_cupti_ && row.int64(5) != 0;
    const std::uint32_t link = link_ids_.Find(row.int64(2));
    const RpdCall* call = link == kNone ? nullptr : reader_.FindCall(links_[link]);
    if (link != kNone) operation.correlation = static_cast<std::uint64_t>(links_[link]);
    if (call == nullptr) {
      orphans_.push_back({operation, gpu, row.int64(6), row.int64(7)});
      return;
    }
    Owner(gpu, call->process);
    Place(*call->process, operation, row.int64(6), row.int64(7), call, is_packet);
  }

  // Rocprofiler's tracer writes handles, which are no numbers of streams.
  std::int64_t QueueNumber(std::int64_t queue) {
    if (queue >= 0 && queue < kNone) return queue;
    return handles_.try_emplace(queue, static_cast<std::int64_t>(handles_.size()) + 1)
        .first->second;
  }

  // The only process that is known to use a GPU; null: there are several.
  void Owner(std::int64_t gpu, ForeignProcess* process) {
    const auto [entry, is_new] = owners_.try_emplace(gpu, process);
    if (!is_new && entry->second != process) entry->second = nullptr;
  }

  // What no call leads to belongs to who else uses the GPU.
  void PlaceOrphans() {
    for (const Orphan& orphan : orphans_) {
      const auto owner = owners_.find(orphan.gpu);
      ForeignProcess* process = owner == owners_.end() ? OnlyProcess() : owner->second;
      if (process == nullptr) {
        reader_.rows().Count(kOps, RowProblem::kNoProcess);
        continue;
      }
      Place(*process, orphan.operation, orphan.description, orphan.type, nullptr, false);
    }
  }
  ForeignProcess* OnlyProcess() {
    if (reader_.processes().empty()) return reader_.Process(kOps, 0, 0);
    return reader_.processes().size() == 1 ? reader_.processes().begin()->second.get() : nullptr;
  }

  RpdOpType TypeOf(std::int64_t id) const {
    const std::uint32_t index = reader_.strings().ids.Find(id);
    return index == kNone ? RpdOpType() : types_[index];
  }

  void Place(ForeignProcess& process, const ForeignOperation& operation, std::int64_t description,
             std::int64_t type_id, const RpdCall* call, bool is_packet) {
    const RpdOpType type = TypeOf(type_id);
    if (!type.kind) return reader_.rows().Count(kOps, RowProblem::kUnknownKind);
    bool added = false;
    if (*type.kind == OpKind::kKernel) {
      added = AddKernel(process, operation, description, call, is_packet);
    } else {
      Transfer transfer;
      if (*type.kind == OpKind::kMemcpy)
        transfer = TransferOf(process, operation, type.copy | TypeOf(description).copy, call);
      added = process.AddTransfer(operation, *type.kind, transfer);
    }
    if (!added) reader_.rows().Count(kOps, RowProblem::kNoDevice);
  }

  bool AddKernel(ForeignProcess& process, const ForeignOperation& operation,
                 std::int64_t description, const RpdCall* call, bool is_packet) {
    const std::uint32_t found = call == nullptr ? kNone : launch_ids_.Find(call->id);
    const RpdLaunch launch = found == kNone ? RpdLaunch{} : launches_[found];
    const std::int64_t name = TypeOf(description).empty ? launch[0] : description;
    if (TypeOf(name).empty) reader_.rows().Count(kOps, RowProblem::kNameless);
    KernelShape shape;
    const bool in_threads = is_packet || (call != nullptr && CountsThreads(*call));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::int64_t grid = launch[1 + axis];
      const std::int64_t block = launch[4 + axis];
      if (in_threads && block > 0 && grid > 0) grid = (grid - 1) / block + 1;
      shape.grid[axis] = Narrow(grid);
      shape.block[axis] = Narrow(block);
    }
    shape.dynamic_shared_bytes = SharedBytes(launch[7]);
    return process.AddKernel(operation, shape, name);
  }

  // These take the size of the grid in threads, not in blocks.
  bool CountsThreads(const RpdCall& call) const {
    const std::string& name = reader_.strings().texts[call.name];
    return name == "hipExtModuleLaunchKernel" || name == "hipHccModuleLaunchKernel";
  }

  Transfer TransferOf(ForeignProcess& process, const ForeignOperation& operation, unsigned told,
                      const RpdCall* call) {
    Transfer transfer;
    transfer.kind = static_cast<std::uint8_t>(told);
    transfer.async = process.IsAsync(operation.correlation);
    const std::uint32_t found = call == nullptr ? kNone : copy_ids_.Find(call->id);
    const RpdCopy copy = found == kNone ? RpdCopy() : copies_[found];
    if (copy.bytes >= 0) {
      transfer.bytes = MovedBytes(copy.bytes);
    } else {
      ++unsized_copies_;
    }
    if (transfer.kind == 0) transfer.kind = copy.kind;
    if (call != nullptr && found != kNone &&
        reader_.strings().texts[call->name].find("Peer") != std::string::npos) {
      transfer.kind = kPeerCopy;
      transfer.src_device = copy.src_device;
      transfer.dst_device = copy.dst_device;
    }
    return transfer;
  }

  RpdReader& reader_;
  bool by_cupti_ = false;
  std::vector<RpdOpType> types_;  // by index into strings().texts
  IdMap link_ids_, launch_ids_, copy_ids_;
  std::vector<std::int64_t> links_;  // ids of calls
  std::vector<RpdLaunch> launches_;
  std::map<RpdLaunch, std::uint32_t> launch_numbers_;
  std::vector<RpdCopy> copies_;
  std::unordered_map<std::int64_t, std::int64_t> handles_;
  std::unordered_map<std::int64_t, ForeignProcess*> owners_;  // by gpuId
  std::vector<Orphan> orphans_;
  std::int64_t unsized_copies_ = 0;
};

}  // namespace

Status ReadRpdOperations(RpdReader& reader, std::int64_t& unsized_copies) {
  RpdOpReader operations(reader);
  const Status read = operations.Read();
  unsized_copies = operations.unsized_copies();
  return read;
}

}  // namespace traceinject
