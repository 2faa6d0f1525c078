// SPDX-License-Identifier: Apache-2.0
#include "injector/store/row_statements.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "injector/rows/event_tables.h"

namespace traceinject {
namespace {

// Those of all but event tables: indices of kSql.
enum Statement : std::size_t {
  kString,
  kThread,
  kStream,
  kShape,
  kGraphNode,
  kApiName,
  kNvtxDomain,
  kNvtxCategory,
  kCommunicator,
  kNcclSetup,
  kNcclLink,
  kGemmShape,
  kAttentionShape,
  kDataLoader,
  kWorker,
  kCodePlace,
  kStack,
  kDevice,
  kCounterSet,
  kCounter,
  kFact,
  kProcess,
  kHealth,
  kForgetString,
  kForgetShape,
  kForgetGraphNode,
  kForgetGemmShape,
  kForgetThread,
  kForgetStream,
  kForgetWorker,
  kForgetCodePlace,
  kForgetStack,
  kStatementCount
};

constexpr const char* kSql[] = {
    "INSERT OR REPLACE INTO string(id, text) VALUES(?, ?)",
    "INSERT OR REPLACE INTO thread(id, proc, tid, name) VALUES(?, 1, ?, ?)",
    "INSERT OR REPLACE INTO stream(id, proc, device, context, stream_id, priority, flags, name) "
    "VALUES(?, 1, ?, ?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO kernel_shape(id, name, grid_x, grid_y, grid_z, block_x, block_y, "
    "block_z, cluster_x, cluster_y, "
    "cluster_z, registers, static_shared_bytes, dynamic_shared_bytes, local_bytes) "
    "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO graph_node(id, graph_id, node_id) VALUES(?, ?, ?)",
    "INSERT OR REPLACE INTO api_name(id, domain, cbid, name, class) VALUES(?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO nvtx_domain(id, proc, name) VALUES(?, 1, ?)",
    "INSERT OR REPLACE INTO nvtx_category(domain, category, name) VALUES(?, ?, ?)",
    "INSERT OR REPLACE INTO communicator(id, proc, hash, created, size, rank, device, parent, "
    "nodes, name) VALUES(?, 1, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO nccl_setup(id, proc, communicator, rank, size, device, nodes, network, "
    "rings, trees, channels, nvls_channels, p2p_channels, p2p_channels_per_peer, nvls) "
    "VALUES(?,1,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO nccl_link(id, proc, setup, rank, peer, sends, transport, detail, "
    "network, net_device, gdrdma, proxy_rank, channels) VALUES(?,1,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO gemm_shape(id, function, m, n, k, batch, trans_a, trans_b, type_a, "
    "type_b, type_c, compute_type, least_bytes) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO attention_shape(id, library, batch, heads, kv_heads, query_length, "
    "key_length, head_size, value_head_size, type, causal) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO data_loader(id, proc, workers, pin_memory, persistent_workers, "
    "prefetch_factor, batch_size) VALUES(?, 1, ?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO worker(id, proc, pid, loader, start, end) VALUES(?, 1, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO code_place(id, function, file, line, first_line) VALUES(?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO stack(id, parent, place, module) VALUES(?, ?, ?, ?)",
    "INSERT OR REPLACE INTO device(proc, device, name, uuid, pci_bus_id, sm_count, cc_major, "
    "cc_minor, sm_clock_khz, "
    "memory_clock_khz, memory_bus_bits, memory_bytes, l2_bytes) VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO counter_set(id, proc, source, name, chip, period_ns) "
    "VALUES(?,1,?,?,?,?)",
    "INSERT OR REPLACE INTO counter(counter_set, position, name, unit, metric) VALUES(?,?,?,?,?)",
    "INSERT OR REPLACE INTO system_fact(proc, kind, key, value, reason) VALUES(1, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO process(proc, pid, parent_pid, host, rank, local_rank, world_size, "
    "local_world_size, run_id, restart, "
    "start, executable, command_line, working_directory, launcher, driver_version, "
    "runtime_version, cupti_version, cupti_path, "
    "nccl_version) VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO health(proc, source, counter, value, detail) VALUES(1, ?, ?, ?, ?)",
    "DELETE FROM string WHERE id = ?",
    "DELETE FROM kernel_shape WHERE id = ?",
    "DELETE FROM graph_node WHERE id = ?",
    "DELETE FROM gemm_shape WHERE id = ?",
    "DELETE FROM thread WHERE id = ?",
    "DELETE FROM stream WHERE id = ?",
    "DELETE FROM worker WHERE id = ?",
    "DELETE FROM code_place WHERE id = ?",
    "DELETE FROM stack WHERE id = ?",
};
static_assert(sizeof kSql / sizeof *kSql == kStatementCount);

// Whether its rows come with their rowids, as they may replace others. All others are appended.
bool HasRowids(EventTable table) { return HasColumn(table, "rowid") || HasColumn(table, "id"); }

// A process writes of itself alone: its number is 1.
std::string InsertSql(EventTable table, bool with_rowid) {
  std::string columns(with_rowid ? "rowid, " : ""), values(with_rowid ? "?" : "");
  columns += InfoOf(table).columns;
  for (std::string_view rest = InfoOf(table).columns; !rest.empty();) {
    const std::string_view column = TakeColumn(&rest);
    values += values.empty() ? "" : ", ";
    values += column == "proc" ? "1" : "?";
  }
  return std::string("INSERT ") + (HasRowids(table) ? "OR REPLACE " : "") + "INTO " +
         std::string(InfoOf(table).name) + "(" + columns + ") VALUES(" + values + ")";
}

// One execution of an insert statement: values from left to right, then Insert(). The caller's text
// stays alive until then, so nothing is copied.
class Values {
 public:
  explicit Values(sqlite3_stmt* statement) : statement_(statement) {}

