// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/run_db_samples.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "schemas/counter_codec.h"
#include "schemas/counters.h"

namespace traceinject {
namespace {

// -1 is unknown, here as in the model.
std::int64_t Figure(const SqlRow& row, int column) {
  return row.optional_int64(column).value_or(-1);
}

class SampleReader {
 public:
  SampleReader(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file)
      : rows_(rows), dictionaries_(dictionaries), file_(file) {}

  Status Read() {
    if (dictionaries_.schema_version < InfoOf(EventTable::kDeviceSample).since) return Done{};
    using Part = Status (SampleReader::*)();
    constexpr std::array<Part, 7> kParts = {
        &SampleReader::ReadDevices, &SampleReader::ReadDevicesSlow, &SampleReader::ReadAllocator,
        &SampleReader::ReadThreads, &SampleReader::ReadWorkers,     &SampleReader::ReadStacks,
        &SampleReader::ReadCounters};
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

 private:
  // Of the columns time, proc, device in front of a row; null if it has to be left out.
  Device* DeviceOf(EventTable table, const SqlRow& row) {
    const std::uint32_t process = dictionaries_.processes.Find(row.int64(1));
    TimeNs end = 0;
    if (!rows_.Times(table, row.int64(0), 0, end)) return nullptr;
    if (process != kNone) {
      for (Device& device : file_.ranks[process].devices) {
        if (device.ordinal == row.int64(2)) return &device;
      }
    }
    rows_.Count(table, RowProblem::kNoProcess);
    return nullptr;
  }

  Status ReadDevices() {
    return rows_.ForEachRow(
        ColumnsOf(
            EventTable::kDeviceSample,
            "time, proc, device, sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c, "
            "throttle_reasons, sm_utilisation_pct, memory_utilisation_pct, memory_used_bytes"),
        [&](const SqlRow& row) {
          Device* device = DeviceOf(EventTable::kDeviceSample, row);
          if (device == nullptr) return;
          DeviceSamples& samples = device->samples;
          samples.time.push_back(row.int64(0));
          int column = 3;
          for (auto* figures : {&samples.sm_clock_mhz, &samples.memory_clock_mhz, &samples.power_mw,
                                &samples.temperature_c, &samples.throttle_reasons,
                                &samples.sm_utilisation_pct, &samples.memory_utilisation_pct}) {
            figures->push_back(Narrow(Figure(row, column++)));
          }
          samples.memory_used_bytes.push_back(Figure(row, column));
        });
  }

  Status ReadDevicesSlow() {
    return rows_.ForEachRow(
        ColumnsOf(
            EventTable::kDeviceSlowSample,
            "time, proc, device, pcie_generation, pcie_width, pcie_tx_bytes_s, pcie_rx_bytes_s, "
            "pcie_replays, nvlink_tx_bytes, nvlink_rx_bytes, nvlink_replays, nvlink_recoveries, "
            "nvlink_crc_errors, ecc_corrected, ecc_uncorrected"),
        [&](const SqlRow& row) {
          Device* device = DeviceOf(EventTable::kDeviceSlowSample, row);
          if (device == nullptr) return;
          DeviceSlowSamples& samples = device->slow_samples;
          samples.time.push_back(row.int64(0));
          samples.pcie_generation.push_back(Narrow(Figure(row, 3)));
          samples.pcie_width.push_back(Narrow(Figure(row, 4)));
          int column = 5;
          for (auto* figures :
               {&samples.pcie_tx_bytes_s, &samples.pcie_rx_bytes_s, &samples.pcie_replays,
                &samples.nvlink_tx_bytes, &samples.nvlink_rx_bytes, &samples.nvlink_replays,
                &samples.nvlink_recoveries, &samples.nvlink_crc_errors, &samples.ecc_corrected,
                &samples.ecc_uncorrected}) {
            figures->push_back(Figure(row, column++));
          }
        });
  }

  Status ReadAllocator() {
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kAllocatorSample,
                  "time, proc, device, allocated_bytes, reserved_bytes, active_bytes, "
                  "peak_allocated_bytes, "
                  "peak_reserved_bytes, retries, ooms"),
        [&](const SqlRow& row) {
          Device* device = DeviceOf(EventTable::kAllocatorSample, row);
          if (device == nullptr) return;
          AllocatorSamples& samples = device->allocator;
          samples.time.push_back(row.int64(0));
          int column = 3;
          for (auto* figures : {&samples.allocated_bytes, &samples.reserved_bytes,
                                &samples.active_bytes, &samples.peak_allocated_bytes,
                                &samples.peak_reserved_bytes, &samples.retries, &samples.ooms}) {
            figures->push_back(Figure(row, column++));
          }
        });
  }

