// SPDX-License-Identifier: Apache-2.0
// For tests: damages the records of a process as faulty recorders and clocks do, and compares the
// report with that of the whole.
#pragma once

#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analyzer/import/finish/finish_rank.h"
#include "analyzer/model/map_times.h"
#include "analyzer/model/sort_columns.h"
#include "schemas/report.pb.h"

namespace traceinject {

// What readers do once all records are there.
inline void ReadAgain(Rank& rank) {
  rank.trust = {};
  for (Device& device : rank.devices) device.ops.unrecorded.clear();
  FinishRank(rank);
}

// Rows of a table of which each is lost with this probability.
inline std::vector<std::uint32_t> Survivors(std::size_t rows, double lost,
                                            std::mt19937_64& random) {
  std::bernoulli_distribution is_lost(lost);
  std::vector<std::uint32_t> kept;
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (!is_lost(random)) kept.push_back(row);
  }
  return kept;
}

inline void LoseRecords(Rank& rank, double lost, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    ApplyOrder(Survivors(ops.size(), lost, random), ops.start, ops.end, ops.kind, ops.kernel_class,
               ops.stream, ops.detail, ops.correlation, ops.launch, ops.graph_node);
  }
  ApiCalls& api = rank.api;
  ApplyOrder(Survivors(api.size(), lost, random), api.start, api.end, api.thread, api.name,
             api.correlation, api.result);
  Syncs& syncs = rank.syncs;
  ApplyOrder(Survivors(syncs.size(), lost, random), syncs.start, syncs.end, syncs.thread,
             syncs.kind, syncs.event, syncs.stream);
  NvtxRanges& nvtx = rank.nvtx;
  ApplyOrder(Survivors(nvtx.size(), lost, random), nvtx.start, nvtx.end, nvtx.thread, nvtx.kind,
             nvtx.domain, nvtx.text, nvtx.category);
  Gemms& gemms = rank.gemms;
  ApplyOrder(Survivors(gemms.size(), lost, random), gemms.start, gemms.end, gemms.thread,
             gemms.shape);
}

// Exchanges the correlation ids of this share of the operations among each other.
inline void ShuffleIds(Rank& rank, double share, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution chosen(share);
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    std::vector<std::uint64_t> ids(ops.correlation.begin(), ops.correlation.end());
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < ids.size(); ++row) {
      if (chosen(random)) rows.push_back(row);
    }
    std::vector<std::size_t> from = rows;
    std::shuffle(from.begin(), from.end(), random);
    std::vector<std::uint64_t> shuffled = ids;
    for (std::size_t i = 0; i < rows.size(); ++i) shuffled[rows[i]] = ids[from[i]];
    ops.correlation = {};
    for (const std::uint64_t id : shuffled) ops.correlation.push_back(id);
  }
}

inline void CorruptDurations(Rank& rank, int count, TimeNs duration, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    if (ops.size() == 0) continue;
    for (int done = 0; done < count;) {
      const std::size_t row = random() % ops.size();
      if (ops.kind[row] != OpKind::kKernel || ops.end[row] - ops.start[row] > 20'000) continue;
      ops.end.Set(row, ops.start[row] + duration);
      ++done;
    }
  }
}

// Sets the clock by `by` at `at`. Records stand in the order in which they end, as in a file.
inline void SetClock(Rank& rank, TimeNs at, TimeNs by) {
  NvtxRanges& nvtx = rank.nvtx;
  ApplyOrder(SortedOrder(nvtx.end, nvtx.start), nvtx.start, nvtx.end, nvtx.thread, nvtx.kind,
             nvtx.domain, nvtx.text, nvtx.category);
  ApiCalls& api = rank.api;
  ApplyOrder(SortedOrder(api.end, api.start), api.start, api.end, api.thread, api.name,
             api.correlation, api.result);
  MapEventTimes(rank, [&](TimeNs time) { return time >= at ? time + by : time; });
  if (rank.end != kOpen && rank.end >= at) rank.end += by;
  // A reader takes a record that spans a step backwards for one of no length.
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    for (std::size_t row = 0; row < ops.size(); ++row)
      ops.end.Set(row, std::max(ops.end[row], ops.start[row]));
  }
  for (std::size_t row = 0; row < api.size(); ++row)
    api.end.Set(row, std::max(api.end[row], api.start[row]));
}

// All numbers of a message by where they stand. Rows of tables go by what they are about, not by
// their place.
class Numbers {
 public:
  explicit Numbers(const google::protobuf::Message& message) { Walk(message, ""); }
  const std::map<std::string, double>& values() const { return values_; }

 private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;

  static std::string NameOf(const Message& message) {
    std::string name;
    for (const char* part : {"label", "name", "cause", "function", "kind", "source_memory",
                             "communicator_size", "bucket_low_bytes", "m", "n", "k", "types"}) {
      const Field* field = message.GetDescriptor()->FindFieldByName(part);
      if (field == nullptr || field->is_repeated()) continue;
      const auto& reflection = *message.GetReflection();
      if (field->cpp_type() == Field::CPPTYPE_STRING)
        name += reflection.GetString(message, field) + ",";
      if (field->cpp_type() == Field::CPPTYPE_INT64)
        name += std::to_string(reflection.GetInt64(message, field)) + ",";
      if (field->cpp_type() == Field::CPPTYPE_INT32)
        name += std::to_string(reflection.GetInt32(message, field)) + ",";
    }
    return name;
  }
  void Walk(const Message& message, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    std::vector<const Field*> fields;
    reflection.ListFields(message, &fields);
    for (const Field* field : fields) {
      const std::string here = path + "." + field->name();
      if (field->is_repeated()) {
        if (field->cpp_type() != Field::CPPTYPE_MESSAGE) continue;
        for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
          const Message& row = reflection.GetRepeatedMessage(message, field, i);
          Walk(row, here + "[" + NameOf(row) + "]");
        }
        continue;
      }
      switch (field->cpp_type()) {
        case Field::CPPTYPE_MESSAGE:
          Walk(reflection.GetMessage(message, field), here);
          break;
        case Field::CPPTYPE_INT32:
          values_[here] = reflection.GetInt32(message, field);
          break;
        case Field::CPPTYPE_INT64:
          values_[here] = static_cast<double>(reflection.GetInt64(message, field));
          break;
        case Field::CPPTYPE_DOUBLE:
          values_[here] = reflection.GetDouble(message, field);
          break;
        default:
          break;
      }
    }
  }

  std::map<std::string, double> values_;
};

}  // namespace traceinject
