// SPDX-License-Identifier: Apache-2.0
// One process from the events of its PyTorch (Kineto) trace.
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

#include "analyzer/import/kineto/kineto_collectives.h"
#include "analyzer/import/kineto/kineto_event.h"
#include "analyzer/import/kineto/kineto_products.h"
#include "analyzer/import/kineto/python_stacks.h"
#include "analyzer/import/source/recorded_file.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Why an event was left out or repaired.
enum class KinetoProblem : std::uint8_t {
  kBroken,
  kTime,
  kNegative,
  kNoStream,
  kNoThread,
  kCollective,
  kMember,
  kCount
};

class KinetoRankBuilder {
 public:
  void Add(const KinetoEvent& event);
  void Count(KinetoProblem problem) { ++problems_[static_cast<std::size_t>(problem)]; }

  // Sorts and joins what was added. Call once, last. O(n log n).
  void Finish(Repairs repairs);

  // Times in it are relative to anchor_ns().
  Rank& rank() { return rank_; }
  // Start of the first event kept, as the trace counts.
  TimeNs anchor_ns() const { return anchor_.value_or(0); }
  std::size_t gpu_operations() const { return gpu_operations_; }
  // A sentence for each problem that was counted.
  std::vector<std::string> Notes() const;

 private:
  struct Text {
    std::uint32_t id = kNone;
    KernelClass kernel_class = KernelClass::kOther;
  };
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  template <typename Value>
  using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;
  using ShapeKey = std::array<std::int64_t, 9>;

  // start and end of an event, relative to the anchor; empty if it cannot be placed in time.
  std::optional<std::pair<TimeNs, TimeNs>> Times(const KinetoEvent& event);
  void AddOperation(const KinetoEvent& event);
  void AddApi(const KinetoEvent& event);
  void AddAnnotation(const KinetoEvent& event);
  void AddProfiled(const KinetoEvent& event);
  void AddSpan(const KinetoEvent& event);
  void AddThreadName(const KinetoEvent& event);
  std::uint32_t DetailOf(const KinetoEvent& event, GpuOps& ops);
  std::uint32_t ShapeOf(const KinetoEvent& event, const Text& name);
  std::uint32_t GraphNodeOf(const KinetoEvent& event);
  // kNone, and counted, if the event does not report.
  std::uint32_t StreamOf(const KinetoEvent& event);
  std::uint32_t ThreadOf(const KinetoEvent& event);
  std::uint32_t DeviceIndex(int ordinal);
  std::uint32_t ApiNameOf(std::string_view name);
  std::uint32_t StringOf(std::string_view text);
  const Text& KernelNameOf(std::string_view name);
  void MoveProfiledToAnchor();
  void NameThreads();
  void SetAsync();
  TimeNs FirstStart() const;

  Rank rank_;
  std::optional<TimeNs> anchor_;
  std::optional<std::pair<TimeNs, TimeNs>> span_;
  std::size_t gpu_operations_ = 0;
  KinetoCollectives collectives_;
  KinetoProducts products_;
  PythonSource python_;
  ByText<std::uint32_t> call_stacks_;
  ByText<std::uint32_t> strings_, api_names_;
  ByText<Text> kernel_names_;
  std::map<ShapeKey, std::uint32_t> shapes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;  // (pid, tid)
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::array<std::int64_t, 3>, std::uint32_t> streams_;  // (device, context, stream)
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> graph_nodes_;
  std::map<int, std::uint32_t> devices_;  // ordinal -> index into rank_.devices
  std::array<std::int64_t, static_cast<std::size_t>(KinetoProblem::kCount)> problems_{};
};

}  // namespace traceinject
