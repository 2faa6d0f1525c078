// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/columns/event_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/kernel_class.h"
#include "schemas/event_tables.h"

namespace traceinject {
namespace {

// Events of one process, or of one of its GPUs.
struct Part {
  std::size_t process = 0;
  const Rank* rank = nullptr;
  const Device* device = nullptr;   // null: of the process
  std::vector<std::uint32_t> rows;  // of the columns of its kind
};
using Parts = std::vector<Part>;

std::vector<std::uint32_t> AllRows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

// `rows`: of a rank and a device, which ones.
template <typename RowsOf>
Parts PartsByDevice(const Run& run, RowsOf rows) {
  Parts parts;
  for (std::size_t process = 0; process < run.ranks.size(); ++process) {
    const Rank& rank = run.ranks[process];
    for (const Device& device : rank.devices)
      parts.push_back({process, &rank, &device, rows(device)});
  }
  return parts;
}

Parts PartsOfKind(const Run& run, OpKind kind) {
  return PartsByDevice(run, [&](const Device& device) {
    std::vector<std::uint32_t> rows = AllRows(device.ops.size());
    std::erase_if(rows, [&](std::uint32_t row) { return device.ops.kind[row] != kind; });
    return rows;
  });
}

template <typename Events>
Parts PartsByProcess(const Run& run, const Events Rank::*events) {
  Parts parts;
  for (std::size_t process = 0; process < run.ranks.size(); ++process) {
    const Rank& rank = run.ranks[process];
    parts.push_back({process, &rank, nullptr, AllRows((rank.*events).size())});
  }
  return parts;
}

// What an index of an event stands for: `count` texts of each process. Others, as kNone, for none.
struct Dictionary {
  std::size_t (*count)(const Rank& rank);
  std::string_view (*text)(const Rank& rank, std::size_t index);
};

// Adds columns to a table. What gives values takes a part and a row of it.
class TableBuilder {
 public:
  TableBuilder(const Run& run, Parts parts)
      : run_(run),
        origin_(RunOrigin(run).value_or(0)),
        parts_(std::make_shared<const Parts>(std::move(parts))) {
    for (const Part& part : *parts_) table_.rows += part.rows.size();
  }

  TimeNs origin() const { return origin_; }
  ColumnTable Take() { return std::move(table_); }

  template <typename Value>
  void Int32(const char* name, Value value, bool nullable = false) {
    Add<std::int32_t>({name, ColumnType::kInt32, nullable}, value);
  }
  template <typename Value>
  Column& Int64(const char* name, Value value, bool nullable = false) {
    return Add<std::int64_t>({name, ColumnType::kInt64, nullable}, value);
  }

  // Of a part as a whole.
  template <typename Value>
  void Int32OfPart(const char* name, Value value, bool nullable = false) {
    std::vector<std::int32_t> values;
    for (const Part& part : *parts_) values.push_back(value(part));
    Column column = {name, ColumnType::kInt32, nullable};
    column.constant = IsConstant<std::int32_t>({values});
    Add<std::int32_t>(std::move(column), [value](const Part& part, auto) { return value(part); });
  }

  // What entries of a list of each process have; `index` says which entry is a row's. `absent` is
  // that of rows without one, if there can be any.
  template <typename T, typename Entry, typename Value, typename Index>
  void OfEntries(Column column, const std::vector<Entry> Rank::*entries, Value value, Index index,
                 std::optional<T> absent = std::nullopt) {
    std::vector<std::vector<T>> by_process;
    for (const Rank& rank : run_.ranks) {
      std::vector<T>& own = by_process.emplace_back();
      for (const Entry& entry : rank.*entries) own.push_back(static_cast<T>(value(entry)));
    }
    AddLookup(std::move(column), std::move(by_process), index, absent);
  }