  Status ReadThreads() {
    return rows_.ForEachRow(
        ColumnsOf(
            EventTable::kHostSample,
            "time, thread, cpu_ns, runqueue_ns, minor_faults, major_faults, voluntary_switches, "
            "involuntary_switches"),
        [&](const SqlRow& row) {
          const Place* thread = dictionaries_.threads.Find(row.int64(1));
          if (thread == nullptr) return rows_.Count(EventTable::kHostSample, RowProblem::kNoThread);
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kHostSample, row.int64(0), 0, end)) return;
          HostSamples& samples = file_.ranks[thread->rank].host_samples;
          samples.time.push_back(row.int64(0));
          samples.thread.push_back(thread->index);
          int column = 2;
          for (auto* figures :
               {&samples.cpu_ns, &samples.runqueue_ns, &samples.minor_faults, &samples.major_faults,
                &samples.voluntary_switches, &samples.involuntary_switches}) {
            figures->push_back(Figure(row, column++));
          }
        });
  }

  Status ReadWorkers() {
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kWorkerSample,
                  "time, worker, cpu_ns, read_bytes, states, states_disk"),
        [&](const SqlRow& row) {
          const Place* worker = dictionaries_.workers.Find(row.int64(1));
          if (worker == nullptr)
            return rows_.Count(EventTable::kWorkerSample, RowProblem::kNoWorker);
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kWorkerSample, row.int64(0), 0, end)) return;
          WorkerSamples& samples = file_.ranks[worker->rank].worker_samples;
          samples.time.push_back(row.int64(0));
          samples.worker.push_back(worker->index);
          samples.cpu_ns.push_back(Figure(row, 2));
          samples.read_bytes.push_back(Figure(row, 3));
          samples.states.push_back(Narrow(row.int64(4)));
          samples.states_disk.push_back(std::clamp(Narrow(row.int64(5)), 0, samples.states.back()));
        });
  }

  Status ReadStacks() {
    constexpr EventTable kTable = EventTable::kStackSample;
    if (dictionaries_.schema_version < InfoOf(kTable).since) return Done{};
    return rows_.ForEachRow(
        ColumnsOf(kTable, "time, thread, stack, kind, correlation, repeats, span"),
        [&](const SqlRow& row) {
          const Place* thread = dictionaries_.threads.Find(row.int64(1));
          if (thread == nullptr) return rows_.Count(kTable, RowProblem::kNoThread);
          const std::int64_t kind = row.int64(3);
          if (kind < static_cast<int>(StackKind::kTimed) ||
              kind > static_cast<int>(StackKind::kStall))
            return rows_.Count(kTable, RowProblem::kUnknownKind);
          TimeNs end = 0;
          TimeNs span = std::max<TimeNs>(0, row.int64(6));
          if (!rows_.Times(kTable, row.int64(0), span, end)) return;
          const std::uint32_t stack =
              row.is_null(2) ? kNone : dictionaries_.stack_ids.Find(row.int64(2));
          if (!row.is_null(2) && stack == kNone) return rows_.Count(kTable, RowProblem::kNoStack);
          StackSamples& samples = file_.ranks[thread->rank].stack_samples;
          samples.time.push_back(row.int64(0));
          samples.thread.push_back(thread->index);
          samples.stack.push_back(stack);
          samples.kind.push_back(static_cast<StackKind>(kind));
          samples.correlation.push_back(static_cast<std::uint64_t>(row.int64(4)));
          samples.repeats.push_back(static_cast<std::uint32_t>(row.int64(5)));
          samples.span.push_back(end - row.int64(0));
        });
  }

  // A row of counter_set, with which of our counters its values are; of a later version's: nothing.
  struct CounterSet {
    std::uint32_t process = kNone;
    CounterSource source = CounterSource::kUnknown;
    TimeNs period_ns = 0;
    std::vector<std::optional<CounterId>> counters;
  };

  Status ReadCounters() {
    constexpr EventTable kTable = EventTable::kCounterSample;
    if (dictionaries_.schema_version < InfoOf(kTable).since) return Done{};
    std::map<std::int64_t, CounterSet> sets;
    const Status read = ReadCounterSets(sets);
    if (!read.ok()) return read;
    return rows_.ForEachRow(
        ColumnsOf(kTable,
                  "start, dur, proc, device, counter_set, samples, gpu_time, lead, lag, data"),
        [&](const SqlRow& row) {
          const auto set = sets.find(row.int64(4));
          const std::uint32_t process = dictionaries_.processes.Find(row.int64(2));
          if (set == sets.end() || set->second.process != process)
            return rows_.Count(kTable, RowProblem::kNoCounterSet);
          TimeNs end = 0;
          if (!rows_.Times(kTable, row.int64(0), row.int64(1), end)) return;
          for (Device& device : file_.ranks[process].devices) {
            if (device.ordinal == row.int64(3)) return AddCounters(row, set->second, device);
          }
          rows_.Count(kTable, RowProblem::kNoDevice);
        });
  }

  Status ReadCounterSets(std::map<std::int64_t, CounterSet>& sets) {
    const Status read =
        rows_.ForEachRow("counter_set", "id, proc, source, period_ns", [&](const SqlRow& row) {
          const std::uint32_t process = dictionaries_.processes.Find(row.int64(1));
          if (process == kNone) return rows_.Count("counter_set", RowProblem::kNoProcess);
          CounterSet& set = sets[row.int64(0)];
          set.process = process;
          set.source = row.text(2) == kPmSamplingSource ? CounterSource::kPmSampling
                       : row.text(2) == kGpmSource      ? CounterSource::kGpm
                                                        : CounterSource::kUnknown;
          set.period_ns = std::clamp<TimeNs>(row.int64(3), 1, kFarthestNs);
        });
    if (!read.ok()) return read;
    return rows_.ForEachRow(
        "counter", "counter_set, position, name",
        [&](const SqlRow& row) {
          const auto set = sets.find(row.int64(0));
          if (set == sets.end()) return rows_.Count("counter", RowProblem::kNoCounterSet);
          // Positions count up from 0.
          if (row.int64(1) == static_cast<std::int64_t>(set->second.counters.size()))
            set->second.counters.push_back(FindCounter(row.text(2)));
        },
        "ORDER BY counter_set, position");
  }

  // Where the values of the set go; columns that are new are unknown so far.
  static std::vector<CounterColumn*> ColumnsFor(const CounterSet& set, CounterSamples& to) {
    for (const std::optional<CounterId>& id : set.counters) {
      if (!id || to.Find(*id) != nullptr) continue;
      const auto place = std::find_if(to.columns.begin(), to.columns.end(),
                                      [&](const CounterColumn& one) { return one.id > *id; });
      CounterColumn& column = *to.columns.insert(place, {*id, {}});
      for (std::size_t i = 0; i < to.size(); ++i) column.value.push_back(-1);
    }
    std::vector<CounterColumn*> columns(set.counters.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (CounterColumn& column : to.columns) {
        if (set.counters[i] == column.id) columns[i] = &column;
      }
    }
    return columns;
  }

  void AddCounters(const SqlRow& row, const CounterSet& set, Device& device) {
    CounterSamples& to = device.counters;
    const std::vector<CounterColumn*> columns = ColumnsFor(set, to);
    // The GPU's clock may count from 1970.
    constexpr std::int64_t kFarthestGpuTime = std::int64_t{1} << 62;
    const bool has_gpu_time =
        !row.is_null(6) && row.int64(6) >= 0 && row.int64(6) <= kFarthestGpuTime;
    const std::size_t first = to.size();
    to.source = set.source;
    to.period_ns = to.period_ns == 0 ? set.period_ns : std::min(to.period_ns, set.period_ns);
    CounterDecoder decoder(row.blob(9), row.int64(0), set.period_ns, set.counters.size());
    std::int64_t left = row.int64(5);
    for (; left > 0 && decoder.Next(); --left) {
      to.start.push_back(decoder.start());
      to.end.push_back(decoder.end());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] != nullptr && columns[i]->value.size() < to.size())
          columns[i]->value.push_back(Narrow(std::max<std::int64_t>(-1, decoder.values()[i])));
      }
      for (CounterColumn& column : to.columns) {
        if (column.value.size() < to.size()) column.value.push_back(-1);
      }
    }
    if (left != 0 || !decoder.AtEnd())
      rows_.Count(EventTable::kCounterSample, RowProblem::kUnreadable);
    const bool has_samples = to.size() > first;
    if (has_samples && has_gpu_time && IsPlausible(row.int64(7)) && IsPlausible(row.int64(8))) {
      to.runs.push_back({.first = static_cast<std::uint32_t>(first),
                         .gpu_time = row.int64(6),
                         .lead = row.is_null(7) ? std::nullopt : std::optional(row.int64(7)),
                         .lag = row.int64(8)});
    }
  }

  RunDbRows& rows_;
  const RunDbDictionaries& dictionaries_;
  RecordedFile& file_;
};

}  // namespace

Status ReadRunDbSamples(RunDbRows& rows, const RunDbDictionaries& dictionaries,
                        RecordedFile& file) {
  return SampleReader(rows, dictionaries, file).Read();
}

}  // namespace traceinject
