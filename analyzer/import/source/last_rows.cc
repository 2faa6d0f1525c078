// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/last_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {
namespace {

constexpr std::string_view kEnd = "start + ifnull(dur, 0)", kTime = "time";

struct EventTable {
  std::string_view name;
  std::string_view end;  // what says when a row's event was over, and so about when it was stored
  bool tells_the_end;    // of the recording: written within a second or two
};
constexpr EventTable kEventTables[] = {
    {"kernel", kEnd, true},
    {"memcpy", kEnd, true},
    {"memset", kEnd, true},
    {"api", kEnd, true},
    {"sync", kEnd, false},
    {"nvtx", kEnd, false},
    {"collective", kEnd, false},
    {"collective_plan", kTime, false},
    {"gemm", kEnd, false},
    {"attention", kEnd, false},
    {"memory_operation", kTime, false},
    {"data_wait", kEnd, false},
    {"step_mark", kTime, false},
    {"host_span", kEnd, false},
    {"device_sample", kTime, false},
    {"device_slow_sample", kTime, false},
    {"allocator_sample", kTime, false},
    {"host_sample", kTime, false},
    {"worker_sample", kTime, false},
    {"stack_sample", kTime, false},
};

// Buffers of CUPTI come out of order, by a flush or two.
constexpr TimeNs kOutOfOrder_ns = 3'000'000'000;
// Rows that are looked at together: some may be open, or of a buffer that came late.
constexpr int kRowsALook = 256;

class Finder {
 public:
  explicit Finder(const Database& recording) : recording_(recording) {}

  // The only column of the only row; empty: NULL.
  Result<std::optional<std::int64_t>> Ask(const std::string& sql) const {
    auto asked = recording_.Prepare(sql);
    if (!asked.ok()) return Error{asked.error()};
    const auto row = asked.value().Step();
    if (!row.ok()) return Error{row.error()};
    return asked.value().optional_int64(0);
  }

  Result<bool> IsStored(const EventTable& table) const {
    const auto stored = Ask(fmt::format(
        "SELECT count(*) FROM sqlite_schema WHERE name = '{}' AND type = 'table' AND sql NOT LIKE "
        "'CREATE VIRTUAL%'",
        table.name));
    if (!stored.ok()) return Error{stored.error()};
    return stored.value() == 1;
  }

  // The latest time of the last rows.
  Result<std::optional<std::int64_t>> Newest(const EventTable& table) const {
    return Ask(fmt::format(
        "SELECT max(ended) FROM (SELECT {1} AS ended FROM {0} ORDER BY rowid DESC LIMIT {2})",
        table.name, table.end, kRowsALook));
  }

  // Empty: the table has no rows.
  Result<std::optional<LastRows::Part>> PartFrom(const EventTable& table, TimeNs from) const {
    const auto least = Ask(fmt::format("SELECT min(rowid) FROM {}", table.name));
    const auto most = Ask(fmt::format("SELECT max(rowid) FROM {}", table.name));
    if (!least.ok()) return Error{least.error()};
    if (!most.ok()) return Error{most.error()};
    if (!least.value() || !most.value()) return std::optional<LastRows::Part>();
    std::int64_t low = *least.value(), high = *most.value();
    while (low < high) {
      const std::int64_t middle = std::midpoint(low, high);
      const auto latest =
          Ask(fmt::format("SELECT max(ended) FROM (SELECT {1} AS ended FROM {0} WHERE rowid >= {2} "
                          "ORDER BY rowid LIMIT {3})",
                          table.name, table.end, middle, kRowsALook));
      if (!latest.ok()) return Error{latest.error()};
      if (latest.value() && *latest.value() < from - kOutOfOrder_ns) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const auto rows = static_cast<std::uint64_t>(*most.value()) - static_cast<std::uint64_t>(low);
    return std::optional(LastRows::Part{low, rows + 1});
  }

 private:
  const Database& recording_;
};

}  // namespace

Result<std::optional<LastRows>> FindLastRows(const Database& recording, TimeNs last_ns) {
  const Finder finder(recording);
  std::optional<std::int64_t> newest;
  for (const EventTable& table : kEventTables) {
    if (!table.tells_the_end) continue;
    const auto time = finder.Newest(table);
    if (!time.ok()) return Error{time.error()};
    if (time.value() && IsPlausible(*time.value()))
      newest = std::max(*time.value(), newest.value_or(std::numeric_limits<TimeNs>::min()));
  }
  if (!newest) return std::optional<LastRows>();
  LastRows last;
  last.from = *newest - std::clamp<TimeNs>(last_ns, 0, kFarthestNs);
  for (const EventTable& table : kEventTables) {
    // Older versions have fewer tables.
    const auto stored = finder.IsStored(table);
    if (!stored.ok()) return Error{stored.error()};
    if (!stored.value()) continue;
    const auto part = finder.PartFrom(table, last.from);
    if (!part.ok()) return Error{part.error()};
    if (part.value()) last.part.emplace(table.name, *part.value());
  }
  return std::optional(std::move(last));
}

}  // namespace traceinject
