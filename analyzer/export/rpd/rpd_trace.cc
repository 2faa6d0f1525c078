// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/rpd/rpd_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/event_names.h"
#include "analyzer/export/host_events.h"
#include "analyzer/export/rpd/gpu_numbers.h"
#include "analyzer/export/rpd/rpd_texts.h"
#include "analyzer/import/source/new_database.h"
#include "schemas/rpd_sql.h"

namespace traceinject {
namespace {

// As schemas/rpd.sql tells.
constexpr std::int64_t kGpuStride = 1'000, kPidStride = 10'000'000;
constexpr char kNoText[] = "";  // a view of nothing would be NULL
// CUpti_ActivityMemoryKind.
constexpr std::uint8_t kPinned = 2;

struct CopyType {
  std::string_view name;  // opType
  std::int64_t kind;      // rocpd_copyapi.kind: hipMemcpyKind
};
// By CUpti_ActivityMemcpyKind: arrays are on the device.
constexpr std::array<CopyType, 11> kCopyTypes = {{{"Memcpy", 4},
                                                  {"CopyHostToDevice", 1},
                                                  {"CopyDeviceToHost", 2},
                                                  {"CopyHostToDevice", 1},
                                                  {"CopyDeviceToHost", 2},
                                                  {"CopyDeviceToDevice", 3},
                                                  {"CopyDeviceToDevice", 3},
                                                  {"CopyDeviceToDevice", 3},
                                                  {"CopyDeviceToDevice", 3},
                                                  {"CopyHostToHost", 0},
                                                  {"CopyDeviceToDevice", 3}}};
CopyType CopyTypeOf(std::uint8_t kind) {
  return kCopyTypes[kind < kCopyTypes.size() ? kind : std::size_t{0}];
}

// What the format has a place for, among what threads did.
bool IsWritten(HostEventKind kind) {
  switch (kind) {
    case HostEventKind::kApi:
    case HostEventKind::kNvtx:
    case HostEventKind::kDataWait:
    case HostEventKind::kHostSpan:
    case HostEventKind::kStepMark:
      return true;
    case HostEventKind::kProfiled:
    case HostEventKind::kCollective:
    case HostEventKind::kAttention:
    case HostEventKind::kGemm:
    case HostEventKind::kCount:
      break;
  }
  return false;
}

// One INSERT, a row at a time.
class RpdTable {
 public:
  static Result<RpdTable> Into(const Database& to, std::string_view table, int columns) {
    std::string sql = fmt::format("INSERT INTO {} VALUES (", table);
    for (int i = 0; i < columns; ++i) sql += i == 0 ? "?" : ", ?";
    auto insert = to.Prepare(sql + ")");
    if (!insert.ok()) return Error{insert.error()};
    return RpdTable(std::move(insert).value());
  }
  RpdTable& operator<<(std::int64_t value) {
    insert_.Bind(next_++, value);
    return *this;
  }
  RpdTable& operator<<(std::string_view text) {
    insert_.Bind(next_++, text);
    return *this;
  }
  // An id that SQLite chooses.
  RpdTable& Null() {
    insert_.BindNull(next_++);
    return *this;
  }
  Status Add() {
    next_ = 1;
    const auto done = insert_.Step();
    insert_.Reset();
    return done.ok() ? Status(Done{}) : Error{done.error()};
  }

 private:
  explicit RpdTable(Statement insert) : insert_(std::move(insert)) {}
  Statement insert_;
  int next_ = 1;
};

struct RpdTables {
  RpdTexts strings, texts;
  RpdTable api, kernels, copies, ops, links, monitors;