  Values& Int(std::int64_t value) { return Note(sqlite3_bind_int64(statement_, ++column_, value)); }
  Values& Null() { return Note(sqlite3_bind_null(statement_, ++column_)); }
  Values& Real(double value) { return Note(sqlite3_bind_double(statement_, ++column_, value)); }
  // Numbers of 64 bits without sign keep their bits.
  Values& Bits(std::uint64_t value) { return Int(static_cast<std::int64_t>(value)); }
  Values& IntOrNull(bool known, std::int64_t value) { return known ? Int(value) : Null(); }
  Values& Id(std::uint32_t id) { return IntOrNull(id != 0, id); }
  Values& NotNegative(std::int64_t value) { return IntOrNull(value >= 0, value); }

  Values& Text(std::string_view text) {
    return Note(sqlite3_bind_text64(statement_, ++column_, text.data(), text.size(), SQLITE_STATIC,
                                    SQLITE_UTF8));
  }
  Values& TextOrNull(std::string_view text) { return text.empty() ? Null() : Text(text); }
  Values& Blob(std::string_view bytes) {
    return Note(
        sqlite3_bind_blob64(statement_, ++column_, bytes.data(), bytes.size(), SQLITE_STATIC));
  }

  bool Insert() {
    if (!bound_) return false;
    const bool done = sqlite3_step(statement_) == SQLITE_DONE;
    return sqlite3_reset(statement_) == SQLITE_OK && done;
  }

 private:
  Values& Note(int result) {
    bound_ &= result == SQLITE_OK;
    return *this;
  }

