// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_collectives.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <set>
#include <tuple>

#include "analyzer/import/kineto/operator_inputs.h"
#include "analyzer/import/source/run_db_rows.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

struct Function {
  std::string_view part, nccl;
};
// The first row whose part the name holds decides; PyTorch has many variants of each (_base,
// _coalesced, _into_tensor, v). Underscores are left out before.
constexpr Function kFunctions[] = {
    {"allreduce", "AllReduce"}, {"reducescatter", "ReduceScatter"},
    {"allgather", "AllGather"}, {"alltoall", "AlltoAll"},
    {"broadcast", "Broadcast"}, {"barrier", "AllReduce"},
    {"reduce", "Reduce"},       {"gather", "Gather"},
    {"scatter", "Scatter"},     {"send", "Send"},
    {"recv", "Recv"},
};

std::optional<int> TypeBytes(std::string_view name) {
  if (const TensorType* type = FindTensorType(name)) return type->bytes;
  if (name.starts_with("Float8")) return 1;
  return std::nullopt;
}

// Of name and members, the same on all ranks (FNV-1a).
std::uint64_t GroupHash(const KinetoCollective& collective) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view text :
       {collective.group_name, std::string_view("|"), collective.group_ranks}) {
    for (const char c : text) {
      if (c == ' ') continue;
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return hash;
}

// The place of `rank` in "[0, 2, 4]". Empty: it is not there, or the list is abridged before it.
std::optional<int> PlaceInGroup(std::string_view ranks, int rank) {
  int place = 0;
  const char* at = ranks.data();
  const char* end = at + ranks.size();
  while (at < end) {
    if (*at == '.') return std::nullopt;
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    int number = 0;
    const auto [rest, code] = std::from_chars(at, end, number);
    if (code != std::errc()) return std::nullopt;
    if (number == rank) return place;
    ++place;
    at = rest;
  }
  return std::nullopt;
}

// In the communicator; -1: not told, or none.
std::int32_t PeerOf(std::string_view function, const KinetoCollective& collective,
                    const Communicator& communicator) {
  const bool sends = function == "Send";
  if (!sends && function != "Recv") return -1;
  const std::optional<std::int64_t> other = sends ? collective.destination : collective.source;
  if (other && *other >= 0 && *other <= std::numeric_limits<int>::max()) {
    if (const auto place = PlaceInGroup(collective.group_ranks, static_cast<int>(*other)))
      return *place;
  }
  const std::int64_t size = communicator.size.value_or(0);
  if (collective.rank && *collective.rank >= 0 && *collective.rank < size)
    return static_cast<std::int32_t>(*collective.rank);
  if (size == 2 && communicator.rank) return 1 - *communicator.rank;
  return -1;
}

constexpr std::string_view kNcclTitle = "nccl:", kNcclOperator = "record_param_comms";

// "all_reduce" of "nccl:all_reduce"; of "nccl:send 0->1" the peer, too.
void ReadTitle(std::string_view title, KinetoCollective& collective) {
  title.remove_prefix(kNcclTitle.size());
  const std::size_t space = title.find(' ');
  collective.name = title.substr(0, space);
  if (space == std::string_view::npos) return;
  std::size_t at = title.rfind("->");
  if (at == std::string_view::npos) at = title.rfind("<-");
  if (at == std::string_view::npos) return;
  int peer = 0;
  const char* const end = title.data() + title.size();
  if (std::from_chars(title.data() + at + 2, end, peer).ec == std::errc()) collective.rank = peer;
}

// All that the tensors of an annotation hold.
void ReadInputs(const KinetoEvent& event, KinetoCollective& collective) {
  std::int64_t elements = 0;
  const std::vector<OperatorInput> inputs = ParseInputDims(event.input_shapes);
  for (const OperatorInput& input : inputs) {
    for (const TensorSizes& tensor : input) {
      const std::int64_t count = CountElements(tensor);
      if (count < 0 || __builtin_add_overflow(elements, count, &elements)) return;
    }
  }
  const std::vector<std::string_view> types = ParseTexts(event.input_types);
  if (inputs.empty() || types.empty() || FindTensorType(types.front()) == nullptr) return;
  collective.dtype = types.front();
  collective.in_elements = elements;
}

// Ranges of one thread that lie in each other, and moments in them.
class RangesOfThreads {
 public:
  template <typename Ranges>
  RangesOfThreads(const Ranges& ranges, TimeNs anchor) {
    for (std::uint32_t at = 0; at < ranges.size(); ++at) {
      TimeNs start = 0;
      if (__builtin_sub_overflow(ranges[at].start, anchor, &start) || !IsPlausible(start)) continue;
      by_thread_[ranges[at].thread].push_back({{start, start + ranges[at].length}, at});
    }
    for (auto& [thread, list] : by_thread_) {
      std::sort(list.begin(), list.end(), [](const Placed& a, const Placed& b) {
        return std::tuple(a.time.start, -a.time.end, a.at) <
               std::tuple(b.time.start, -b.time.end, b.at);
      });
    }
  }

  // Calls visit(index) for those around a moment, the innermost first, until it returns true.
  template <typename Visit>
  void ForEachAround(std::uint32_t thread, TimeNs time, Visit visit) const {
    constexpr std::size_t kDeepest = 8;  // collectives of a group begin before it ends
    const auto found = by_thread_.find(thread);
    if (found == by_thread_.end()) return;
    const std::vector<Placed>& list = found->second;
    auto after =
        std::upper_bound(list.begin(), list.end(), time,
                         [](TimeNs one, const Placed& range) { return one < range.time.start; });
    for (std::size_t looked = 0; after != list.begin() && looked < kDeepest; ++looked) {
      --after;
      if (time < after->time.end && visit(after->at)) return;
    }
  }

 private:
  struct Placed {
    Interval time;
    std::uint32_t at = 0;
  };
  std::map<std::uint32_t, std::vector<Placed>> by_thread_;
};

void AddCall(Interval time, std::uint32_t thread, Collectives& calls) {
  calls.start.push_back(time.start);
  // Not empty: the launch has to lie inside.
  calls.end.push_back(std::max(time.end, time.start + 1));
  calls.thread.push_back(thread);
  calls.reduction.push_back(-1);
  calls.root.push_back(-1);
}

bool IsNccl(const Rank& rank, const GpuOps& ops, std::size_t row) {
  return ops.kind[row] == OpKind::kKernel && ops.kernel_class[row] == KernelClass::kComm &&
         IsNcclKernelName(rank.string(rank.shapes[ops.detail[row]].name));
}

}  // namespace