  static Result<RpdTables> In(const Database& to) {
    auto strings = RpdTexts::In(to, "rocpd_string");
    if (!strings.ok()) return Error{strings.error()};
    auto texts = RpdTexts::In(to, "rocpd_ustring");
    if (!texts.ok()) return Error{texts.error()};
    constexpr std::array<std::pair<std::string_view, int>, 6> kTables = {{{"rocpd_api", 9},
                                                                          {"rocpd_kernelapi", 11},
                                                                          {"rocpd_copyapi", 12},
                                                                          {"rocpd_op", 8},
                                                                          {"rocpd_api_ops", 3},
                                                                          {"rocpd_monitor", 7}}};
    std::vector<RpdTable> made;
    for (const auto& [table, columns] : kTables) {
      auto one = RpdTable::Into(to, table, columns);
      if (!one.ok()) return Error{one.error()};
      made.push_back(std::move(one).value());
    }
    return RpdTables{std::move(strings).value(), std::move(texts).value(), std::move(made[0]),
                     std::move(made[1]),         std::move(made[2]),       std::move(made[3]),
                     std::move(made[4]),         std::move(made[5])};
  }
};

// Rows of one process.
class RpdWriter {
 public:
  RpdWriter(const Run& run, std::size_t rank, const GpuNumbers& numbers, RpdTables& to,
            ExportCounts& counts)
      : base_(run.base_ns),
        rank_(run.ranks[rank]),
        index_(rank),
        numbers_(numbers),
        to_(to),
        counts_(counts),
        names_(rank_),
        calls_(rank_.api.size()),
        described_(rank_.api.size()) {}

  // Ids go on from those of the processes before.
  Status Write(std::int64_t& api_id, std::int64_t& op_id) {
    Status status = WriteHost(api_id);
    for (std::size_t device = 0; device < rank_.devices.size() && status.ok(); ++device) {
      status = WriteOps(device, op_id);
      if (status.ok()) status = WriteMonitors(device);
    }
    return status;
  }

 private:
  std::int64_t Node() const { return numbers_.NodeOf(index_); }
  std::int64_t Gpu(std::size_t device) const {
    return Node() * kGpuStride + numbers_.GpuOf(index_, device);
  }

  Status WriteHost(std::int64_t& id) {
    HostEvents events(rank_);
    for (HostEvent event; events.Next(event);) {
      if (!IsWritten(event.kind)) continue;
      ++id;
      const bool is_call = event.kind == HostEventKind::kApi;
      if (is_call) calls_[event.row] = id;
      const std::string& name = names_.text(names_.Of(event));
      to_.api << id << Node() * kPidStride + rank_.process.pid
              << Node() * kPidStride + rank_.threads[event.thread].tid << base_ + event.start
              << base_ + event.end << to_.strings.Id(is_call ? name : "UserMarker")
              << to_.strings.Id(CategoryOf(event)) << to_.strings.Id(is_call ? "cuda" : "nvtx")
              << to_.texts.Id(is_call ? "" : name);
      if (Status added = to_.api.Add(); !added.ok()) return added;
      ++counts_.events;
    }
    return to_.texts.status();
  }
  std::string_view CategoryOf(const HostEvent& event) const {
    return event.kind == HostEventKind::kNvtx
               ? std::string_view(rank_.nvtx_domains[rank_.nvtx.domain[event.row]])
               : kNoText;
  }

  Status WriteOps(std::size_t device, std::int64_t& id) {
    const GpuOps& ops = rank_.devices[device].ops;
    for (std::size_t row = 0; row < ops.size(); ++row) {
      ++id;
      const bool is_kernel = ops.kind[row] == OpKind::kKernel;
      const std::int64_t stream = rank_.streams[ops.stream[row]].stream_id;
      const std::int64_t name =
          to_.strings.Id(is_kernel ? names_.text(names_.Of(ops, row)) : std::string());
      to_.ops << id << Gpu(device) << Node() * kGpuStride + stream << std::int64_t{0}
              << base_ + ops.start[row] << base_ + ops.end[row] << name
              << to_.strings.Id(TypeOf(ops, row));
      Status added = to_.ops.Add();
      if (added.ok() && ops.launch[row] != kNone) added = WriteLaunch(ops, row, id, name);
      if (!added.ok()) return added;
      ++counts_.events;
    }
    return to_.strings.status();
  }
  std::string_view TypeOf(const GpuOps& ops, std::size_t row) const {
    switch (ops.kind[row]) {
      case OpKind::kMemcpy:
        return CopyTypeOf(rank_.transfers[ops.detail[row]].kind).name;
      case OpKind::kMemset:
        return "FillBuffer";
      case OpKind::kKernel:
        break;
    }
    return "KernelExecution";
  }