  sqlite3_stmt* statement_;
  int column_ = 0;
  bool bound_ = true;
};

bool Add(Values to, const StringRow& row) { return to.Int(row.id).Text(row.text).Insert(); }

bool Add(Values to, const ThreadRow& row) {
  return to.Int(row.id).Int(row.tid).Id(row.name).Insert();
}

bool Add(Values to, const StreamRow& row) {
  to.Int(row.id).Int(row.device).Int(row.context).Int(row.stream_id);
  return to.IntOrNull(row.has_priority, row.priority).Id(row.flags).Id(row.name).Insert();
}

bool Add(Values to, const KernelShapeRow& row) {
  const bool clusters = row.cluster[0] != 0;
  to.Int(row.id).Int(row.name);
  for (const std::int32_t blocks : row.grid) to.Int(blocks);
  for (const std::int32_t threads : row.block) to.Int(threads);
  for (const std::int32_t blocks : row.cluster) to.IntOrNull(clusters, blocks);
  to.Int(row.registers).Int(row.static_shared_bytes).Int(row.dynamic_shared_bytes);
  return to.Int(row.local_bytes).Insert();
}

bool Add(Values to, const GraphNodeRow& row) {
  return to.Int(row.id).Int(row.graph_id).Bits(row.node_id).Insert();
}

bool Add(Values to, const ApiNameRow& row) {
  return to.Int(row.id).Int(row.domain).Int(row.cbid).Text(row.name).Int(row.api_class).Insert();
}

bool Add(Values to, const NvtxDomainRow& row) { return to.Int(row.id).Text(row.name).Insert(); }

bool Add(Values to, const NvtxCategoryRow& row) {
  return to.Int(row.domain).Int(row.category).Text(row.name).Insert();
}

bool Add(Values to, const CommunicatorRow& row) {
  to.Int(row.id).Bits(row.hash).IntOrNull(row.created_known, row.created);
  return to.NotNegative(row.size)
      .NotNegative(row.rank)
      .NotNegative(row.device)
      .Id(row.parent)
      .NotNegative(row.nodes)
      .TextOrNull(row.name)
      .Insert();
}

bool Add(Values to, const NcclSetupRow& row) {
  to.Int(row.id).Id(row.communicator).Int(row.rank).Int(row.size).Int(row.device);
  to.NotNegative(row.nodes).Id(row.network).NotNegative(row.rings).NotNegative(row.trees);
  to.NotNegative(row.channels).NotNegative(row.nvls_channels).NotNegative(row.p2p_channels);
  return to.NotNegative(row.p2p_channels_per_peer).Int(row.nvls ? 1 : 0).Insert();
}

bool Add(Values to, const NcclLinkRow& row) {
  to.Int(row.id).Id(row.setup).Int(row.rank).NotNegative(row.peer).Int(row.sends ? 1 : 0);
  to.Id(row.transport).Id(row.detail).Id(row.network).NotNegative(row.net_device);
  return to.NotNegative(row.gdrdma).NotNegative(row.proxy_rank).Int(row.channels).Insert();
}

bool Add(Values to, const DataLoaderRow& row) {
  to.Int(row.id).Int(row.workers).Int(row.pin_memory ? 1 : 0).Int(row.persistent_workers ? 1 : 0);
  return to.NotNegative(row.prefetch_factor).NotNegative(row.batch_size).Insert();
}

bool Add(Values to, const WorkerRow& row) {
  to.Int(row.id).Int(row.pid).Id(row.loader).Int(row.start);
  return to.IntOrNull(row.ended, row.end).Insert();
}

bool Add(Values to, const CodePlaceRow& row) {
  to.Int(row.id).Int(row.function).Int(row.file).Int(row.line);
  return to.NotNegative(row.first_line).Insert();
}

bool Add(Values to, const StackRow& row) {
  return to.Int(row.id).Id(row.parent).Int(row.place).Id(row.module).Insert();
}

bool Add(Values to, const DeviceRow& row) {
  to.Int(row.device).Text(row.name).TextOrNull(row.uuid).TextOrNull(row.pci_bus_id);
  to.NotNegative(row.sm_count).NotNegative(row.cc_major).NotNegative(row.cc_minor);
  to.NotNegative(row.sm_clock_khz).NotNegative(row.memory_clock_khz);
  return to.NotNegative(row.memory_bus_bits)
      .NotNegative(row.memory_bytes)
      .NotNegative(row.l2_bytes)
      .Insert();
}

bool Add(Values to, const CounterSetRow& row) {
  to.Int(row.id).Text(row.source).Text(row.name).TextOrNull(row.chip);
  return to.Int(row.period_ns).Insert();
}

bool Add(Values to, const CounterRow& row) {
  to.Int(row.set).Int(row.position).Text(row.name).Text(row.unit);
  return to.Text(row.metric).Insert();
}

bool Add(Values to, const SystemFactRow& row) {
  to.Text(row.kind).Text(row.key);
  // A value may be empty; only a reason says that it is unknown.
  if (row.reason.empty()) return to.Text(row.value).Null().Insert();
  return to.Null().Text(row.reason).Insert();
}

bool Add(Values to, const ProcessRow& row) {
  // A parent outside our pid namespace has the number 0.
  to.Int(row.pid).IntOrNull(row.parent_pid > 0, row.parent_pid).Text(row.host);
  to.NotNegative(row.rank).NotNegative(row.local_rank);
  to.NotNegative(row.world_size).NotNegative(row.local_world_size);
  to.Text(row.run_id).NotNegative(row.restart).Int(row.start);
  to.TextOrNull(row.executable).TextOrNull(row.command_line);
  to.TextOrNull(row.working_directory).TextOrNull(row.launcher);
  to.NotNegative(row.driver_version).NotNegative(row.runtime_version);
  return to.NotNegative(row.cupti_version)
      .TextOrNull(row.cupti_path)
      .NotNegative(row.nccl_version)
      .Insert();
}

bool Add(Values to, const KernelRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.stream).Int(row.shape);
  return to.Bits(row.correlation).Id(row.graph_node).Insert();
}

bool Add(Values to, const MemcpyRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.stream).Int(row.kind).Int(row.src_kind).Int(row.dst_kind);
  to.Int(row.async ? 1 : 0).Int(row.bytes).Bits(row.correlation).Id(row.graph_node);
  return to.NotNegative(row.src_device).NotNegative(row.dst_device).Insert();
}

