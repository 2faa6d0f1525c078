// SPDX-License-Identifier: Apache-2.0
#include "analyzer/convert/write_run_db.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "analyzer/import/source/trace_source.h"
#include "analyzer/merge/insert_rows.h"

namespace traceinject {
namespace {

constexpr std::int64_t kProcess = 1;  // process.proc: the file is of one

// Values of one row, in the order of the table's columns.
class RowValues {
 public:
  RowValues(Statement& statement, int first) : statement_(statement), next_(first) {}

  RowValues& operator<<(std::int64_t value) {
    statement_.Bind(next_++, value);
    return *this;
  }
  RowValues& operator<<(std::string_view text) {
    statement_.Bind(next_++, text);
    return *this;
  }
  template <typename T>
  RowValues& operator<<(const std::optional<T>& value) {
    return value ? *this << std::int64_t{*value} : Null();
  }
  RowValues& Null(int columns = 1) {
    for (int i = 0; i < columns; ++i) statement_.BindNull(next_++);
    return *this;
  }
  // NULL where there is none.
  RowValues& TextOrNull(std::string_view text) { return text.empty() ? Null() : *this << text; }
  // From 1 in the file, NULL where there is none.
  RowValues& Id(std::uint32_t index) {
    return index == kNone ? Null() : *this << std::int64_t{index} + 1;
  }
  // -1 is unknown in the model.
  RowValues& KnownOrNull(std::int64_t value) { return value < 0 ? Null() : *this << value; }
  RowValues& Length(TimeNs start, TimeNs end) {
    return end == kOpen ? Null() : *this << end - start;
  }

 private:
  Statement& statement_;
  int next_;
};

class Writer {
 public:
  Writer(const Rank& rank, const std::vector<std::string>& notes, const Database& to)
      : rank_(rank), notes_(notes), to_(to) {}

