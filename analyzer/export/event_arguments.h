// SPDX-License-Identifier: Apache-2.0
// What traces tell of an event beside its name and times. Keys are those of torch.profiler where it
// has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/export/host_events.h"
#include "analyzer/export/kineto_nccl.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct Argument {
  enum class Kind : std::uint8_t { kCount, kReal, kText, kList };

  std::string_view key;  // a literal
  Kind kind = Kind::kCount;
  std::int64_t count = 0;
  double real = 0;
  std::string_view text;  // as recorded, not printable; kList: "[1, 2, 3]"

  static Argument Count(std::string_view key, std::int64_t count) {
    return {key, Kind::kCount, count, 0, {}};
  }
  static Argument Real(std::string_view key, double real) {
    return {key, Kind::kReal, 0, real, {}};
  }
  static Argument Text(std::string_view key, std::string_view text) {
    return {key, Kind::kText, 0, 0, text};
  }
  static Argument List(std::string_view key, std::string_view text) {
    return {key, Kind::kList, 0, 0, text};
  }
};

// Lists are valid until the next one is asked for.
class HostArguments {
 public:
  explicit HostArguments(const Rank& rank) : rank_(rank) {}
  const std::vector<Argument>& Of(const HostEvent& event);

 private:
  void OfProfiled(std::uint32_t row);
  void OfCollective(std::uint32_t row);
  void OfGemm(std::uint32_t row);
  void OfAttention(std::uint32_t row);

  const Rank& rank_;
  std::vector<Argument> list_;
  std::string scratch_;
};

class GpuArguments {
 public:
  // Finds the launches of NCCL: O((kernels + calls) log). Both must outlive this.
  GpuArguments(const Rank& rank, const Device& device);
  const std::vector<Argument>& Of(std::size_t row);

 private:
  struct ShapeText {
    std::string grid, block;
  };

  void OfKernel(std::size_t row);
  void OfNccl(std::size_t row);
  const ShapeText& TextOf(std::uint32_t shape);

  const Rank& rank_;
  const Device& device_;
  std::unordered_map<std::size_t, KinetoNccl> nccl_;  // by the first operation of a launch
  std::unordered_map<std::uint32_t, ShapeText> shapes_;
  std::vector<Argument> list_;
};

}  // namespace traceinject