bool Add(Values to, const MemsetRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.stream).Int(row.value).Int(row.memory_kind).Int(row.bytes);
  return to.Bits(row.correlation).Id(row.graph_node).Insert();
}

bool Add(Values to, const MemoryOperationRow& row) {
  to.Int(row.time).Int(row.device).Int(row.kind).Int(row.memory_kind).Int(row.bytes);
  to.Bits(row.address).Id(row.stream).Int(row.pool ? 1 : 0);
  return to.Bits(row.correlation).Insert();
}

bool Add(Values to, const ApiRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.thread).Int(row.name);
  return to.Bits(row.correlation).Int(row.result).Insert();
}

bool Add(Values to, const SyncRow& row) {
  return to.Int(row.start)
      .Int(row.dur)
      .Int(row.thread)
      .Int(row.kind)
      .Id(row.event)
      .Id(row.stream)
      .Insert();
}

bool Add(Values to, const NvtxRow& row) {
  to.Int(row.start).NotNegative(row.dur).Int(row.thread).Int(row.kind).Int(row.domain);
  to.Id(row.text).Id(row.category).IntOrNull(row.has_color, row.color);
  switch (row.payload_type) {
    case NvtxRow::Payload::kInteger:
      return to.Int(row.payload_integer).Insert();
    case NvtxRow::Payload::kReal:
      return to.Real(row.payload_real).Insert();
    case NvtxRow::Payload::kBlob:
      return to.Blob(row.payload_blob).Insert();
    case NvtxRow::Payload::kNothing:
      break;
  }
  return to.Null().Insert();
}