  // `index` gives indices of the dictionary.
  template <typename Index>
  Column& Text(const char* name, const Dictionary& dictionary, Index index) {
    TextNumbers numbers;
    std::vector<std::vector<std::int32_t>> by_process;
    for (const Rank& rank : run_.ranks) {
      auto& own = by_process.emplace_back(dictionary.count(rank));
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = numbers.Of(dictionary.text(rank, i));
    }
    return AddLookup<std::int32_t>({name, ColumnType::kText, true, numbers.Take()},
                                   std::move(by_process), index, kNullText);
  }

 private:
  template <typename T>
  bool IsConstant(const std::vector<std::vector<T>>& lists,
                  std::optional<T> one = std::nullopt) const {
    for (const std::vector<T>& list : lists) {
      for (const T value : list) {
        if (one.value_or(value) != value) return false;
        one = value;
      }
    }
    return table_.rows > 0;
  }

  template <typename T, typename Index>
  Column& AddLookup(Column column, std::vector<std::vector<T>> by_process, Index index,
                    std::optional<T> absent) {
    column.constant = IsConstant(by_process, absent);
    return Add<T>(std::move(column),
                  [by_process = std::move(by_process), index, absent](const Part& part, auto row) {
                    const std::size_t at = index(part, row);
                    const std::vector<T>& own = by_process[part.process];
                    return at < own.size() ? own[at] : absent.value_or(T{});
                  });
  }

  template <typename T, typename Value>
  Column& Add(Column column, Value value) {
    column.write_values = [parts = parts_, value = std::move(value),
                           once = column.constant](OutputFile& file) {
      ValueWriter<T> writer(file);
      for (const Part& part : *parts) {
        for (const std::uint32_t row : part.rows) {
          writer.Add(static_cast<T>(value(part, row)));
          if (once) return;
        }
      }
    };
    return table_.columns.emplace_back(std::move(column));
  }

