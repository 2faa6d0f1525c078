// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/decoder.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "injector/base/counters.h"
#include "injector/cupti/allow_list.h"
#include "injector/cupti/record_walk.h"
#include "injector/cupti/wanted_records.h"

namespace traceinject {
namespace {

constexpr int kNowAndThen = 1024;  // rows between two calls of Between

// Of a damaged record a time may be anything; differences of two of these stay in 64 bits.
bool IsMoment(std::int64_t realtime_ns) {
  constexpr std::int64_t kLatest = std::int64_t{1} << 62;  // the year 2116
  return realtime_ns > 0 && realtime_ns < kLatest;
}

// An enumeration's number, which of a newer CUPTI or of a damaged record may be one that it has no
// room for: it must not be read as one of it.
template <typename Record>
std::uint32_t NumberAt(const Record& record, std::size_t offset) {
  std::uint32_t number;
  std::memcpy(&number, reinterpret_cast<const char*>(&record) + offset, sizeof(number));
  return number;
}

}  // namespace

// False for a record without times: the device had no room for them, or the end was not known at
// the last flush.
bool ActivityDecoder::TimesOf(std::uint64_t start, std::uint64_t end, Interval* interval,
                              bool* repaired) const {
  const std::int64_t start_ns = times_.ToRealtimeNs(clock_, start);
  const std::int64_t end_ns = times_.ToRealtimeNs(clock_, end);
  if (!IsMoment(start_ns) || !IsMoment(end_ns)) return false;
  *repaired = end_ns < start_ns;
  interval->start = start_ns - base_ns_;
  interval->dur = *repaired ? 0 : end_ns - start_ns;
  return true;
}

int ActivityDecoder::Decode(const CompletedBuffer& buffer, const Between& between) {
  int gpu_work = 0, records = 0;
  times_.Read();
  clock_ = buffer.clock;
  copied_ = buffer.copied;
  if (taken_away_ != buffer.taken_away) correlation_.Restart();
  taken_away_ = buffer.taken_away;
  if (copied_ && !gaps_.empty()) NoteLaunches(buffer);
  const bool whole = ForEachRecord(*cupti_, buffer.data, buffer.valid_bytes,
                                   [&](CUpti_Activity* record, std::size_t) {
                                     gpu_work += Add(record);
                                     if (++records % kNowAndThen == 0) between();
                                   });
  if (!whole) g_counters.Add(Health::kBuffersDamaged);
  return gpu_work;
}

bool ActivityDecoder::Add(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      AddKernel(*reinterpret_cast<const KernelRecord*>(record));
      return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      AddMemcpy(*reinterpret_cast<const MemcpyRecord*>(record), -1, -1);
      return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      AddPeerMemcpy(*reinterpret_cast<const PeerMemcpyRecord*>(record));
      return true;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      AddMemset(*reinterpret_cast<const MemsetRecord*>(record));
      return true;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      AddMemoryOperation(*reinterpret_cast<const MemoryRecord*>(record));
      return false;
    case CUPTI_ACTIVITY_KIND_STREAM: {
      const auto& stream = *reinterpret_cast<const StreamRecord*>(record);
      dictionary_->DescribeStream(stream.contextId, stream.streamId,
                                  static_cast<std::int32_t>(stream.priority),
                                  NumberAt(stream, offsetof(StreamRecord, flag)));
      return false;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      AddApi(*reinterpret_cast<const ApiRecord*>(record));
      return false;
    default:
      g_counters.Add(Health::kCuptiUnknown);
      return false;
  }
}

void ActivityDecoder::AddKernel(const KernelRecord& record) {
  Interval interval{};
  bool repaired = false;
  const bool timed = TimesOf(record.start, record.end, &interval, &repaired);
  const std::uint64_t correlation = correlation_.Widen(record.correlationId);
  if (timed && IsLeftOut(interval.start, correlation)) return;
  g_counters.Add(Health::kKernelSeen);
  if (!timed) return g_counters.Add(Health::kKernelDropped);
  if (repaired) g_counters.Add(Health::kKernelRepaired);
  KernelShapeRow shape{};
  shape.grid[0] = record.gridX, shape.grid[1] = record.gridY, shape.grid[2] = record.gridZ;
  shape.block[0] = record.blockX, shape.block[1] = record.blockY, shape.block[2] = record.blockZ;
  shape.cluster[0] = static_cast<std::int32_t>(record.clusterX);
  shape.cluster[1] = static_cast<std::int32_t>(record.clusterY);
  shape.cluster[2] = static_cast<std::int32_t>(record.clusterZ);
  shape.registers = record.registersPerThread;
  shape.static_shared_bytes = record.staticSharedMemory;
  shape.dynamic_shared_bytes = record.dynamicSharedMemory;
  shape.local_bytes = record.localMemoryPerThread;
  batch_->kernels.push_back(
      {interval.start, interval.dur,
       dictionary_->Stream(record.deviceId, record.contextId, record.streamId),
       dictionary_->Shape(record.name, shape), correlation,
       dictionary_->GraphNode(record.graphId, record.graphNodeId)});
}

template <typename Record>
void ActivityDecoder::AddMemcpy(const Record& record, int src_device, int dst_device) {
  Interval interval{};
  bool repaired = false;
  const bool timed = TimesOf(record.start, record.end, &interval, &repaired);
  const std::uint64_t correlation = correlation_.Widen(record.correlationId);
  if (timed && IsLeftOut(interval.start, correlation)) return;
  g_counters.Add(Health::kMemcpySeen);
  if (!timed) return g_counters.Add(Health::kMemcpyDropped);
  batch_->memcpys.push_back(
      {interval.start, interval.dur,
       dictionary_->Stream(record.deviceId, record.contextId, record.streamId), record.copyKind,
       record.srcKind, record.dstKind, (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0,
       static_cast<std::int64_t>(record.bytes), correlation,
       dictionary_->GraphNode(record.graphId, record.graphNodeId), src_device, dst_device});
}

void ActivityDecoder::AddPeerMemcpy(const PeerMemcpyRecord& record) {
  AddMemcpy(record, static_cast<int>(record.srcDeviceId), static_cast<int>(record.dstDeviceId));
}

void ActivityDecoder::AddMemset(const MemsetRecord& record) {
  Interval interval{};
  bool repaired = false;
  const bool timed = TimesOf(record.start, record.end, &interval, &repaired);
  const std::uint64_t correlation = correlation_.Widen(record.correlationId);
  if (timed && IsLeftOut(interval.start, correlation)) return;
  g_counters.Add(Health::kMemsetSeen);
  if (!timed) return g_counters.Add(Health::kMemsetDropped);
  ++memsets_.count;
  // Two of a damaged buffer may be longer than 64 bits count.
  if (__builtin_add_overflow(memsets_.total_ns, interval.dur, &memsets_.total_ns))
    memsets_.total_ns = std::numeric_limits<std::int64_t>::max();
  batch_->memsets.push_back(
      {interval.start, interval.dur,
       dictionary_->Stream(record.deviceId, record.contextId, record.streamId), record.value,
       record.memoryKind, static_cast<std::int64_t>(record.bytes), correlation,
       dictionary_->GraphNode(record.graphId, record.graphNodeId)});
}

void ActivityDecoder::AddMemoryOperation(const MemoryRecord& record) {
  const std::int64_t time_ns = times_.ToRealtimeNs(clock_, record.timestamp);
  const bool timed = IsMoment(time_ns);
  if (timed && copied_ && IsInGap(time_ns - base_ns_)) return;
  g_counters.Add(Health::kMemorySeen);
  if (!timed) return g_counters.Add(Health::kMemoryDropped);
  const bool on_stream = record.isAsync != 0 && record.contextId != CUPTI_INVALID_CONTEXT_ID &&
                         record.streamId != CUPTI_INVALID_STREAM_ID;
  batch_->memory_operations.push_back(
      {time_ns - base_ns_, record.deviceId,
       static_cast<int>(NumberAt(record, offsetof(MemoryRecord, memoryOperationType))),
       NumberAt(record, offsetof(MemoryRecord, memoryKind)),
       static_cast<std::int64_t>(record.bytes), record.address,
       on_stream ? dictionary_->Stream(record.deviceId, record.contextId, record.streamId) : 0,
       NumberAt(record, offsetof(MemoryRecord, memoryPoolConfig.memoryPoolType)) !=
           CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID,
       correlation_.Widen(record.correlationId)});
}

void ActivityDecoder::EndGap(std::int64_t time, std::uint32_t latest_call) {
  if (gaps_.empty()) return;
  gaps_.back().end = time;
  if (latest_call != 0) gaps_.back().last_in = correlation_.Widen(latest_call);
  if (gaps_.size() > kGaps) gaps_.erase(gaps_.begin());
}

bool ActivityDecoder::IsInGap(std::int64_t time) const {
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [=, this](const Gap& gap) { return gap.Has(time, copied_); });
}

// Before the records are added: that of a call may come after that of its work.
void ActivityDecoder::NoteLaunches(const CompletedBuffer& buffer) {
  ForEachRecord(*cupti_, buffer.data, buffer.valid_bytes,
                [this](CUpti_Activity* record, std::size_t) {
                  if (!WantedRecords::IsCalls(record->kind)) return;
                  const auto& call = *reinterpret_cast<const ApiRecord*>(record);
                  Interval interval{};
                  bool repaired = false;
                  if (!TimesOf(call.start, call.end, &interval, &repaired)) return;
                  const std::uint64_t correlation = correlation_.Widen(call.correlationId);
                  for (Gap& gap : gaps_) gap.NoteCall(interval.start, correlation);
                });
}

bool ActivityDecoder::IsLeftOut(std::int64_t start, std::uint64_t correlation) const {
  return copied_ && std::any_of(gaps_.begin(), gaps_.end(), [=](const Gap& gap) {
           return gap.HasLaunched(start, correlation);
         });
}

void ActivityDecoder::AddApi(const ApiRecord& record) {
  const bool driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const CudaDomain domain = driver ? CudaDomain::kDriver : CudaDomain::kRuntime;
  if (driver && record.cbid == kProbeCall) ++probes_;
  const AllowedCall* call = FindAllowedCall(domain, record.cbid);
  if (call == nullptr) return;  // whole kinds had to be enabled
  Interval interval{};
  bool repaired = false;
  const bool timed = TimesOf(record.start, record.end, &interval, &repaired);
  const std::uint64_t correlation = correlation_.Widen(record.correlationId);
  last_call_ = std::max(last_call_, correlation);
  if (timed && IsInGap(interval.start)) return;
  g_counters.Add(Health::kApiSeen);
  if (!timed) return g_counters.Add(Health::kApiDropped);
  const std::uint32_t name = dictionary_->ApiName(static_cast<int>(domain), record.cbid, call->name,
                                                  static_cast<int>(call->call_class));
  const ApiRow row{interval.start, interval.dur, dictionary_->Thread(record.threadId),
                   name,           correlation,  static_cast<std::int32_t>(record.returnValue)};
  if (!driver) {
    runtime_.insert(correlation);
    const auto nested = waiting_driver_.erase(correlation) + older_driver_.erase(correlation);
    if (nested != 0) g_counters.Add(Health::kApiNested, static_cast<std::int64_t>(nested));
    batch_->apis.push_back(row);
  } else if (!IsRecordedInRuntime(call->call_class) && cupti_->SelectsCalls()) {
    batch_->apis.push_back(row);
  } else if (runtime_.count(correlation) != 0 || older_runtime_.count(correlation) != 0) {
    g_counters.Add(Health::kApiNested);
  } else if (auto [known, fresh] = waiting_driver_.emplace(correlation, row); !fresh) {
    if (known->second.dur < row.dur)
      known->second = row;  // one driver call inside another: the outer one stays
    g_counters.Add(Health::kApiNested);
  }
}

void ActivityDecoder::EndFlush(bool everything, const Between& between) {
  int added = 0;
  for (auto& [correlation, row] : older_driver_) {
    batch_->apis.push_back(row);
    if (++added % kNowAndThen == 0) between();
  }
  older_driver_ = std::move(waiting_driver_);
  waiting_driver_.clear();
  older_runtime_ = std::move(runtime_);
  runtime_.clear();
  if (everything && !older_driver_.empty()) EndFlush(false, between);
}

}  // namespace traceinject