bool Add(Values to, const CollectiveRow& row) {
  to.Bits(row.id)
      .Int(row.start)
      .NotNegative(row.dur)
      .Int(row.thread)
      .Int(row.function)
      .Id(row.communicator)
      .Int(row.bytes);
  return to.NotNegative(row.reduction).NotNegative(row.peer).NotNegative(row.root).Insert();
}

bool Add(Values to, const CollectivePlanRow& row) {
  to.Bits(row.collective).Int(row.time).Int(row.thread).NotNegative(row.sequence).Int(row.count);
  to.Id(row.datatype).Id(row.algorithm).Id(row.protocol);
  to.NotNegative(row.channels).NotNegative(row.warps).IntOrNull(row.has_launch, row.launch_start);
  return to.IntOrNull(row.has_launch && row.launch_dur >= 0, row.launch_dur).Insert();
}

bool Add(Values to, const GemmShapeRow& row) {
  to.Int(row.id).Int(row.function).Int(row.m).Int(row.n).Int(row.k).Int(row.batch);
  to.Int(row.trans_a).Int(row.trans_b);
  to.NotNegative(row.type_a).NotNegative(row.type_b).NotNegative(row.type_c);
  return to.NotNegative(row.compute_type).NotNegative(row.least_bytes).Insert();
}

bool Add(Values to, const GemmRow& row) {
  return to.Int(row.start).Int(row.dur).Int(row.thread).Int(row.shape).Insert();
}

bool Add(Values to, const AttentionShapeRow& row) {
  to.Int(row.id).Int(row.library);
  to.NotNegative(row.batch).NotNegative(row.heads).NotNegative(row.kv_heads);
  to.NotNegative(row.query_length).NotNegative(row.key_length);
  to.NotNegative(row.head_size).NotNegative(row.value_head_size);
  return to.NotNegative(row.type).NotNegative(row.causal).Insert();
}

bool Add(Values to, const AttentionRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.thread).Int(row.shape);
  return to.Int(row.direction).NotNegative(row.gradient).Insert();
}

bool Add(Values to, const DataWaitRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.thread);
  return to.Id(row.loader).NotNegative(row.batch).NotNegative(row.samples).Insert();
}

bool Add(Values to, const StepMarkRow& row) {
  return to.Int(row.time).Int(row.thread).Int(row.optimizer).Insert();
}

bool Add(Values to, const HostSpanRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.thread);
  return to.Int(row.kind).NotNegative(row.detail).Insert();
}

bool Add(Values to, const DeviceSampleRow& row) {
  to.Int(row.time).Int(row.device).NotNegative(row.sm_clock_mhz).NotNegative(row.memory_clock_mhz);
  to.NotNegative(row.power_mw).NotNegative(row.temperature_c).NotNegative(row.throttle_reasons);
  to.NotNegative(row.sm_utilisation_pct).NotNegative(row.memory_utilisation_pct);
  return to.NotNegative(row.memory_used_bytes).Insert();
}

bool Add(Values to, const DeviceSlowSampleRow& row) {
  to.Int(row.time).Int(row.device).NotNegative(row.pcie_generation).NotNegative(row.pcie_width);
  to.NotNegative(row.pcie_tx_bytes_s).NotNegative(row.pcie_rx_bytes_s);
  to.NotNegative(row.pcie_replays);
  to.NotNegative(row.nvlink_tx_bytes).NotNegative(row.nvlink_rx_bytes);
  to.NotNegative(row.nvlink_replays).NotNegative(row.nvlink_recoveries);
  to.NotNegative(row.nvlink_crc_errors);
  return to.NotNegative(row.ecc_corrected).NotNegative(row.ecc_uncorrected).Insert();
}

bool Add(Values to, const CounterSampleRow& row) {
  to.Int(row.start).Int(row.dur).Int(row.device).Int(row.set).Int(row.samples);
  to.IntOrNull(row.has_gpu_time, row.gpu_time).IntOrNull(row.is_first, row.lead);
  return to.IntOrNull(row.has_gpu_time, row.lag).Blob(row.data).Insert();
}