  const Run& run_;
  TimeNs origin_;
  std::shared_ptr<const Parts> parts_;  // of the columns, too
  ColumnTable table_;
};

// The model's own words for "unknown".
std::int64_t KnownOrNull(std::int64_t value) { return value < 0 ? kNullInt64 : value; }
std::int32_t KnownOrNull32(std::int32_t value) { return value < 0 ? kNullInt32 : value; }
std::int32_t KnownOrNull32(const std::optional<int>& value) { return value.value_or(kNullInt32); }

constexpr Dictionary kStrings = {
    [](const Rank& rank) { return rank.strings.size(); },
    [](const Rank& rank, std::size_t index) -> std::string_view { return rank.strings[index]; }};
constexpr Dictionary kCommunicatorNames = {
    [](const Rank& rank) { return rank.communicators.size(); },
    [](const Rank& rank, std::size_t index) -> std::string_view {
      return rank.communicators[index].name;
    }};

// Words that are the same in all processes; `kName` of 0, 1, ... below `kCount`.
template <std::size_t kCount, std::string_view (*kName)(std::uint8_t)>
constexpr Dictionary kWords = {
    [](const Rank&) { return kCount; },
    [](const Rank&, std::size_t index) { return kName(static_cast<std::uint8_t>(index)); }};

std::string_view ClassName(std::uint8_t value) {
  return KernelClassName(static_cast<KernelClass>(value));
}
std::string_view RangeKindName(std::uint8_t kind) {
  constexpr std::string_view kNames[] = {"unknown", "push/pop", "start/end", "mark"};
  return kNames[kind];
}
std::string_view ProfiledKindName(std::uint8_t kind) {
  constexpr std::string_view kNames[] = {"unknown", "operator", "python"};
  return kNames[kind];
}
std::string_view HostSpanKindName(std::uint8_t kind) {
  constexpr std::string_view kNames[] = {"unknown", "checkpoint", "garbage collection", "GPU wait"};
  return kNames[kind];
}
std::string_view ApiClassName(std::uint8_t api_class) {
  constexpr std::string_view kNames[] = {"unknown",  "launch",       "copy",
                                         "memset",   "synchronize",  "event",
                                         "allocate", "graph launch", "other"};
  return kNames[api_class];
}
constexpr auto kClasses = kWords<static_cast<std::size_t>(KernelClass::kOther) + 1, ClassName>;
constexpr auto kCopyKinds = kWords<11, CopyKindName>;
constexpr auto kMemoryKinds = kWords<8, MemoryKindName>;
constexpr auto kRangeKinds = kWords<4, RangeKindName>;
constexpr auto kProfiledKinds = kWords<3, ProfiledKindName>;
constexpr auto kHostSpanKinds = kWords<4, HostSpanKindName>;
constexpr auto kApiClasses = kWords<9, ApiClassName>;

void AddProcess(TableBuilder& table) {
  table.Int32("process", [](const Part& part, auto) { return part.process; });
  table.Int32(
      "rank", [](const Part& part, auto) { return KnownOrNull32(part.rank->rank); }, true);
}

// `events` of a part: columns with start and end.
template <typename EventsOf>
void AddTimes(TableBuilder& table, EventsOf events, bool may_be_open) {
  table.Int64("start_ns", [events, origin = table.origin()](const Part& part, auto row) {
    return events(part).start[row] - origin;
  });
  table.Int64(
      "dur_ns",
      [events](const Part& part, auto row) {
        const auto& of = events(part);
        return of.end[row] == kOpen ? kNullInt64 : of.end[row] - of.start[row];
      },
      may_be_open);
}

// What happened on a thread of the host.
template <typename Events>
void AddHostEvent(TableBuilder& table, const Events Rank::*events) {
  AddTimes(
      table, [events](const Part& part) -> const Events& { return part.rank->*events; }, true);
  AddProcess(table);
  table.Int64("tid", [events](const Part& part, auto row) {
    return part.rank->threads[(part.rank->*events).thread[row]].tid;
  });
}

const Transfer& TransferOf(const Part& part, std::uint32_t row) {
  return part.rank->transfers[part.device->ops.detail[row]];
}

void AddOperation(TableBuilder& table) {
  AddTimes(
      table, [](const Part& part) -> const GpuOps& { return part.device->ops; }, false);
  AddProcess(table);
  table.Int32OfPart("device", [](const Part& part) { return part.device->ordinal; });
  table.OfEntries<std::int32_t>(
      {"stream", ColumnType::kInt32}, &Rank::streams,
      [](const Stream& stream) { return stream.stream_id; },
      [](const Part& part, auto row) { return part.device->ops.stream[row]; });
}

// The call that launched an operation, and the graph that it is of.
void AddLaunch(TableBuilder& table) {
  const auto of_call = [&](const char* name, auto value) {
    table
        .Int64(
            name,
            [value](const Part& part, auto row) {
              const std::uint32_t call = part.device->ops.launch[row];
              return call == kNone ? kNullInt64
                                   : static_cast<std::int64_t>(value(*part.rank, call));
            },
            true)
        .tables = {InfoOf(EventTable::kApi).name};
  };
  of_call("launch_start_ns", [origin = table.origin()](const Rank& rank, std::uint32_t call) {
    return rank.api.start[call] - origin;
  });
  of_call("launch_dur_ns", [](const Rank& rank, std::uint32_t call) {
    return rank.api.end[call] == kOpen ? kNullInt64 : rank.api.end[call] - rank.api.start[call];
  });
  of_call("launch_tid", [](const Rank& rank, std::uint32_t call) {
    return rank.threads[rank.api.thread[call]].tid;
  });
  table.Int64("correlation",
              [](const Part& part, auto row) { return part.device->ops.correlation[row]; });
  const auto of_node = [&](const char* name, auto value) {
    table.OfEntries<std::int64_t>(
        {name, ColumnType::kInt64, true}, &Rank::graph_nodes, value,
        [](const Part& part, auto row) { return part.device->ops.graph_node[row]; }, kNullInt64);
  };
  of_node("graph_id", [](const GraphNode& node) { return node.graph_id; });
  of_node("graph_node_id", [](const GraphNode& node) { return node.node_id; });
}

ColumnTable Kernels(const Run& run) {
  TableBuilder table(run, PartsOfKind(run, OpKind::kKernel));
  AddOperation(table);
  const auto shape = [](const Part& part, auto row) { return part.device->ops.detail[row]; };
  table.Text(
      "name",
      {[](const Rank& rank) { return rank.shapes.size(); },
       [](const Rank& rank, std::size_t index) { return rank.string(rank.shapes[index].name); }},
      shape);
  table.Text("class", kClasses, [](const Part& part, auto row) {
    return static_cast<std::uint32_t>(part.device->ops.kernel_class[row]);
  });
  const auto of_shape = [&](const char* name, auto value) {
    table.OfEntries<std::int32_t>({name, ColumnType::kInt32}, &Rank::shapes, value, shape);
  };
  constexpr const char* kGrid[] = {"grid_x", "grid_y", "grid_z"};
  constexpr const char* kBlock[] = {"block_x", "block_y", "block_z"};
  for (int axis = 0; axis < 3; ++axis)
    of_shape(kGrid[axis], [axis](const KernelShape& one) { return one.grid[axis]; });
  for (int axis = 0; axis < 3; ++axis)
    of_shape(kBlock[axis], [axis](const KernelShape& one) { return one.block[axis]; });
  of_shape("registers", [](const KernelShape& one) { return one.registers; });
  of_shape("shared_bytes", [](const KernelShape& one) {
    return one.static_shared_bytes + one.dynamic_shared_bytes;
  });
  AddLaunch(table);
  return table.Take();
}

ColumnTable Memcpys(const Run& run) {
  TableBuilder table(run, PartsOfKind(run, OpKind::kMemcpy));
  AddOperation(table);
  const auto word = [&](const char* name, const Dictionary& words, std::uint8_t Transfer::*kind) {
    table.Text(name, words, [kind](const Part& part, auto row) {
      return static_cast<std::uint32_t>(TransferOf(part, row).*kind);
    });
  };
  word("kind", kCopyKinds, &Transfer::kind);
  word("src_kind", kMemoryKinds, &Transfer::src_kind);
  word("dst_kind", kMemoryKinds, &Transfer::dst_kind);
  table.Int32("is_async", [](const Part& part, auto row) { return TransferOf(part, row).async; });
  table.Int64("bytes", [](const Part& part, auto row) { return TransferOf(part, row).bytes; });
  const auto device = [&](const char* name, int Transfer::*end) {
    table.Int32(
        name,
        [end](const Part& part, auto row) { return KnownOrNull32(TransferOf(part, row).*end); },
        true);
  };
  device("src_device", &Transfer::src_device);
  device("dst_device", &Transfer::dst_device);
  AddLaunch(table);
  return table.Take();
}

ColumnTable Memsets(const Run& run) {
  TableBuilder table(run, PartsOfKind(run, OpKind::kMemset));
  AddOperation(table);
  table.Int64("bytes", [](const Part& part, auto row) { return TransferOf(part, row).bytes; });
  AddLaunch(table);
  return table.Take();
}

ColumnTable ApiCallsTable(const Run& run) {
  TableBuilder table(run, PartsByProcess(run, &Rank::api));
  AddHostEvent(table, &Rank::api);
  const auto name = [](const Part& part, auto row) { return part.rank->api.name[row]; };
  constexpr auto kCount = [](const Rank& rank) { return rank.api_names.size(); };
  table.Text("name",
             {kCount,
              [](const Rank& rank, std::size_t index) -> std::string_view {
                return rank.api_names[index].name;
              }},
             name);
  table.Text("class", kApiClasses, [name](const Part& part, auto row) {
    return static_cast<std::uint32_t>(part.rank->api_names[name(part, row)].api_class);
  });
  table.Int32("result", [](const Part& part, auto row) { return part.rank->api.result[row]; });
  table.Int64("correlation",
              [](const Part& part, auto row) { return part.rank->api.correlation[row]; });
  return table.Take();
}

ColumnTable NvtxRangesTable(const Run& run) {
  TableBuilder table(run, PartsByProcess(run, &Rank::nvtx));
  AddHostEvent(table, &Rank::nvtx);
  table.Text("text", kStrings,
             [](const Part& part, auto row) { return part.rank->nvtx.text[row]; });
  table.Text("kind", kRangeKinds, [](const Part& part, auto row) {
    return static_cast<std::uint32_t>(part.rank->nvtx.kind[row]);
  });
  table.Text("domain",
             {[](const Rank& rank) { return rank.nvtx_domains.size(); },
              [](const Rank& rank, std::size_t index) -> std::string_view {
                return rank.nvtx_domains[index];
              }},
             [](const Part& part, auto row) { return part.rank->nvtx.domain[row]; });
  return table.Take();
}

ColumnTable CollectivesTable(const Run& run) {
  TableBuilder table(run, PartsByProcess(run, &Rank::collectives));
  AddHostEvent(table, &Rank::collectives);
  table.Text("function", kStrings,
             [](const Part& part, auto row) { return part.rank->collectives.function[row]; });
  table.Int64(
      "bytes",
      [](const Part& part, auto row) { return KnownOrNull(part.rank->collectives.bytes[row]); },
      true);
  const auto communicator = [](const Part& part, auto row) {
    return part.rank->collectives.communicator[row];
  };
  const auto of_communicator = [&](const char* name, auto value) {
    table.OfEntries<std::int64_t>({name, ColumnType::kInt64, true}, &Rank::communicators, value,
                                  communicator, kNullInt64);
  };
  // The bits of the hash, the same on all ranks.
  of_communicator("comm", [](const Communicator& one) { return one.hash; });
  const auto known = [](const std::optional<int>& number) {
    return number ? std::int64_t{*number} : kNullInt64;
  };
  of_communicator("comm_size", [known](const Communicator& one) { return known(one.size); });
  of_communicator("comm_rank", [known](const Communicator& one) { return known(one.rank); });
  table.Text("comm_name", kCommunicatorNames, [communicator](const Part& part, auto row) {
    const std::uint32_t at = communicator(part, row);
    return at == kNone || part.rank->communicators[at].name.empty() ? kNone : at;
  });
  table.Int32(
      "peer",
      [](const Part& part, auto row) { return KnownOrNull32(part.rank->collectives.peer[row]); },
      true);
  table.Int32(
      "root",
      [](const Part& part, auto row) { return KnownOrNull32(part.rank->collectives.root[row]); },
      true);
  const auto of_plan = [&](const char* name, auto column) {
    table
        .Text(name, kStrings,
              [column](const Part& part, auto row) {
                const std::uint32_t plan = part.rank->collectives.plan[row];
                return plan == kNone ? kNone : (part.rank->plans.*column)[plan];
              })
        .tables = {InfoOf(EventTable::kCollectivePlan).name};
  };
  of_plan("algorithm", &CollectivePlans::algorithm);
  of_plan("protocol", &CollectivePlans::protocol);
  return table.Take();
}

ColumnTable DataWaitsTable(const Run& run) {
  TableBuilder table(run, PartsByProcess(run, &Rank::data_waits));
  AddHostEvent(table, &Rank::data_waits);
  table.Int32(
      "loader",
      [](const Part& part, auto row) {
        const std::uint32_t loader = part.rank->data_waits.loader[row];
        return loader == kNone ? kNullInt32 : static_cast<std::int32_t>(loader);
      },
      true);
  const auto column = [&](const char* name, auto values) {
    table.Int64(
        name,
        [values](const Part& part, auto row) {
          return KnownOrNull((part.rank->data_waits.*values)[row]);
        },
        true);
  };
  column("batch", &DataWaits::batch);
  column("samples", &DataWaits::samples);
  return table.Take();
}

ColumnTable HostSpansTable(const Run& run) {
  TableBuilder table(run, PartsByProcess(run, &Rank::host_spans));
  AddHostEvent(table, &Rank::host_spans);
  table.Text("kind", kHostSpanKinds, [](const Part& part, auto row) {
    return static_cast<std::uint32_t>(part.rank->host_spans.kind[row]);
  });
  return table.Take();
}

ColumnTable ProfilerRangesTable(const Run& run) {
  TableBuilder table(run, PartsByProcess(run, &Rank::profiled));
  AddHostEvent(table, &Rank::profiled);
  table.Text("name", kStrings,
             [](const Part& part, auto row) { return part.rank->profiled.name[row]; });
  table.Text("kind", kProfiledKinds, [](const Part& part, auto row) {
    return static_cast<std::uint32_t>(part.rank->profiled.kind[row]);
  });
  table.Text("input_shapes", kStrings,
             [](const Part& part, auto row) { return part.rank->profiled.input_shapes[row]; });
  table.Int64(
      "sequence",
      [](const Part& part, auto row) { return KnownOrNull(part.rank->profiled.sequence[row]); },
      true);
  return table.Take();
}

ColumnTable DeviceSamplesTable(const Run& run) {
  TableBuilder table(
      run, PartsByDevice(run, [](const Device& device) { return AllRows(device.samples.size()); }));
  table.Int64("time_ns", [origin = table.origin()](const Part& part, auto row) {
    return part.device->samples.time[row] - origin;
  });
  AddProcess(table);
  table.Int32OfPart("device", [](const Part& part) { return part.device->ordinal; });
  const auto column = [&](const char* name, auto values) {
    table.Int64(
        name,
        [values](const Part& part, auto row) {
          return KnownOrNull((part.device->samples.*values)[row]);
        },
        true);
  };
  column("sm_clock_mhz", &DeviceSamples::sm_clock_mhz);
  column("memory_clock_mhz", &DeviceSamples::memory_clock_mhz);
  column("power_mw", &DeviceSamples::power_mw);
  column("temperature_c", &DeviceSamples::temperature_c);
  column("sm_utilization_percent", &DeviceSamples::sm_utilisation_pct);
  column("memory_utilization_percent", &DeviceSamples::memory_utilisation_pct);
  column("memory_used_bytes", &DeviceSamples::memory_used_bytes);
  return table.Take();
}

struct NamedTable {
  std::string_view name;
  ColumnTable (*build)(const Run& run);
  std::string_view rows =
      {};  // the table of a recording that they are in; empty: of GPU operations
};
constexpr NamedTable kTables[] = {
    {"kernels", Kernels},
    {"memcpys", Memcpys},
    {"memsets", Memsets},
    {"api_calls", ApiCallsTable, InfoOf(EventTable::kApi).name},
    {"nvtx_ranges", NvtxRangesTable, InfoOf(EventTable::kNvtx).name},
    {"collectives", CollectivesTable, InfoOf(EventTable::kCollective).name},
    {"data_waits", DataWaitsTable, InfoOf(EventTable::kDataWait).name},
    {"host_spans", HostSpansTable, InfoOf(EventTable::kHostSpan).name},
    {"profiler_ranges", ProfilerRangesTable, kProfilerRangeTable},
    {"device_samples", DeviceSamplesTable, InfoOf(EventTable::kDeviceSample).name},
};

}  // namespace

std::optional<ColumnTable> EventColumns(const Run& run, std::string_view table) {
  const auto* const found = std::find_if(std::begin(kTables), std::end(kTables),
                                         [&](const NamedTable& one) { return one.name == table; });
  if (found == std::end(kTables)) return std::nullopt;
  ColumnTable columns = found->build(run);
  columns.name = table;
  if (found->rows.empty()) return columns;
  for (Column& column : columns.columns) column.tables.push_back(found->rows);
  return columns;
}

EventTables TablesOf(const ColumnTable& table) {
  EventTables tables;
  for (const Column& column : table.columns)
    tables.insert(tables.end(), column.tables.begin(), column.tables.end());
  return tables;
}

std::string EventTableNames() {
  std::string names;
  for (const NamedTable& table : kTables)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", table.name);
  return names;
}

}  // namespace traceinject
