// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/decoder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"

namespace traceinject {
namespace {

// How many are remembered at most; beyond, the oldest are forgotten. Captured calls stay for as
// long as their graph may be replayed, which nobody tells.
constexpr std::size_t kMaxCalls = 65'536;
constexpr std::size_t kMaxPending = 16'384;
constexpr std::size_t kMaxLaunches = 4'096;
// Of one thread at one time: NCCL's own ranges are two deep.
constexpr std::size_t kMaxOpen = 64;
// Flushes that an operation waits for what another thread tells.
constexpr int kMaxTries = 3;

std::string_view View(const NcclWord& word) { return word; }

// ncclDatatypeToString (src/collectives.cc) has no word for one type only.
std::string_view DatatypeOf(const NcclWord& word) {
  return View(word) == "Unknown" ? std::string_view("ncclUint8") : View(word);
}

std::int64_t SizeOf(std::string_view datatype) {
  static constexpr std::pair<std::string_view, int> kSizes[] = {
      {"ncclInt64", 8},  {"ncclUint64", 8},  {"ncclFloat64", 8}, {"ncclInt32", 4},
      {"ncclUint32", 4}, {"ncclFloat32", 4}, {"ncclFloat16", 2}, {"ncclBfloat16", 2},
  };
  for (const auto& [name, size] : kSizes) {
    if (name == datatype) return size;
  }
  return 1;  // 8-bit integers and floating-point numbers
}

// NCCL refuses counts that no memory has, but tells of the call before.
std::int64_t BytesOf(std::int64_t count, std::string_view datatype) {
  std::int64_t bytes = 0;
  return __builtin_mul_overflow(count, SizeOf(datatype), &bytes) ? INT64_MAX : bytes;
}

bool HasRoot(std::string_view function) {
  return function == "Broadcast" || function == "Reduce" || function == "Gather" ||
         function == "Scatter";
}

bool Reduces(std::string_view function) {
  return function == "AllReduce" || function == "ReduceScatter" || function == "Reduce";
}

// NCCL carries these out as sends and receives, and tells of each.
bool HasParts(std::string_view function) {
  return function == "AlltoAll" || function == "Gather" || function == "Scatter";
}

// NCCL treats what these move as bytes: the operation no longer knows the type of the call.
bool LosesDatatype(std::string_view function) {
  return function == "AllGather" || function == "Broadcast";
}

// Of an operation, whose count is then one of bytes whatever the type it is said to have: NCCL 2.27
// and later tell version 1, which has a number for few types, of ncclFloat64 in place of the
// others.
std::int64_t BytesOf(const NcclOperationEvent& event) {
  if (LosesDatatype(View(event.function))) return event.count;
  return BytesOf(event.count, DatatypeOf(event.datatype));
}

template <typename Event>
const Event& As(const EventHeader& header) {
  return reinterpret_cast<const Event&>(header);
}

template <typename Map>
void ForgetOldest(Map* map, std::size_t most) {
  if (map->size() > most) map->erase(map->begin());
}

}  // namespace

void NcclDecoder::Decode(int slot, int tid, const EventHeader& event) {
  switch (static_cast<EventType>(event.type)) {
    case EventType::kNcclInit:
      communicators_.Describe(As<NcclInitEvent>(event), event.time_ns - base_ns_);
      break;
    case EventType::kNcclCall:
      DecodeCall(slot, tid, As<NcclCallEvent>(event));
      break;
    case EventType::kNcclCallEnd:
      DecodeCallEnd(As<NcclEndEvent>(event));
      break;
    case EventType::kNcclLaunch:
      DecodeLaunch(slot, tid, As<NcclLaunchEvent>(event));
      break;
    case EventType::kNcclLaunchEnd:
      DecodeLaunchEnd(As<NcclEndEvent>(event));
      break;
    case EventType::kNcclOperation: {
      const Waiting waiting{slot, tid, 0, As<NcclOperationEvent>(event)};
      version_ = event.flags;
      if (!Resolve(waiting, false)) waiting_.push_back(waiting);
      break;
    }
    default:
      break;
  }
}

void NcclDecoder::Store(const CollectiveRow& row) {
  g_counters.Add(Health::kNcclSeen);
  batch_->collectives.push_back(row);
}

std::uint64_t NcclDecoder::Begin(int slot, std::uint32_t thread, std::int64_t start,
                                 const NcclOperation& operation) {
  nvtx_tells_ = true;
  Announced announced;
  announced.hash = operation.communicator.value_or(0);
  announced.has_parts = HasParts(operation.function);
  announced.row = {++last_collective_,
                   start,
                   -1,
                   thread,
                   dictionary_->KeptString(operation.function),
                   operation.communicator ? communicators_.Id(announced.hash) : 0,
                   operation.bytes,
                   operation.reduction,
                   operation.peer,
                   operation.root};
  std::vector<Announced>& open = open_[slot];
  if (open.size() >= kMaxOpen) {
    Store(open.front().row);
    open.erase(open.begin());
  }
  open.push_back(std::move(announced));
  return last_collective_;
}

void NcclDecoder::End(int slot, std::uint64_t collective, std::int64_t end) {
  std::vector<Announced>& open = open_[slot];
  const auto found = std::find_if(open.begin(), open.end(), [&](const Announced& announced) {
    return announced.row.id == collective;
  });
  if (found == open.end()) return;
  Announced ended = std::move(*found);
  open.erase(found);
  ended.row.dur = ElapsedNs(ended.row.start, end);
  if (ended.planned || version_ >= 5) return Store(ended.row);
  AddPending(std::move(ended));
}

void NcclDecoder::AddPending(Announced announced) {
  const CollectiveRow& row = announced.row;
  pending_by_key_[{row.function, row.bytes, row.root, row.peer, announced.hash}].push_back(row.id);
  announced.stored = row.communicator != 0;
  if (announced.stored) {
    Store(row);
  } else {
    held_.push_back(row.id);
  }
  pending_.emplace(row.id, std::move(announced));
  if (pending_.size() <= kMaxPending) return;
  const Announced& oldest = pending_.begin()->second;
  const Key key{oldest.row.function, oldest.row.bytes, oldest.row.root, oldest.row.peer,
                oldest.hash};
  if (!oldest.stored) Store(oldest.row);
  auto same = pending_by_key_.find(key);
  same->second.pop_front();
  if (same->second.empty()) pending_by_key_.erase(same);
  pending_.erase(pending_.begin());
}

void NcclDecoder::ForgetThread(int slot) {
  open_.erase(slot);
  last_launch_.erase(last_launch_.lower_bound({slot, 0}), last_launch_.lower_bound({slot + 1, 0}));
}

CollectiveRow NcclDecoder::OwnRow(const NcclWord& function, std::int64_t time, int tid,
                                  std::uint64_t communicator, std::int64_t bytes) {
  return {++last_collective_,
          time,
          -1,
          dictionary_->Thread(tid),
          dictionary_->KeptString(View(function)),
          communicator == 0 ? 0 : communicators_.Id(communicator),
          bytes,
          -1,
          -1,
          -1};
}

void NcclDecoder::DecodeCall(int slot, int tid, const NcclCallEvent& event) {
  version_ = 5;
  const std::string_view function = View(event.function), datatype = DatatypeOf(event.datatype);
  const std::int64_t bytes = BytesOf(event.count, datatype);
  Call call;
  call.group = event.group;
  call.count = event.count;
  call.datatype = dictionary_->KeptString(datatype);
  call.captured = event.captured != 0;
  const auto open = open_.find(slot);
  Announced* around = open == open_.end() || open->second.empty() ? nullptr : &open->second.back();
  if (around != nullptr && around->IsOn(event.communicator) &&
      (around->has_parts || around->row.function == dictionary_->KeptString(function))) {
    call.collective = around->row.id;
    around->planned = true;
  } else {
    CollectiveRow row =
        OwnRow(event.function, event.header.time_ns - base_ns_, tid, event.communicator, bytes);
    if (HasRoot(function)) row.root = event.root;
    call.collective = row.id;
    call.own = row;
    unstored_.push_back(event.id);
  }
  calls_.insert_or_assign(event.id, std::move(call));
  if (calls_.size() > kMaxCalls) {
    StoreOwnOf(&calls_.begin()->second);
    calls_.erase(calls_.begin());
  }
}

void NcclDecoder::DecodeCallEnd(const NcclEndEvent& event) {
  const auto found = calls_.find(event.id);
  if (found == calls_.end()) return;
  Call& call = found->second;
  call.ended = true;
  if (!call.own) return;
  call.own->dur = ElapsedNs(call.own->start, event.header.time_ns - base_ns_);
  if (call.planned) StoreOwnOf(&call);
}

void NcclDecoder::StoreOwnOf(Call* call) {
  if (call->own) Store(*call->own);
  call->own.reset();
}

void NcclDecoder::DecodeLaunch(int slot, int tid, const NcclLaunchEvent& event) {
  Launch launch;
  launch.group = event.group;
  launch.thread = dictionary_->Thread(tid);
  launch.start = event.header.time_ns - base_ns_;
  launches_.insert_or_assign(event.id, launch);
  last_launch_[{slot, event.communicator}] = event.id;
  const auto [of_group, is_first] =
      launch_of_group_.try_emplace({event.group, event.communicator}, event.id);
  if (!is_first) of_group->second = 0;
  ForgetOldest(&launches_, kMaxLaunches);
  ForgetOldest(&launch_of_group_, kMaxLaunches);
}

void NcclDecoder::DecodeLaunchEnd(const NcclEndEvent& event) {
  const auto found = launches_.find(event.id);
  if (found == launches_.end()) return;
  found->second.dur = ElapsedNs(found->second.start, event.header.time_ns - base_ns_);
}

// The operation comes after the launch on the same thread, or else on a thread of CUDA's, which
// runs what NCCL left to it: then only a group with one launch tells which.
const NcclDecoder::Launch* NcclDecoder::FindLaunch(const Waiting& waiting,
                                                   std::uint64_t group) const {
  const auto by_id = [&](std::uint64_t id) {
    const auto found = launches_.find(id);
    return found == launches_.end() || found->second.group != group ? nullptr : &found->second;
  };
  const auto last = last_launch_.find({waiting.slot, waiting.event.communicator});
  if (last != last_launch_.end()) {
    if (const Launch* launch = by_id(last->second)) return launch;
  }
  const auto of_group = launch_of_group_.find({group, waiting.event.communicator});
  return of_group == launch_of_group_.end() ? nullptr : by_id(of_group->second);
}

bool NcclDecoder::Resolve(const Waiting& waiting, bool last_try) {
  if (waiting.event.call != 0 && ResolveByCall(waiting, last_try)) return true;
  if (waiting.event.call != 0 && calls_.count(waiting.event.call) != 0) return false;
  const std::uint64_t collective = Claim(waiting.slot, waiting.event);
  if (collective != 0) AddPlan(collective, waiting, nullptr, nullptr);
  return collective != 0;
}

bool NcclDecoder::ResolveByCall(const Waiting& waiting, bool last_try) {
  const auto found = calls_.find(waiting.event.call);
  if (found == calls_.end()) return false;
  Call& call = found->second;
  if (call.planned) {
    g_counters.Add(Health::kNcclPluginRepeated);
    return true;
  }
  const Launch* launch = FindLaunch(waiting, call.group);
  if (launch == nullptr && !last_try) return false;
  call.planned = true;
  AddPlan(call.collective, waiting, &call, launch);
  if (call.own) call.own->peer = waiting.event.peer;
  if (call.ended) StoreOwnOf(&call);
  // A captured one may come again.
  if (!call.captured && !call.own) calls_.erase(found);
  return true;
}

std::uint64_t NcclDecoder::Claim(int slot, const NcclOperationEvent& event) {
  const std::string_view function = View(event.function);
  const std::uint32_t name = dictionary_->KeptString(function);
  const std::int64_t bytes = BytesOf(event);
  const int root = HasRoot(function) ? event.root : -1;
  if (const auto open = open_.find(slot); open != open_.end() && !open->second.empty()) {
    Announced& around = open->second.back();
    if (!around.planned && around.IsOn(event.communicator) && around.row.function == name &&
        around.row.bytes == bytes) {
      around.planned = true;
      if (around.row.communicator == 0 && event.communicator != 0) {
        around.row.communicator = communicators_.Id(event.communicator);
      }
      return around.row.id;
    }
  }
  const auto same = FindPending({name, bytes, root, event.peer, event.communicator});
  return same == pending_by_key_.end() ? 0 : ClaimPending(same, event.communicator);
}

NcclDecoder::PendingByKey::iterator NcclDecoder::FindPending(Key key) {
  std::uint64_t& hash = std::get<std::uint64_t>(key);
  if (const auto same = pending_by_key_.find(key); same != pending_by_key_.end()) return same;
  if (std::exchange(hash, 0) != 0) return pending_by_key_.find(key);
  // The interface does not report either: the oldest of any communicator.
  const auto begin = pending_by_key_.lower_bound(key);
  hash = UINT64_MAX;
  const auto end = pending_by_key_.upper_bound(key);
  const auto oldest = std::min_element(
      begin, end, [](const auto& a, const auto& b) { return a.second.front() < b.second.front(); });
  return oldest == end ? pending_by_key_.end() : oldest;
}

std::uint64_t NcclDecoder::ClaimPending(PendingByKey::iterator same, std::uint64_t hash) {
  const std::uint64_t id = same->second.front();
  same->second.pop_front();
  if (same->second.empty()) pending_by_key_.erase(same);
  const auto claimed = pending_.find(id);
  if (!claimed->second.stored) {
    if (hash != 0) claimed->second.row.communicator = communicators_.Id(hash);
    Store(claimed->second.row);
  }
  pending_.erase(claimed);
  return id;
}

std::uint64_t NcclDecoder::StoreOwn(int tid, const NcclOperationEvent& event) {
  const std::string_view function = View(event.function);
  CollectiveRow row = OwnRow(event.function, event.header.time_ns - base_ns_, tid,
                             event.communicator, BytesOf(event));
  row.dur = 0;  // only this moment is known
  row.peer = event.peer;
  if (HasRoot(function)) row.root = event.root;
  if (Reduces(function)) row.reduction = event.reduction;
  Store(row);
  return row.id;
}

void NcclDecoder::AddPlan(std::uint64_t collective, const Waiting& waiting, const Call* call,
                          const Launch* launch) {
  const NcclOperationEvent& event = waiting.event;
  const auto text = [&](std::string_view word) {
    return word.empty() ? 0 : dictionary_->KeptString(word);
  };
  CollectivePlanRow row{};
  row.collective = collective;
  row.time = event.header.time_ns - base_ns_;
  row.thread = launch != nullptr ? launch->thread : dictionary_->Thread(waiting.tid);
  row.sequence = event.sequence;
  row.count = event.count;
  if (call != nullptr) {
    row.count = call->count;
    row.datatype = call->datatype;
  } else if (!LosesDatatype(View(event.function))) {
    row.datatype = text(DatatypeOf(event.datatype));
  }
  row.algorithm = text(View(event.algorithm));
  row.protocol = text(View(event.protocol));
  row.channels = event.channels;
  row.warps = event.warps;
  row.has_launch = launch != nullptr;
  if (launch != nullptr) {
    row.launch_start = launch->start;
    row.launch_dur = launch->dur;
  }
  batch_->collective_plans.push_back(row);
}

void NcclDecoder::EndFlush(bool everything) {
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (Waiting& one : waiting) {
    const bool last_try = everything || ++one.tries >= kMaxTries;
    if (Resolve(one, last_try)) continue;
    if (!nvtx_tells_) {
      AddPlan(StoreOwn(one.tid, one.event), one, nullptr, nullptr);
    } else if (last_try) {
      g_counters.Add(Health::kNcclPluginUnlinked);
    } else {
      waiting_.push_back(one);
    }
  }
  for (const std::uint64_t id : std::exchange(held_, {})) {
    const auto found = pending_.find(id);
    if (found == pending_.end() || found->second.stored) continue;
    found->second.stored = true;
    Store(found->second.row);
  }
  if (everything) old_unstored_.insert(old_unstored_.end(), unstored_.begin(), unstored_.end());
  for (const std::uint64_t id : old_unstored_) {
    const auto found = calls_.find(id);
    if (found != calls_.end()) StoreOwnOf(&found->second);
  }
  old_unstored_ = std::exchange(unstored_, {});
}

}  // namespace traceinject