bool Add(Values to, const AllocatorSampleRow& row) {
  to.Int(row.time).Int(row.device).NotNegative(row.allocated_bytes).NotNegative(row.reserved_bytes);
  to.NotNegative(row.active_bytes).NotNegative(row.peak_allocated_bytes);
  return to.NotNegative(row.peak_reserved_bytes)
      .NotNegative(row.retries)
      .NotNegative(row.ooms)
      .Insert();
}

bool Add(Values to, const HostSampleRow& row) {
  to.Int(row.time).Int(row.thread).Int(row.cpu_ns).NotNegative(row.runqueue_ns);
  to.NotNegative(row.minor_faults).NotNegative(row.major_faults);
  return to.NotNegative(row.voluntary_switches).NotNegative(row.involuntary_switches).Insert();
}

bool Add(Values to, const WorkerSampleRow& row) {
  to.Int(row.time).Int(row.worker).NotNegative(row.cpu_ns).NotNegative(row.read_bytes);
  return to.Int(row.states).Int(row.states_disk).Insert();
}

bool Add(Values to, const StackSampleRow& row) {
  to.Int(row.time).Int(row.thread).Id(row.stack).Int(row.kind);
  // Numbers of 64 bits without sign keep their bits.
  to.IntOrNull(row.has_correlation, static_cast<std::int64_t>(row.correlation));
  return to.IntOrNull(row.repeats != 0, row.repeats).IntOrNull(row.repeats != 0, row.span).Insert();
}

bool Add(Values to, const ClockPairRow& row) {
  to.Int(row.realtime).Int(row.monotonic).Int(row.monotonic_raw).Int(row.boottime);
  return to.IntOrNull(row.has_cupti, row.cupti).Insert();
}

bool Add(Values to, const CaptureGapRow& row) {
  return to.Int(row.start).NotNegative(row.dur).Text(row.reason).Insert();
}

bool Add(Values to, const HealthRow& row) {
  return to.Text(row.source).Text(row.counter).Int(row.value).TextOrNull(row.detail).Insert();
}

// For the statements that remove a row of a dictionary.
bool Add(Values to, std::uint32_t id) { return to.Int(id).Insert(); }

template <typename Row>
bool AddFrom(sqlite3_stmt* statement, const std::vector<Row>& rows, std::size_t first) {
  for (std::size_t i = first; i < rows.size(); ++i) {
    if (!Add(Values(statement), rows[i])) return false;
  }
  return true;
}

template <typename Row>
bool AddAll(sqlite3_stmt* statement, const std::vector<Row>& rows) {
  return AddFrom(statement, rows, 0);
}

// Those with a number take -number.
template <typename Row>
bool AddNumbered(sqlite3_stmt* statement, const std::vector<Row>& rows, std::int64_t last_rowid) {
  for (const Row& row : rows) {
    Values to(statement);
    to.Int(row.row != 0 ? -static_cast<std::int64_t>(row.row) : ++last_rowid);
    if (!Add(to, row)) return false;
  }
  return true;
}

bool PrepareOne(sqlite3* db, std::string_view sql, sqlite3_stmt** statement) {
  return sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                            statement, nullptr) == SQLITE_OK;
}

}  // namespace

bool RowStatements::Prepare(sqlite3* db) {
  static_assert(kStatements == kStatementCount);
  Finalize();
  for (std::size_t i = 0; i < kStatements; ++i) {
    if (!PrepareOne(db, kSql[i], &statements_[i])) return false;
  }
  for (std::size_t i = 0; i < kEventTables; ++i) {
    if (!PrepareOne(db, InsertSql(EventTable{i}, false), &events_[i])) return false;
  }
  return true;
}