std::string_view NcclFunctionOf(std::string_view collective_name) {
  std::string name;
  for (const char c : collective_name) {
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const Function& function : kFunctions) {
    if (name.find(function.part) != std::string::npos) return function.nccl;
  }
  return {};
}

std::optional<std::int64_t> CollectiveBytes(std::string_view function,
                                            const KinetoCollective& collective) {
  const auto type = TypeBytes(collective.dtype);
  const bool by_received =
      function == "ReduceScatter" || function == "Scatter" || function == "Recv";
  std::optional<std::int64_t> count =
      by_received ? collective.out_elements : collective.in_elements;
  // An annotation tells what goes in: what every rank gets is its part of it.
  const std::int64_t size = collective.group_size.value_or(0);
  if (by_received && !count && collective.in_elements && (function == "Recv" || size > 0))
    count = *collective.in_elements / (function == "Recv" ? 1 : size);
  if (function == "AlltoAll") {
    if (!count || collective.group_size.value_or(0) < 1) return std::nullopt;
    *count /= *collective.group_size;
  }
  if (!type || !count || *count < 0 ||
      *count > std::numeric_limits<std::int64_t>::max() / 1024 / 16)
    return std::nullopt;
  return *count * *type;
}

KinetoCollective KinetoCollectives::Range::Told() const {
  KinetoCollective told = collective;
  told.name = name;
  told.dtype = dtype;
  told.group_name = group_name;
  told.group_ranks = group_ranks;
  return told;
}

bool KinetoCollectives::Add(const KinetoEvent& kernel, int device, Rank& rank) {
  const KinetoCollective& collective = kernel.collective;
  if (collective.name.empty()) return true;
  const std::string_view function = NcclFunctionOf(collective.name);
  if (function.empty() || !CollectiveBytes(function, collective) ||
      kernel.correlation.value_or(0) <= 0)
    return false;
  noted_.emplace(static_cast<std::uint64_t>(*kernel.correlation),
                 CallOf(collective, true, device, rank));
  return true;
}

void KinetoCollectives::AddRange(const KinetoEvent& event, std::uint32_t thread) {
  const bool is_operator = event.name == kNcclOperator;
  if (!is_operator && !event.name.starts_with(kNcclTitle)) return;
  if (!event.start || !IsPlausible(event.dur.value_or(0))) return;
  KinetoCollective collective = event.collective;
  if (!is_operator) {
    collective = {};
    ReadTitle(event.name, collective);
    ReadInputs(event, collective);
  }
  // The operator comes once more when the operation has ended, and then launches nothing.
  if (NcclFunctionOf(collective.name).empty()) return;
  Range range;
  range.start = *event.start;
  range.length = std::max<TimeNs>(0, event.dur.value_or(0));
  range.thread = thread;
  range.name = collective.name;
  range.dtype = collective.dtype;
  range.group_name = collective.group_name;
  range.group_ranks = collective.group_ranks;
  range.has_group = !collective.group_ranks.empty();
  range.collective = collective;
  range.collective.name = range.collective.dtype = {};
  range.collective.group_name = range.collective.group_ranks = {};
  ranges_.push_back(std::move(range));
}