  Status Write() {
    using Part = Status (Writer::*)();
    constexpr std::array<Part, 31> kParts = {
        &Writer::WriteProcess,         &Writer::WriteDevices,     &Writer::WriteStrings,
        &Writer::WriteThreads,         &Writer::WriteStreams,     &Writer::WriteShapes,
        &Writer::WriteGraphNodes,      &Writer::WriteKernels,     &Writer::WriteMemcpys,
        &Writer::WriteMemsets,         &Writer::WriteApiNames,    &Writer::WriteApi,
        &Writer::WriteSyncs,           &Writer::WriteDomains,     &Writer::WriteNvtx,
        &Writer::WriteCommunicators,   &Writer::WriteCollectives, &Writer::WriteLoaders,
        &Writer::WriteDataWaits,       &Writer::WriteStepMarks,   &Writer::WriteMemoryOperations,
        &Writer::WritePlaces,          &Writer::WriteStacks,      &Writer::WriteStackSamples,
        &Writer::WriteProfiled,        &Writer::WriteGemmShapes,  &Writer::WriteGemms,
        &Writer::WriteAttentionShapes, &Writer::WriteAttentions,  &Writer::WriteFacts,
        &Writer::WriteImportFacts,
    };
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

 private:
  // Calls add(row, values) for every row of a table that gets so many.
  template <typename Add>
  Status Insert(std::string_view table, std::size_t columns, std::size_t rows, Add add) {
    if (rows == 0) return Done{};
    auto prepared = InsertRows::Into(to_, table, columns, static_cast<std::int64_t>(rows));
    if (!prepared.ok()) return Error{prepared.error()};
    InsertRows& insert = prepared.value();
    for (std::size_t row = 0; row < rows; ++row) {
      RowValues values(insert.statement(), insert.first());
      add(row, values);
      const Status added = insert.Add();
      if (!added.ok()) return added;
    }
    return Done{};
  }

  Status WriteProcess() {
    const ProcessFacts& process = rank_.process;
    return Insert("process", 25, 1, [&](std::size_t, RowValues& to) {
      to << kProcess << process.pid;
      to.Null() << process.host << rank_.rank << process.local_rank << process.world_size
                << process.local_world_size << rank_.run_id << process.restart << rank_.start;
      rank_.end == kOpen ? to.Null() : to << rank_.end;
      to.TextOrNull(process.executable).TextOrNull(process.command_line).Null();
      to.TextOrNull(process.launcher)
          << process.driver_version << process.runtime_version << process.cupti_version;
      to.TextOrNull(process.cupti_path) << process.nccl_version;
      to.Null(4);
    });
  }

  Status WriteDevices() {
    return Insert("device", 13, rank_.devices.size(), [&](std::size_t row, RowValues& to) {
      const Device& device = rank_.devices[row];
      to << kProcess << std::int64_t{device.ordinal} << device.name;
      to.TextOrNull(device.uuid).TextOrNull(device.pci_bus_id);
      to << device.sm_count << device.cc_major << device.cc_minor << device.sm_clock_khz
         << device.memory_clock_khz << device.memory_bus_bits << device.memory_bytes
         << device.l2_bytes;
    });
  }

  // Names of threads stand behind the texts of the model.
  Status WriteStrings() {
    for (const Thread& thread : rank_.threads) {
      thread_names_.push_back(thread.name.empty() ? kNone
                                                  : static_cast<std::uint32_t>(
                                                        rank_.strings.size() + named_threads_++));
    }
    std::size_t named = 0;
    return Insert("string", 2, rank_.strings.size() + named_threads_,
                  [&](std::size_t row, RowValues& to) {
                    to << static_cast<std::int64_t>(row) + 1;
                    if (row < rank_.strings.size()) {
                      to << std::string_view(rank_.strings[row]);
                      return;
                    }
                    while (rank_.threads[named].name.empty()) ++named;
                    to << std::string_view(rank_.threads[named++].name);
                  });
  }

  Status WriteThreads() {
    return Insert("thread", 4, rank_.threads.size(), [&](std::size_t row, RowValues& to) {
      to << static_cast<std::int64_t>(row) + 1 << kProcess << rank_.threads[row].tid;
      to.Id(thread_names_[row]);
    });
  }

  Status WriteStreams() {
    return Insert("stream", 8, rank_.streams.size(), [&](std::size_t row, RowValues& to) {
      const Stream& stream = rank_.streams[row];
      to << static_cast<std::int64_t>(row) + 1 << kProcess << std::int64_t{stream.device}
         << std::int64_t{stream.context} << std::int64_t{stream.stream_id} << stream.priority;
      to.Null().Id(stream.name);
    });
  }

  Status WriteShapes() {
    return Insert("kernel_shape", 15, rank_.shapes.size(), [&](std::size_t row, RowValues& to) {
      const KernelShape& shape = rank_.shapes[row];
      to << static_cast<std::int64_t>(row) + 1;
      // 0 is no id: the kernel stays without a name.
      to << (shape.name == kNone ? 0 : std::int64_t{shape.name} + 1);
      for (const std::int32_t blocks : shape.grid) to << std::int64_t{blocks};
      for (const std::int32_t threads : shape.block) to << std::int64_t{threads};
      for (const std::int32_t blocks : shape.cluster)
        shape.cluster[0] == 0 ? to.Null() : to << std::int64_t{blocks};
      to << std::int64_t{shape.registers} << shape.static_shared_bytes << shape.dynamic_shared_bytes
         << shape.local_bytes;
    });
  }

  Status WriteGraphNodes() {
    return Insert("graph_node", 3, rank_.graph_nodes.size(), [&](std::size_t row, RowValues& to) {
      const GraphNode& node = rank_.graph_nodes[row];
      to << static_cast<std::int64_t>(row) + 1 << std::int64_t{node.graph_id}
         << static_cast<std::int64_t>(node.node_id);
    });
  }

  // The operations of one kind, of all devices.
  template <typename Add>
  Status InsertOperations(std::string_view table, std::size_t columns, OpKind kind, Add add) {
    std::size_t rows = 0;
    for (const Device& device : rank_.devices) {
      for (const OpKind each : device.ops.kind) rows += each == kind ? 1 : 0;
    }
    auto device = rank_.devices.begin();
    std::size_t next = 0;
    return Insert(table, columns, rows, [&](std::size_t, RowValues& to) {
      for (; next == device->ops.size() || device->ops.kind[next] != kind; ++next) {
        if (next < device->ops.size()) continue;
        ++device;
        next = std::numeric_limits<std::size_t>::max();
      }
      add(device->ops, next++, to);
    });
  }

  // start, dur and stream of an operation.
  static void Begin(const GpuOps& ops, std::size_t row, RowValues& to) {
    to << ops.start[row] << ops.end[row] - ops.start[row];
    to.Id(ops.stream[row]);
  }
  static RowValues& Origin(const GpuOps& ops, std::size_t row, RowValues& to) {
    to << static_cast<std::int64_t>(ops.correlation[row]);
    return to.Id(ops.graph_node[row]);
  }

  Status WriteKernels() {
    return InsertOperations("kernel", 6, OpKind::kKernel,
                            [](const GpuOps& ops, std::size_t row, RowValues& to) {
                              Begin(ops, row, to);
                              to.Id(ops.detail[row]);
                              Origin(ops, row, to);
                            });
  }

  Status WriteMemcpys() {
    return InsertOperations(
        "memcpy", 12, OpKind::kMemcpy, [&](const GpuOps& ops, std::size_t row, RowValues& to) {
          const Transfer& transfer = rank_.transfers[ops.detail[row]];
          Begin(ops, row, to);
          to << std::int64_t{transfer.kind} << std::int64_t{transfer.src_kind}
             << std::int64_t{transfer.dst_kind} << std::int64_t{transfer.async} << transfer.bytes;
          Origin(ops, row, to).KnownOrNull(transfer.src_device).KnownOrNull(transfer.dst_device);
        });
  }

  // Traces do not report what was stored.
  Status WriteMemsets() {
    return InsertOperations(
        "memset", 8, OpKind::kMemset, [&](const GpuOps& ops, std::size_t row, RowValues& to) {
          const Transfer& transfer = rank_.transfers[ops.detail[row]];
          Begin(ops, row, to);
          to << std::int64_t{0} << std::int64_t{transfer.dst_kind} << transfer.bytes;
          Origin(ops, row, to);
        });
  }

  // Traces name calls and do not number them.
  Status WriteApiNames() {
    return Insert("api_name", 5, rank_.api_names.size(), [&](std::size_t row, RowValues& to) {
      const ApiName& name = rank_.api_names[row];
      to << static_cast<std::int64_t>(row) + 1 << static_cast<std::int64_t>(name.domain)
         << std::int64_t{0} << std::string_view(name.name)
         << static_cast<std::int64_t>(name.api_class);
    });
  }

  Status WriteApi() {
    const ApiCalls& api = rank_.api;
    return Insert("api", 6, api.size(), [&](std::size_t row, RowValues& to) {
      to << api.start[row] << api.end[row] - api.start[row];
      to.Id(api.thread[row]).Id(api.name[row])
          << static_cast<std::int64_t>(api.correlation[row]) << std::int64_t{api.result[row]};
    });
  }

  Status WriteSyncs() {
    const Syncs& syncs = rank_.syncs;
    return Insert("sync", 6, syncs.size(), [&](std::size_t row, RowValues& to) {
      to << syncs.start[row] << syncs.end[row] - syncs.start[row];
      to.Id(syncs.thread[row]) << static_cast<std::int64_t>(syncs.kind[row]);
      syncs.event[row] == kNone ? to.Null() : to << std::int64_t{syncs.event[row]};
      to.Id(syncs.stream[row]);
    });
  }

  Status WriteDomains() {
    return Insert("nvtx_domain", 3, rank_.nvtx_domains.size(), [&](std::size_t row, RowValues& to) {
      to << static_cast<std::int64_t>(row) + 1 << kProcess
         << std::string_view(rank_.nvtx_domains[row]);
    });
  }

  Status WriteNvtx() {
    const NvtxRanges& nvtx = rank_.nvtx;
    return Insert("nvtx", 9, nvtx.size(), [&](std::size_t row, RowValues& to) {
      to << nvtx.start[row];
      to.Length(nvtx.start[row], nvtx.end[row]).Id(nvtx.thread[row])
          << static_cast<std::int64_t>(nvtx.kind[row]);
      to.Id(nvtx.domain[row]).Id(nvtx.text[row]);
      nvtx.category[row] == kNone ? to.Null() : to << std::int64_t{nvtx.category[row]};
      to.Null(2);
    });
  }

  Status WriteCommunicators() {
    return Insert(
        "communicator", 10, rank_.communicators.size(), [&](std::size_t row, RowValues& to) {
          const Communicator& communicator = rank_.communicators[row];
          to << static_cast<std::int64_t>(row) + 1 << kProcess
             << static_cast<std::int64_t>(communicator.hash);
          communicator.created == std::numeric_limits<TimeNs>::min() ? to.Null()
                                                                     : to << communicator.created;
          to << communicator.size << communicator.rank << communicator.device;
          to.Null() << communicator.nodes;
          to.TextOrNull(communicator.name);
        });
  }

  Status WriteCollectives() {
    const Collectives& calls = rank_.collectives;
    return Insert("collective", 10, calls.size(), [&](std::size_t row, RowValues& to) {
      to << static_cast<std::int64_t>(row) + 1 << calls.start[row];
      to.Length(calls.start[row], calls.end[row]).Id(calls.thread[row]).Id(calls.function[row]);
      to.Id(calls.communicator[row]) << calls.bytes[row];
      to.KnownOrNull(calls.reduction[row])
          .KnownOrNull(calls.peer[row])
          .KnownOrNull(calls.root[row]);
    });
  }

  Status WriteLoaders() {
    return Insert("data_loader", 7, rank_.loaders.size(), [&](std::size_t row, RowValues& to) {
      const DataLoader& loader = rank_.loaders[row];
      to << static_cast<std::int64_t>(row) + 1 << kProcess << std::int64_t{loader.workers}
         << std::int64_t{loader.pin_memory} << std::int64_t{loader.persistent_workers}
         << loader.prefetch_factor << loader.batch_size;
    });
  }

  Status WriteDataWaits() {
    const DataWaits& waits = rank_.data_waits;
    return Insert("data_wait", 6, waits.size(), [&](std::size_t row, RowValues& to) {
      to << waits.start[row] << waits.end[row] - waits.start[row];
      to.Id(waits.thread[row]).Id(waits.loader[row]);
      to.KnownOrNull(waits.batch[row]).KnownOrNull(waits.samples[row]);
    });
  }

  Status WriteStepMarks() {
    const StepMarks& marks = rank_.step_marks;
    return Insert("step_mark", 3, marks.size(), [&](std::size_t row, RowValues& to) {
      to << marks.time[row];
      to.Id(marks.thread[row]) << std::int64_t{marks.optimizer[row]};
    });
  }

  Status WriteMemoryOperations() {
    const MemoryOperations& memory = rank_.memory;
    return Insert("memory_operation", 10, memory.size(), [&](std::size_t row, RowValues& to) {
      to << memory.time[row] << kProcess << std::int64_t{memory.device[row]}
         << std::int64_t{memory.release[row] ? 2 : 1} << std::int64_t{memory.memory_kind[row]}
         << memory.bytes[row] << static_cast<std::int64_t>(memory.address[row]);
      to.Null() << std::int64_t{0} << static_cast<std::int64_t>(memory.correlation[row]);
    });
  }

  Status WritePlaces() {
    return Insert("code_place", 5, rank_.places.size(), [&](std::size_t row, RowValues& to) {
      const CodePlace& place = rank_.places[row];
      to << static_cast<std::int64_t>(row) + 1;
      to.Id(place.function).Id(place.file) << std::int64_t{place.line};
      place.first_line > 0 ? to << std::int64_t{place.first_line} : to.Null();
    });
  }

  Status WriteStacks() {
    return Insert("stack", 4, rank_.stacks.size(), [&](std::size_t row, RowValues& to) {
      to << static_cast<std::int64_t>(row) + 1;
      to.Id(rank_.stacks[row].caller).Id(rank_.stacks[row].place).Id(rank_.stacks[row].module);
    });
  }

  Status WriteStackSamples() {
    const StackSamples& samples = rank_.stack_samples;
    return Insert("stack_sample", 7, samples.size(), [&](std::size_t row, RowValues& to) {
      to << samples.time[row];
      to.Id(samples.thread[row]).Id(samples.stack[row])
          << static_cast<std::int64_t>(samples.kind[row]);
      samples.correlation[row] == 0 ? to.Null()
                                    : to << static_cast<std::int64_t>(samples.correlation[row]);
      // A look that stands for itself alone.
      to.Null(2);
    });
  }

  Status WriteProfiled() {
    const ProfiledRanges& ranges = rank_.profiled;
    return Insert("profiler_range", 8, ranges.size(), [&](std::size_t row, RowValues& to) {
      to << ranges.start[row] << ranges.end[row] - ranges.start[row];
      to.Id(ranges.thread[row]) << static_cast<std::int64_t>(ranges.kind[row]);
      to.Id(ranges.name[row]).Id(ranges.input_shapes[row]);
      ranges.sequence[row] < 0 ? to.Null() : to << ranges.sequence[row];
      const std::int32_t forward = ranges.forward_thread[row];
      forward > 0 ? to << std::int64_t{forward} : to.Null();
    });
  }

  Status WriteGemmShapes() {
    return Insert("gemm_shape", 13, rank_.gemm_shapes.size(), [&](std::size_t row, RowValues& to) {
      const GemmShape& shape = rank_.gemm_shapes[row];
      to << static_cast<std::int64_t>(row) + 1;
      to.Id(shape.function) << shape.m << shape.n << shape.k << shape.batch
                            << std::int64_t{shape.trans_a} << std::int64_t{shape.trans_b};
      to.KnownOrNull(shape.type_a).KnownOrNull(shape.type_b).KnownOrNull(shape.type_c);
      to.KnownOrNull(shape.compute_type).KnownOrNull(shape.least_bytes);
    });
  }

  Status WriteGemms() {
    const Gemms& gemms = rank_.gemms;
    return Insert("gemm", 4, gemms.size(), [&](std::size_t row, RowValues& to) {
      to << gemms.start[row] << gemms.end[row] - gemms.start[row];
      to.Id(gemms.thread[row]).Id(gemms.shape[row]);
    });
  }

  Status WriteAttentionShapes() {
    const auto& shapes = rank_.attention_shapes;
    return Insert("attention_shape", 11, shapes.size(), [&](std::size_t row, RowValues& to) {
      const AttentionShape& shape = shapes[row];
      to << static_cast<std::int64_t>(row) + 1 << std::int64_t{shape.library};
      for (const std::int64_t size : {shape.batch, shape.heads, shape.kv_heads, shape.query_length,
                                      shape.key_length, shape.head_size, shape.value_head_size})
        to.KnownOrNull(size);
      to.KnownOrNull(shape.type).KnownOrNull(shape.causal);
    });
  }

  Status WriteAttentions() {
    const Attentions& calls = rank_.attentions;
    return Insert("attention", 6, calls.size(), [&](std::size_t row, RowValues& to) {
      to << calls.start[row];
      to.Length(calls.start[row], calls.end[row]).Id(calls.thread[row]).Id(calls.shape[row])
          << std::int64_t{calls.backward[row] != 0 ? 2 : 1};
      to.KnownOrNull(calls.gradient[row]);
    });
  }

  Status WriteFacts() {
    return Insert("system_fact", 5, rank_.facts.size(), [&](std::size_t row, RowValues& to) {
      const SystemFact& fact = rank_.facts[row];
      to << kProcess << std::string_view(fact.kind) << std::string_view(fact.key);
      fact.reason.empty() ? to << std::string_view(fact.value) : to.Null();
      to.TextOrNull(fact.reason);
    });
  }

  Status WriteImportFacts() {
    const TraceSource source = FindTraceSource(&TraceSource::what, rank_.imported_from);
    return Insert("system_fact", 5, notes_.size() + 1, [&](std::size_t row, RowValues& to) {
      to << kProcess << kImportFact;
      row == 0 ? to << kSourceKey << source.word
               : to << std::string_view(fmt::format("{}{:04}", kNotePrefix, row))
                    << std::string_view(notes_[row - 1]);
      to.Null();
    });
  }

  const Rank& rank_;
  const std::vector<std::string>& notes_;
  const Database& to_;
  std::vector<std::uint32_t> thread_names_;  // by thread: index of its text in the file; kNone
  std::size_t named_threads_ = 0;
};

}  // namespace

Status WriteRunDb(const Rank& rank, const std::vector<std::string>& notes, const Database& to) {
  return Writer(rank, notes, to).Write();
}

}  // namespace traceinject