void RowStatements::Finalize() {
  const auto finalize = [](sqlite3_stmt*& statement) {
    sqlite3_finalize(statement);
    statement = nullptr;
  };
  std::for_each(statements_.begin(), statements_.end(), finalize);
  std::for_each(events_.begin(), events_.end(), finalize);
  std::for_each(first_events_.begin(), first_events_.end(), finalize);
}

bool RowStatements::Insert(const Batch& batch, const LastRowids& last) {
  return InsertDictionaries(batch) && InsertEvents(batch, last) &&
         AddAll(statements_[kHealth], batch.health) && Forget(batch);
}

bool RowStatements::InsertDictionaries(const Batch& batch) {
  const auto& s = statements_;
  return AddAll(s[kString], batch.strings) && AddAll(s[kThread], batch.threads) &&
         AddAll(s[kStream], batch.streams) && AddAll(s[kShape], batch.shapes) &&
         AddAll(s[kGraphNode], batch.graph_nodes) && AddAll(s[kApiName], batch.api_names) &&
         AddAll(s[kNvtxDomain], batch.nvtx_domains) &&
         AddAll(s[kNvtxCategory], batch.nvtx_categories) &&
         AddAll(s[kCommunicator], batch.communicators) &&
         AddAll(s[kNcclSetup], batch.nccl_setups) && AddAll(s[kNcclLink], batch.nccl_links) &&
         AddAll(s[kGemmShape], batch.gemm_shapes) &&
         AddAll(s[kAttentionShape], batch.attention_shapes) &&
         AddAll(s[kDataLoader], batch.data_loaders) && AddAll(s[kWorker], batch.workers) &&
         AddAll(s[kCodePlace], batch.code_places) && AddAll(s[kStack], batch.stacks) &&
         AddAll(s[kDevice], batch.devices) && AddAll(s[kCounterSet], batch.counter_sets) &&
         AddAll(s[kCounter], batch.counters) && AddAll(s[kFact], batch.facts) &&
         AddAll(s[kProcess], batch.process);
}

bool RowStatements::InsertEvents(const Batch& batch, const LastRowids& last) {
  bool done = true;
  ForEachEventTable(batch, [&](EventTable table, const auto& rows) {
    const auto i = static_cast<std::size_t>(table);
    if (done && !rows.empty()) done = InsertInto(table, rows, last[i]);
  });
  return done;
}

template <typename Row>
bool RowStatements::InsertInto(EventTable table, const std::vector<Row>& rows,
                               std::int64_t last_rowid) {
  const auto i = static_cast<std::size_t>(table);
  if constexpr (requires(const Row& row) { row.row; }) {
    return AddNumbered(events_[i], rows, last_rowid);
  } else {
    if (HasRowids(table)) return AddAll(events_[i], rows);
    sqlite3_stmt*& first = first_events_[i];
    if (first == nullptr &&
        !PrepareOne(sqlite3_db_handle(events_[i]), InsertSql(table, true), &first))
      return false;
    Values to(first);
    return Add(to.Int(last_rowid + 1), rows.front()) && AddFrom(events_[i], rows, 1);
  }
}

bool RowStatements::Forget(const Batch& batch) {
  const auto& s = statements_;
  return AddAll(s[kForgetString], batch.unused.strings) &&
         AddAll(s[kForgetShape], batch.unused.shapes) &&
         AddAll(s[kForgetGraphNode], batch.unused.graph_nodes) &&
         AddAll(s[kForgetGemmShape], batch.unused.gemm_shapes) &&
         AddAll(s[kForgetThread], batch.unused.threads) &&
         AddAll(s[kForgetStream], batch.unused.streams) &&
         AddAll(s[kForgetWorker], batch.unused.workers) &&
         AddAll(s[kForgetCodePlace], batch.unused.code_places) &&
         AddAll(s[kForgetStack], batch.unused.stacks);
}

bool RowStatements::Insert(const HealthRow& row) { return Add(Values(statements_[kHealth]), row); }

}  // namespace traceinject