KinetoCollectives::Call KinetoCollectives::CallOf(const KinetoCollective& collective,
                                                  bool has_group, int device, Rank& rank) {
  Call call;
  const std::string function(NcclFunctionOf(collective.name));
  call.function = FunctionId(function, rank);
  call.communicator = has_group ? CommunicatorId(collective, device, rank) : WorldId(device, rank);
  if (call.communicator == kNone) {
    call.bytes = CollectiveBytes(function, collective).value_or(-1);
    return call;
  }
  const Communicator& communicator = rank.communicators[call.communicator];
  KinetoCollective sized = collective;
  if (!sized.group_size && communicator.size) sized.group_size = communicator.size;
  call.bytes = CollectiveBytes(function, sized).value_or(-1);
  call.peer = PeerOf(function, collective, communicator);
  return call;
}

std::uint32_t KinetoCollectives::FunctionId(const std::string& function, Rank& rank) {
  const auto [entry, is_new] =
      functions_.try_emplace(function, static_cast<std::uint32_t>(rank.strings.size()));
  if (is_new) rank.strings.push_back(function);
  return entry->second;
}

std::uint32_t KinetoCollectives::CommunicatorId(const KinetoCollective& collective, int device,
                                                Rank& rank) {
  const std::uint64_t hash = GroupHash(collective);
  const auto [entry, is_new] = communicators_.try_emplace(
      {hash, device}, static_cast<std::uint32_t>(rank.communicators.size()));
  if (is_new) {
    Communicator communicator;
    communicator.hash = hash;
    communicator.device = device;
    const std::int64_t size = collective.group_size.value_or(0);
    if (size > 0 && size <= std::numeric_limits<int>::max())
      communicator.size = static_cast<int>(size);
    if (rank.rank) communicator.rank = PlaceInGroup(collective.group_ranks, *rank.rank);
    rank.communicators.push_back(communicator);
  }
  return entry->second;
}

std::uint32_t KinetoCollectives::WorldId(int device, Rank& rank) {
  if (!rank.rank || rank.process.world_size.value_or(0) < 2) return kNone;
  const auto [entry, is_new] = communicators_.try_emplace(
      {kAssumedWorld, device}, static_cast<std::uint32_t>(rank.communicators.size()));
  if (is_new) {
    Communicator communicator;
    communicator.hash = kAssumedWorld;
    communicator.device = device;
    communicator.size = rank.process.world_size;
    communicator.rank = rank.rank;
    communicator.name = "all ranks";
    rank.communicators.push_back(communicator);
  }
  return entry->second;
}

void KinetoCollectives::Place(TimeNs anchor, Rank& rank) {
  Collectives& calls = rank.collectives;
  std::map<std::uint32_t, int> in_range;  // the device that its kernels ran on
  const RangesOfThreads ranges(ranges_, anchor);
  std::set<std::uint64_t> placed;
  for (const Device& device : rank.devices) {
    const GpuOps& ops = device.ops;
    for (std::size_t row = 0; row < ops.size(); ++row) {
      const std::uint32_t launch = ops.launch[row];
      if (launch == kNone || ops.kernel_class[row] != KernelClass::kComm) continue;
      const Interval called{rank.api.start[launch], rank.api.end[launch]};
      const std::uint32_t thread = rank.api.thread[launch];
      if (const auto noted = noted_.find(ops.correlation[row]); noted != noted_.end()) {
        if (!placed.insert(noted->first).second) continue;
        AddCall(called, thread, calls);
        Tell(noted->second, calls);
        continue;
      }
      if (!IsNccl(rank, ops, row)) continue;
      std::optional<std::uint32_t> best;
      ranges.ForEachAround(thread, called.start, [&](std::uint32_t at) {
        if (!best || ranges_[at].has_group) best = at;
        return ranges_[at].has_group;
      });
      if (best) in_range.try_emplace(*best, device.ordinal);
    }
  }
  for (const auto& [at, device] : in_range) {
    const TimeNs start = ranges_[at].start - anchor;
    AddCall({start, start + ranges_[at].length}, ranges_[at].thread, calls);
    Tell(CallOf(ranges_[at].Told(), ranges_[at].has_group, device, rank), calls);
  }
}

void KinetoCollectives::Tell(const Call& call, Collectives& calls) {
  calls.function.push_back(call.function);
  calls.communicator.push_back(call.communicator);
  calls.bytes.push_back(call.bytes);
  calls.peer.push_back(call.peer);
}

}  // namespace traceinject