  // What the call was asked for, once a call: of several operations it would be that of one.
  Status WriteLaunch(const GpuOps& ops, std::size_t row, std::int64_t op, std::int64_t name) {
    const std::uint32_t launch = ops.launch[row];
    const std::int64_t call = calls_[launch];
    to_.links.Null() << call << op;
    Status status = to_.links.Add();
    const ApiClass called = rank_.api_names[rank_.api.name[launch]].api_class;
    if (!status.ok() || described_[launch] || called == ApiClass::kGraphLaunch) return status;
    described_[launch] = true;
    const std::string stream = fmt::format("{}", rank_.streams[ops.stream[row]].stream_id);
    if (ops.kind[row] == OpKind::kKernel)
      return WriteKernel(rank_.shapes[ops.detail[row]], call, stream, name);
    return ops.kind[row] == OpKind::kMemcpy
               ? WriteCopy(rank_.transfers[ops.detail[row]], call, stream)
               : status;
  }
  Status WriteKernel(const KernelShape& shape, std::int64_t call, std::string_view stream,
                     std::int64_t name) {
    to_.kernels << call << stream;
    for (const std::int32_t blocks : shape.grid) to_.kernels << std::int64_t{blocks};
    for (const std::int32_t threads : shape.block) to_.kernels << std::int64_t{threads};
    to_.kernels << shape.static_shared_bytes + shape.dynamic_shared_bytes << shape.local_bytes
                << name;
    return to_.kernels.Add();
  }
  Status WriteCopy(const Transfer& copy, std::int64_t call, std::string_view stream) {
    to_.copies << call << stream << copy.bytes << kNoText << kNoText << CopyTypeOf(copy.kind).kind
               << kNoText << kNoText << std::int64_t{std::max(copy.dst_device, 0)}
               << std::int64_t{std::max(copy.src_device, 0)} << std::int64_t{copy.async ? 0 : 1}
               << std::int64_t{copy.src_kind == kPinned || copy.dst_kind == kPinned ? 1 : 0};
    return to_.copies.Add();
  }

  Status WriteMonitors(std::size_t device) {
    const DeviceSamples& samples = rank_.devices[device].samples;
    const auto write = [&](std::string_view type, const PackedColumn<std::int32_t>& column,
                           double scale) -> Status {
      for (std::size_t row = 0; row < samples.size(); ++row) {
        if (column[row] < 0) continue;
        const TimeNs end = row + 1 < samples.size() ? samples.time[row + 1] : rank_.end;
        to_.monitors.Null() << "gpu" << Gpu(device) << type << base_ + samples.time[row]
                            << base_ + std::max(end, samples.time[row])
                            << fmt::format("{}", scale * column[row]);
        if (Status added = to_.monitors.Add(); !added.ok()) return added;
      }
      return Done{};
    };
    Status status = write("sclk", samples.sm_clock_mhz, 1);
    if (status.ok()) status = write("mclk", samples.memory_clock_mhz, 1);
    if (status.ok()) status = write("power", samples.power_mw, 1e-3);
    return status.ok() ? write("temp", samples.temperature_c, 1) : status;
  }

  std::int64_t base_;
  const Rank& rank_;
  std::size_t index_;
  const GpuNumbers& numbers_;
  RpdTables& to_;
  ExportCounts& counts_;
  EventNames names_;
  std::vector<std::int64_t> calls_;  // ids by row of Rank::api
  std::vector<bool> described_;      // likewise: what was launched is written
};

Result<ExportCounts> WriteRanks(const Run& run, const Database& to) {
  auto tables = RpdTables::In(to);
  if (!tables.ok()) return Error{tables.error()};
  const GpuNumbers numbers(run);
  ExportCounts counts;
  std::int64_t api_id = 0, op_id = 0;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const Status written =
        RpdWriter(run, rank, numbers, tables.value(), counts).Write(api_id, op_id);
    if (!written.ok()) return Error{written.error()};
  }
  return counts;
}

}  // namespace

Result<ExportCounts> WriteRpdTrace(const Run& run, const std::string& path) {
  auto made = NewDatabase::In(TemporaryFile::CreateBeside(path), path, k_rpd_sql);
  if (!made.ok()) return Error{made.error()};
  auto counts = WriteRanks(run, made.value().database());
  if (!counts.ok()) return counts;
  Status status = made.value().Commit();
  if (status.ok()) status = made.value().Keep(path);
  if (!status.ok()) return Error{status.error()};
  return counts;
}

}  // namespace traceinject
