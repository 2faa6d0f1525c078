// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/read_run_db.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/import/id_map.h"
#include "analyzer/import/join_launches.h"
#include "analyzer/import/sort_columns.h"
#include "analyzer/model/demangle.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

// Times further than this from the base (36 years) are no times of this recording. Keeps all later
// sums from overflowing.
constexpr TimeNs kFarthest_ns = TimeNs{1} << 60;
constexpr std::int64_t kLatestBase_ns = std::int64_t{1} << 62;
constexpr std::int64_t kHighestDevice = 1023;

bool IsPlausible(TimeNs time_ns) { return time_ns >= -kFarthest_ns && time_ns <= kFarthest_ns; }

std::int32_t Narrow(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

std::uint8_t NarrowByte(std::int64_t value) {
  return value >= 0 && value <= 255 ? static_cast<std::uint8_t>(value) : 0;
}

// Where a row of a dictionary table went: which rank, and the index there.
struct Place {
  std::uint32_t rank = kNone, index = kNone;
  std::uint32_t device = kNone;  // streams only: index into Rank::devices
};

class PlaceMap {
 public:
  void Add(std::int64_t id, Place place) {
    ids_.Add(id, static_cast<std::uint32_t>(places_.size()));
    places_.push_back(place);
  }
  // Null: there is no such row.
  const Place* Find(std::int64_t id) const {
    const std::uint32_t at = ids_.Find(id);
    return at == kNone ? nullptr : &places_[at];
  }

 private:
  IdMap ids_;
  std::vector<Place> places_;
};

class Reader {
 public:
  Reader(const Database& database, ReadProgress& progress)
      : database_(database), progress_(progress) {}

  Result<RecordedFile> Read() {
    using Part = Status (Reader::*)();
    // Dictionaries before what refers to them.
    constexpr std::array<Part, 20> kParts = {
        &Reader::CountRows,       &Reader::ReadMeta,       &Reader::ReadProcesses,
        &Reader::ReadDevices,     &Reader::ReadStrings,    &Reader::ReadThreads,
        &Reader::ReadStreams,     &Reader::ReadShapes,     &Reader::ReadGraphNodes,
        &Reader::ReadApiNames,    &Reader::ReadDomains,    &Reader::ReadCommunicators,
        &Reader::ReadKernels,     &Reader::ReadMemcpys,    &Reader::ReadMemsets,
        &Reader::ReadApi,         &Reader::ReadSyncs,      &Reader::ReadNvtx,
        &Reader::ReadCollectives, &Reader::ReadSideTables,
    };
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return Error{status.error()};
    }
    Finish();
    return std::move(file_);
  }

 private:
  // --- rows ---

  // Calls visit(statement) for every row. `columns` are part of the schema, so a failure to prepare
  // means a damaged file.
  template <typename Visit>
  Status ForEachRow(std::string_view table, std::string_view columns, Visit visit,
                    std::string_view order = "") {
    if (const Status stored = ExpectStored(table); !stored.ok()) return stored;
    auto rows = database_.Prepare(fmt::format("SELECT {} FROM {} {}", columns, table, order));
    if (!rows.ok()) {
      return Error{
          fmt::format("{} - the table '{}' of a recording cannot be read: the file is damaged, or "
                      "another program "
                      "changed it",
                      rows.error(), table)};
    }
    constexpr std::uint64_t kReportEvery = 1 << 14;
    std::uint64_t count = 0;
    for (;;) {
      const auto row = rows.value().Step();
      if (!row.ok()) return Error{row.error()};
      if (!row.value()) break;
      visit(rows.value());
      if (++count % kReportEvery == 0) progress_.rows += kReportEvery;
    }
    progress_.rows += count % kReportEvery;
    return Done{};
  }

  // A view or virtual table in its place could go on for ever.
  Status ExpectStored(std::string_view table) {
    auto found = database_.Prepare(
        "SELECT count(*) FROM sqlite_schema "
        "WHERE name = ? AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'");
    if (!found.ok()) return Error{found.error()};
    found.value().Bind(1, table);
    const auto row = found.value().Step();
    if (!row.ok()) return Error{row.error()};
    if (found.value().int64(0) == 1) return Done{};
    return Error{fmt::format(
        "{}: the table '{}' of a recording is missing: the file is damaged, or its process ended "
        "while it was being created",
        database_.path(), table)};
  }

  enum class Problem {
    kNoStream,
    kNoShape,
    kNoThread,
    kNoName,
    kNameless,
    kNoCommunicator,
    kNoProcess,
    kTime,
    kNegative,
    kUnknownKind
  };

  void Count(std::string_view table, Problem problem) {
    ++problems_[{std::string(table), problem}];
  }

  // start and end of a row from (start, dur); false if the row cannot be placed in time.
  bool Times(std::string_view table, TimeNs start, TimeNs dur, TimeNs& end) {
    if (!IsPlausible(start) || !IsPlausible(dur)) {
      Count(table, Problem::kTime);
      return false;
    }
    if (dur < 0) {
      Count(table, Problem::kNegative);
      dur = 0;
    }
    end = start + dur;
    return true;
  }

  // The same where an absent duration means open.
  bool TimesOrOpen(std::string_view table, const Statement& row, int dur_column, TimeNs start,
                   TimeNs& end) {
    if (!row.is_null(dur_column)) return Times(table, start, row.int64(dur_column), end);
    if (!Times(table, start, 0, end)) return false;
    end = kOpen;
    return true;
  }

  Rank& rank(const Place& place) { return file_.ranks[place.rank]; }

  // Whether a row on `thread` can be kept; null if not.
  const Place* ThreadOf(std::string_view table, std::int64_t id) {
    const Place* thread = threads_.Find(id);
    if (thread == nullptr) Count(table, Problem::kNoThread);
    return thread;
  }

  std::uint32_t StringOf(const Statement& row, int column) const {
    return row.is_null(column) ? kNone : string_ids_.Find(row.int64(column));
  }

  // --- parts, in the order of Read() ---

  // rowids of append-only tables count their rows; a range rewritten under a high rowid only spoils
  // the estimate.
  Status CountRows() {
    std::uint64_t total = 0;
    for (const char* table :
         {"kernel", "memcpy", "memset", "api", "sync", "nvtx", "collective", "string"}) {
      if (const Status stored = ExpectStored(table); !stored.ok()) return stored;
      auto most = database_.Prepare(fmt::format("SELECT max(rowid) FROM {}", table));
      if (!most.ok()) return Error{most.error()};
      const auto row = most.value().Step();
      if (!row.ok()) return Error{row.error()};
      const std::int64_t count = most.value().int64(0);
      if (count > 0 && count < std::int64_t{1} << 32) total += static_cast<std::uint64_t>(count);
    }
    progress_.rows_total = total;
    return Done{};
  }

  Status ReadMeta() {
    bool has_base = false;
    const Status status = ForEachRow("meta", "key, value", [&](const Statement& row) {
      const std::string_view key = row.text(0);
      if (key == "base_ns") {
        file_.base_ns = row.int64(1);
        has_base = row.type(1) == SQLITE_INTEGER;
      }
      if (key == "tool_version") tool_version_ = row.text(1);
      if (key == "run_id") run_id_ = row.text(1);
      if (key == "closed") closed_ = row.int64(1) != 0;
    });
    if (!status.ok()) return status;
    if (!has_base || file_.base_ns < 0 || file_.base_ns > kLatestBase_ns) {
      return Error{
          fmt::format("{}: the recording has no valid start time (meta.base_ns): its process ended "
                      "while it was being "
                      "created, or the file is damaged",
                      database_.path())};
    }
    return Done{};
  }

  Status ReadProcesses() {
    auto version = database_.Prepare("PRAGMA user_version");
    if (!version.ok()) return Error{version.error()};
    const auto has_version = version.value().Step();
    if (!has_version.ok()) return Error{has_version.error()};
    const Status status = ForEachRow(
        "process",
        "proc, pid, host, rank, local_rank, world_size, local_world_size, restart, start, end, "
        "executable, command_line, "
        "launcher, driver_version, runtime_version, cupti_version, cupti_path, nccl_version",
        [&](const Statement& row) {
          Rank next;
          next.path = database_.path();
          next.schema_version = static_cast<int>(version.value().int64(0));
          next.run_id = run_id_;
          next.tool_version = tool_version_;
          next.closed = closed_;
          next.process.pid = row.int64(1);
          next.process.host = row.text(2);
          next.rank = row.optional_int(3);
          next.process.local_rank = row.optional_int(4);
          next.process.world_size = row.optional_int(5);
          next.process.local_world_size = row.optional_int(6);
          next.process.restart = row.optional_int(7);
          next.start = IsPlausible(row.int64(8)) ? row.int64(8) : 0;
          // kOpen until Finish(): a process that was killed ends with the last thing seen.
          next.end = row.is_null(9) || !IsPlausible(row.int64(9)) ? kOpen : row.int64(9);
          next.process.executable = row.text(10);
          next.process.command_line = row.text(11);
          next.process.launcher = row.text(12);
          next.process.driver_version = row.optional_int(13);
          next.process.runtime_version = row.optional_int(14);
          next.process.cupti_version = row.optional_int(15);
          next.process.cupti_path = row.text(16);
          next.process.nccl_version = row.optional_int(17);
          processes_.Add(row.int64(0), static_cast<std::uint32_t>(file_.ranks.size()));
          file_.ranks.push_back(std::move(next));
        });
    if (!status.ok()) return status;
    if (file_.ranks.empty()) {
      return Error{fmt::format(
          "{}: the recording names no process: it ended while the file was being created",
          database_.path())};
    }
    device_index_.resize(file_.ranks.size());
    return Done{};
  }

  // The index of a device in Rank::devices, made if the driver did not describe it.
  std::uint32_t DeviceIndex(std::uint32_t rank_index, int ordinal) {
    auto& devices = file_.ranks[rank_index].devices;
    const auto [entry, is_new] =
        device_index_[rank_index].try_emplace(ordinal, static_cast<std::uint32_t>(devices.size()));
    if (is_new) devices.emplace_back().ordinal = ordinal;
    return entry->second;
  }

  Status ReadDevices() {
    return ForEachRow(
        "device",
        "proc, device, name, uuid, pci_bus_id, sm_count, cc_major, cc_minor, sm_clock_khz, "
        "memory_clock_khz, memory_bus_bits, "
        "memory_bytes, l2_bytes",
        [&](const Statement& row) {
          const std::uint32_t process = processes_.Find(row.int64(0));
          if (process == kNone || row.int64(1) < 0 || row.int64(1) > kHighestDevice) {
            return Count("device", Problem::kNoProcess);
          }
          const std::uint32_t index = DeviceIndex(process, static_cast<int>(row.int64(1)));
          Device& device = file_.ranks[process].devices[index];
          device.name = row.text(2);
          device.uuid = row.text(3);
          device.pci_bus_id = row.text(4);
          device.sm_count = row.optional_int(5);
          device.cc_major = row.optional_int(6);
          device.cc_minor = row.optional_int(7);
          device.sm_clock_khz = row.optional_int(8);
          device.memory_clock_khz = row.optional_int(9);
          device.memory_bus_bits = row.optional_int(10);
          device.memory_bytes = row.optional_int64(11);
          device.l2_bytes = row.optional_int64(12);
        },
        "ORDER BY device");
  }

  Status ReadStrings() {
    return ForEachRow("string", "id, text", [&](const Statement& row) {
      string_ids_.Add(row.int64(0), static_cast<std::uint32_t>(strings_.size()));
      strings_.emplace_back(row.text(1));
    });
  }

  Status ReadThreads() {
    return ForEachRow("thread", "id, proc, tid, name", [&](const Statement& row) {
      const std::uint32_t process = processes_.Find(row.int64(1));
      if (process == kNone) return Count("thread", Problem::kNoProcess);
      auto& threads = file_.ranks[process].threads;
      threads_.Add(row.int64(0), {process, static_cast<std::uint32_t>(threads.size())});
      const std::uint32_t name = StringOf(row, 3);
      threads.push_back({row.int64(2), name == kNone ? std::string() : strings_[name]});
    });
  }

  Status ReadStreams() {
    return ForEachRow("stream", "id, proc, device, context, stream_id", [&](const Statement& row) {
      const std::uint32_t process = processes_.Find(row.int64(1));
      if (process == kNone || row.int64(2) < 0 || row.int64(2) > kHighestDevice)
        return Count("stream", Problem::kNoProcess);
      const int ordinal = static_cast<int>(row.int64(2));
      auto& streams = file_.ranks[process].streams;
      streams_.Add(row.int64(0), {process, static_cast<std::uint32_t>(streams.size()),
                                  DeviceIndex(process, ordinal)});
      streams.push_back({ordinal, static_cast<std::uint32_t>(row.int64(3)),
                         static_cast<std::uint32_t>(row.int64(4))});
    });
  }

  Status ReadShapes() {
    return ForEachRow("kernel_shape",
                      "id, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, "
                      "cluster_y, cluster_z, registers, "
                      "static_shared_bytes, dynamic_shared_bytes, local_bytes",
                      [&](const Statement& row) {
                        KernelShape shape;
                        shape.name = StringOf(row, 1);
                        if (shape.name == kNone) Count("kernel_shape", Problem::kNameless);
                        shape.kernel_class = ClassOf(shape.name);
                        for (int axis = 0; axis < 3; ++axis) {
                          shape.grid[axis] = Narrow(row.int64(2 + axis));
                          shape.block[axis] = Narrow(row.int64(5 + axis));
                          shape.cluster[axis] = Narrow(row.int64(8 + axis));
                        }
                        shape.registers = Narrow(row.int64(11));
                        shape.static_shared_bytes = row.int64(12);
                        shape.dynamic_shared_bytes = row.int64(13);
                        shape.local_bytes = row.int64(14);
                        shape_ids_.Add(row.int64(0), static_cast<std::uint32_t>(shapes_.size()));
                        shapes_.push_back(shape);
                      });
  }

  // The class of a kernel name, which is demangled in place the first time it is met.
  KernelClass ClassOf(std::uint32_t name) {
    if (name == kNone) return KernelClass::kOther;
    const auto [entry, is_new] = name_class_.try_emplace(name, KernelClass::kOther);
    if (is_new) {
      strings_[name] = Demangle(strings_[name]);
      entry->second = ClassifyKernel(strings_[name]);
    }
    return entry->second;
  }

  Status ReadGraphNodes() {
    return ForEachRow("graph_node", "id, graph_id, node_id", [&](const Statement& row) {
      graph_node_ids_.Add(row.int64(0), static_cast<std::uint32_t>(graph_nodes_.size()));
      graph_nodes_.push_back(
          {static_cast<std::uint32_t>(row.int64(1)), static_cast<std::uint64_t>(row.int64(2))});
    });
  }

  Status ReadApiNames() {
    return ForEachRow("api_name", "id, domain, name, class", [&](const Statement& row) {
      ApiName name;
      name.domain = row.int64(1) == 2 ? ApiDomain::kDriver : ApiDomain::kRuntime;
      name.name = row.text(2);
      const std::int64_t api_class = row.int64(3);
      // A class that a later version of the schema might add is an other call to us.
      if (api_class >= 1 && api_class < static_cast<std::int64_t>(ApiClass::kOther)) {
        name.api_class = static_cast<ApiClass>(api_class);
      }
      api_name_ids_.Add(row.int64(0), static_cast<std::uint32_t>(api_names_.size()));
      api_names_.push_back(std::move(name));
    });
  }

  Status ReadDomains() {
    return ForEachRow("nvtx_domain", "id, proc, name", [&](const Statement& row) {
      const std::uint32_t process = processes_.Find(row.int64(1));
      if (process == kNone) return Count("nvtx_domain", Problem::kNoProcess);
      auto& domains = file_.ranks[process].nvtx_domains;
      domains_.Add(row.int64(0), {process, static_cast<std::uint32_t>(domains.size())});
      domains.emplace_back(row.text(2));
    });
  }

  Status ReadCommunicators() {
    return ForEachRow(
        "communicator", "id, proc, hash, created, size, rank, device", [&](const Statement& row) {
          const std::uint32_t process = processes_.Find(row.int64(1));
          if (process == kNone) return Count("communicator", Problem::kNoProcess);
          auto& communicators = file_.ranks[process].communicators;
          communicators_.Add(row.int64(0),
                             {process, static_cast<std::uint32_t>(communicators.size())});
          Communicator communicator;
          communicator.hash = static_cast<std::uint64_t>(row.int64(2));
          if (!row.is_null(3) && IsPlausible(row.int64(3))) communicator.created = row.int64(3);
          communicator.size = row.optional_int(4);
          communicator.rank = row.optional_int(5);
          communicator.device = row.optional_int(6);
          communicators.push_back(communicator);
        });
  }

  // Adds one operation to the device of its stream; null if its row has to be left out. The caller
  // fills class and detail.
  GpuOps* AddOp(std::string_view table, const Statement& row, OpKind kind, int correlation_column) {
    const Place* stream = streams_.Find(row.int64(2));
    if (stream == nullptr) {
      Count(table, Problem::kNoStream);
      return nullptr;
    }
    TimeNs end = 0;
    const TimeNs start = row.int64(0);
    if (!Times(table, start, row.int64(1), end)) return nullptr;
    op_process_ = stream->rank;
    GpuOps& ops = rank(*stream).devices[stream->device].ops;
    ops.start.push_back(start);
    ops.end.push_back(end);
    ops.kind.push_back(kind);
    ops.stream.push_back(stream->index);
    ops.correlation.push_back(static_cast<std::uint64_t>(row.int64(correlation_column)));
    const int node_column = correlation_column + 1;
    ops.graph_node.push_back(
        row.is_null(node_column) ? kNone : graph_node_ids_.Find(row.int64(node_column)));
    return &ops;
  }

  Status ReadKernels() {
    return ForEachRow("kernel", "start, dur, stream, shape, correlation, graph_node",
                      [&](const Statement& row) {
                        const std::uint32_t shape = shape_ids_.Find(row.int64(3));
                        if (shape == kNone) return Count("kernel", Problem::kNoShape);
                        GpuOps* ops = AddOp("kernel", row, OpKind::kKernel, 4);
                        if (ops == nullptr) return;
                        ops->kernel_class.push_back(shapes_[shape].kernel_class);
                        ops->detail.push_back(shape);
                      });
  }

  Status ReadMemcpys() {
    return ForEachRow("memcpy",
                      "start, dur, stream, kind, src_kind, dst_kind, async, bytes, correlation, "
                      "graph_node, src_device, dst_device",
                      [&](const Statement& row) {
                        GpuOps* ops = AddOp("memcpy", row, OpKind::kMemcpy, 8);
                        if (ops == nullptr) return;
                        Transfer transfer;
                        transfer.bytes = std::max<std::int64_t>(0, row.int64(7));
                        transfer.kind = NarrowByte(row.int64(3));
                        transfer.src_kind = NarrowByte(row.int64(4));
                        transfer.dst_kind = NarrowByte(row.int64(5));
                        transfer.async = row.int64(6) != 0;
                        transfer.src_device = row.optional_int(10).value_or(-1);
                        transfer.dst_device = row.optional_int(11).value_or(-1);
                        AddTransfer(*ops, KernelClass::kMemcpy, transfer);
                      });
  }

  Status ReadMemsets() {
    return ForEachRow("memset", "start, dur, stream, bytes, correlation, graph_node",
                      [&](const Statement& row) {
                        GpuOps* ops = AddOp("memset", row, OpKind::kMemset, 4);
                        if (ops == nullptr) return;
                        Transfer transfer;
                        transfer.bytes = std::max<std::int64_t>(0, row.int64(3));
                        AddTransfer(*ops, KernelClass::kMemset, transfer);
                      });
  }

  void AddTransfer(GpuOps& ops, KernelClass kernel_class, const Transfer& transfer) {
    auto& transfers = file_.ranks[op_process_].transfers;
    ops.kernel_class.push_back(kernel_class);
    ops.detail.push_back(static_cast<std::uint32_t>(transfers.size()));
    transfers.push_back(transfer);
  }

  Status ReadApi() {
    return ForEachRow("api", "start, dur, thread, name, correlation, result",
                      [&](const Statement& row) {
                        const Place* thread = ThreadOf("api", row.int64(2));
                        if (thread == nullptr) return;
                        const std::uint32_t name = api_name_ids_.Find(row.int64(3));
                        if (name == kNone) return Count("api", Problem::kNoName);
                        TimeNs end = 0;
                        if (!Times("api", row.int64(0), row.int64(1), end)) return;
                        ApiCalls& api = rank(*thread).api;
                        api.start.push_back(row.int64(0));
                        api.end.push_back(end);
                        api.thread.push_back(thread->index);
                        api.name.push_back(name);
                        api.correlation.push_back(static_cast<std::uint64_t>(row.int64(4)));
                        api.result.push_back(Narrow(row.int64(5)));
                      });
  }

  Status ReadSyncs() {
    return ForEachRow("sync", "start, dur, thread, kind, event, stream", [&](const Statement& row) {
      const Place* thread = ThreadOf("sync", row.int64(2));
      if (thread == nullptr) return;
      if (row.int64(3) < 1 || row.int64(3) > 4) return Count("sync", Problem::kUnknownKind);
      TimeNs end = 0;
      if (!Times("sync", row.int64(0), row.int64(1), end)) return;
      const Place* stream = row.is_null(5) ? nullptr : streams_.Find(row.int64(5));
      const bool own_stream = stream != nullptr && stream->rank == thread->rank;
      const std::int64_t event = row.int64(4);
      Syncs& syncs = rank(*thread).syncs;
      syncs.start.push_back(row.int64(0));
      syncs.end.push_back(end);
      syncs.thread.push_back(thread->index);
      syncs.kind.push_back(static_cast<SyncKind>(row.int64(3)));
      syncs.event.push_back(row.is_null(4) || event < 0 || event >= kNone
                                ? kNone
                                : static_cast<std::uint32_t>(event));
      syncs.stream.push_back(own_stream ? stream->index : kNone);
    });
  }

  Status ReadNvtx() {
    return ForEachRow(
        "nvtx", "start, dur, thread, kind, domain, text, category", [&](const Statement& row) {
          const Place* thread = ThreadOf("nvtx", row.int64(2));
          if (thread == nullptr) return;
          const Place* domain = domains_.Find(row.int64(4));
          if (domain == nullptr || domain->rank != thread->rank)
            return Count("nvtx", Problem::kNoName);
          if (row.int64(3) < 1 || row.int64(3) > 3) return Count("nvtx", Problem::kUnknownKind);
          const auto kind = static_cast<NvtxKind>(row.int64(3));
          TimeNs end = 0;
          const TimeNs start = row.int64(0);
          if (!TimesOrOpen("nvtx", row, 1, start, end)) return;
          if (kind == NvtxKind::kMark) end = start;
          NvtxRanges& nvtx = rank(*thread).nvtx;
          nvtx.start.push_back(start);
          nvtx.end.push_back(end);
          nvtx.thread.push_back(thread->index);
          nvtx.kind.push_back(kind);
          nvtx.domain.push_back(domain->index);
          nvtx.text.push_back(StringOf(row, 5));
          nvtx.category.push_back(row.is_null(6) ? kNone
                                                 : static_cast<std::uint32_t>(row.int64(6)));
        });
  }

  Status ReadCollectives() {
    return ForEachRow(
        "collective", "start, dur, thread, function, communicator, bytes, reduction, peer, root",
        [&](const Statement& row) {
          const Place* thread = ThreadOf("collective", row.int64(2));
          if (thread == nullptr) return;
          const std::uint32_t function = StringOf(row, 3);
          if (function == kNone) return Count("collective", Problem::kNoName);
          const Place* communicator = row.is_null(4) ? nullptr : communicators_.Find(row.int64(4));
          const bool own = communicator != nullptr && communicator->rank == thread->rank;
          if (!row.is_null(4) && !own) Count("collective", Problem::kNoCommunicator);
          TimeNs end = 0;
          if (!TimesOrOpen("collective", row, 1, row.int64(0), end)) return;
          Collectives& collectives = rank(*thread).collectives;
          collectives.start.push_back(row.int64(0));
          collectives.end.push_back(end);
          collectives.thread.push_back(thread->index);
          collectives.function.push_back(function);
          collectives.communicator.push_back(own ? communicator->index : kNone);
          collectives.bytes.push_back(std::max<std::int64_t>(0, row.int64(5)));
          collectives.reduction.push_back(row.optional_int(6).value_or(-1));
          collectives.peer.push_back(row.optional_int(7).value_or(-1));
          collectives.root.push_back(row.optional_int(8).value_or(-1));
        });
  }

  // Small tables that nothing refers to.
  Status ReadSideTables() {
    Status status = ForEachRow(
        "capture_gap", "start, dur, reason",
        [&](const Statement& row) {
          CaptureGap gap;
          gap.start = row.int64(0);
          if (!TimesOrOpen("capture_gap", row, 1, gap.start, gap.end)) return;
          gap.reason = row.text(2);
          // The table does not tell processes apart: a merged file stops recording as one.
          for (Rank& each : file_.ranks) each.gaps.push_back(gap);
        },
        "ORDER BY start");
    if (!status.ok()) return status;
    status =
        ForEachRow("health", "proc, source, counter, value, detail", [&](const Statement& row) {
          const std::uint32_t process = processes_.Find(row.int64(0));
          if (process == kNone) return Count("health", Problem::kNoProcess);
          file_.ranks[process].health.push_back({std::string(row.text(1)), std::string(row.text(2)),
                                                 row.int64(3), std::string(row.text(4))});
        });
    if (!status.ok()) return status;
    return ForEachRow("system_fact", "proc, kind, key, value", [&](const Statement& row) {
      const std::uint32_t process = processes_.Find(row.int64(0));
      if (process == kNone) return Count("system_fact", Problem::kNoProcess);
      file_.ranks[process].facts.push_back(
          {std::string(row.text(1)), std::string(row.text(2)), std::string(row.text(3))});
    });
  }

  // --- after the last table ---

  void Finish() {
    for (std::size_t i = 0; i < file_.ranks.size(); ++i) {
      Rank& each = file_.ranks[i];
      const bool last = i + 1 == file_.ranks.size();
      // Dictionaries without a process column serve all processes of the file.
      each.strings = last ? std::move(strings_) : strings_;
      each.shapes = last ? std::move(shapes_) : shapes_;
      each.api_names = last ? std::move(api_names_) : api_names_;
      each.graph_nodes = last ? std::move(graph_nodes_) : graph_nodes_;
      SortColumns(each);
      JoinLaunches(each);
      SortDevices(each);
      if (each.end == kOpen) each.end = LastTimeSeen(each);
    }
    WriteNotes();
  }

  static void SortColumns(Rank& rank) {
    for (Device& device : rank.devices) {
      GpuOps& ops = device.ops;
      ApplyOrder(SortedOrder(ops.start, ops.end), ops.start, ops.end, ops.kind, ops.kernel_class,
                 ops.stream, ops.detail, ops.correlation, ops.graph_node);
    }
    ApiCalls& api = rank.api;
    ApplyOrder(SortedOrder(api.start, api.end), api.start, api.end, api.thread, api.name,
               api.correlation, api.result);
    Syncs& syncs = rank.syncs;
    ApplyOrder(SortedOrder(syncs.start, syncs.end), syncs.start, syncs.end, syncs.thread,
               syncs.kind, syncs.event, syncs.stream);
    NvtxRanges& nvtx = rank.nvtx;
    ApplyOrder(SortedOrder(nvtx.start, nvtx.end), nvtx.start, nvtx.end, nvtx.thread, nvtx.kind,
               nvtx.domain, nvtx.text, nvtx.category);
    Collectives& calls = rank.collectives;
    ApplyOrder(SortedOrder(calls.start, calls.end), calls.start, calls.end, calls.thread,
               calls.function, calls.communicator, calls.bytes, calls.reduction, calls.peer,
               calls.root);
  }

  static void SortDevices(Rank& rank) {
    std::sort(rank.devices.begin(), rank.devices.end(),
              [](const Device& a, const Device& b) { return a.ordinal < b.ordinal; });
  }

  static TimeNs LastTimeSeen(const Rank& rank) {
    TimeNs last = rank.start;
    const auto look = [&](const std::vector<TimeNs>& start, const std::vector<TimeNs>& end) {
      for (std::size_t i = 0; i < end.size(); ++i)
        last = std::max(last, end[i] == kOpen ? start[i] : end[i]);
    };
    for (const Device& device : rank.devices) look(device.ops.start, device.ops.end);
    look(rank.api.start, rank.api.end);
    look(rank.syncs.start, rank.syncs.end);
    look(rank.nvtx.start, rank.nvtx.end);
    look(rank.collectives.start, rank.collectives.end);
    return last;
  }

  void WriteNotes() {
    for (const auto& [key, count] : problems_) {
      file_.notes.push_back(fmt::format("{}: {} row{} of the table '{}' {}", database_.path(),
                                        FormatCount(count), count == 1 ? "" : "s", key.first,
                                        Explain(key.second)));
    }
  }

  static std::string_view Explain(Problem problem) {
    switch (problem) {
      case Problem::kNoStream:
        return "left out: no row for the stream";
      case Problem::kNoShape:
        return "left out: no row for the kernel shape";
      case Problem::kNoThread:
        return "left out: no row for the thread";
      case Problem::kNoName:
        return "left out: no row for the name";
      case Problem::kNameless:
        return "kept without a name: no row for it";
      case Problem::kNoCommunicator:
        return "treated as of an unknown communicator: no row for it";
      case Problem::kNoProcess:
        return "left out: no such process, or no such device";
      case Problem::kTime:
        return "left out: start or duration beyond any clock";
      case Problem::kNegative:
        return "repaired: a negative duration became 0";
      case Problem::kUnknownKind:
        return "left out: unknown kind";
    }
    return "";
  }

  const Database& database_;
  ReadProgress& progress_;
  RecordedFile file_;

  std::string run_id_, tool_version_;
  bool closed_ = false;
  std::vector<std::string> strings_;
  std::vector<KernelShape> shapes_;
  std::vector<ApiName> api_names_;
  std::vector<GraphNode> graph_nodes_;
  IdMap processes_, string_ids_, shape_ids_, api_name_ids_, graph_node_ids_;
  PlaceMap threads_, streams_, domains_, communicators_;
  std::vector<std::map<int, std::uint32_t>>
      device_index_;  // by rank: ordinal -> index into Rank::devices
  std::unordered_map<std::uint32_t, KernelClass> name_class_;  // by string
  std::uint32_t op_process_ = 0;  // of the operation that AddOp added last
  std::map<std::pair<std::string, Problem>, std::int64_t> problems_;
};

}  // namespace

Result<RecordedFile> ReadRunDb(const Database& database, ReadProgress& progress) {
  return Reader(database, progress).Read();
}

}  // namespace traceinject
