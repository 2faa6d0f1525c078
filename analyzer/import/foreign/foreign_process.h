// SPDX-License-Identifier: Apache-2.0
// One process of another profiler's SQLite file on its way into columns.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/import/source/id_map.h"
#include "analyzer/model/run.h"

namespace traceinject {

// The texts of a file, which serve all its processes.
struct ForeignStrings {
  std::vector<std::string> texts;
  IdMap ids;
  // Null: there is no such row.
  const std::string* Find(std::int64_t id) const {
    const std::uint32_t index = ids.Find(id);
    return index == kNone ? nullptr : &texts[index];
  }
};

struct ForeignOperation {
  TimeNs start = 0, end = 0;
  std::int64_t device = 0, context = 0, stream = 0;
  std::uint64_t correlation = 0;
  std::uint64_t graph_node = 0;  // 0: launched by itself
  std::uint32_t graph = 0;
};

// Dictionaries fill themselves: entries get their index when they are first met.
class ForeignProcess {
 public:
  explicit ForeignProcess(const ForeignStrings& strings) : strings_(&strings) {}

  Rank& rank() { return rank_; }

  // False: no such device or stream.
  bool AddKernel(const ForeignOperation& operation, KernelShape shape, std::int64_t name_id);
  // Of a text that is not in the file.
  bool AddKernel(const ForeignOperation& operation, std::string_view name);
  bool AddTransfer(const ForeignOperation& operation, OpKind kind, const Transfer& transfer);

  void AddApi(TimeNs start, TimeNs end, std::int64_t tid, std::int64_t name_id,
              std::string_view name, std::uint64_t correlation, std::int32_t result);
  // The first row that was added with a correlation id; kNone. After the last call was added. O(log
  // n).
  std::uint32_t FindApi(std::uint64_t correlation);
  // Whether a copy's call has a name of those that do not wait for it.
  bool IsAsync(std::uint64_t correlation);

  std::uint32_t ThreadIndex(std::int64_t tid);
  // kNone: no such device or stream.
  std::uint32_t StreamIndex(std::int64_t device, std::int64_t context, std::int64_t stream);
  std::uint32_t DomainIndex(std::int64_t id, std::string_view name);
  std::uint32_t EventNumber(std::int64_t context, std::int64_t event);
  std::uint32_t StringIndex(std::int64_t id);
  std::uint32_t StringIndex(std::string_view text);

 private:
  using ShapeKey = std::array<std::int64_t, 14>;
  struct KernelName {
    std::uint32_t text = kNone;
    KernelClass kernel_class = KernelClass::kOther;
  };

  Device& DeviceOf(int ordinal);
  std::uint32_t ApiNameIndex(std::string_view name);
  KernelName KernelNameOf(std::int64_t name_id);
  std::uint32_t ShapeIndex(const KernelShape& shape);
  // Null: it has no device or stream.
  GpuOps* Begin(const ForeignOperation& operation);

  const ForeignStrings* strings_;
  Rank rank_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_, strings_by_id_, api_names_, domains_;
  std::unordered_map<std::string, std::uint32_t> strings_by_text_, api_names_by_text_;
  std::unordered_map<std::int64_t, KernelName> kernel_names_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls_by_id_;  // filled when first asked for
  std::map<ShapeKey, std::uint32_t> shapes_;
  std::map<std::array<std::int64_t, 3>, std::uint32_t> streams_;  // (device, context, stream)
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> graph_nodes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> events_;  // (context, event)
};

}  // namespace traceinject
