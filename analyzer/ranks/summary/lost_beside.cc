// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/lost_beside.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/common/median.h"
#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

constexpr std::size_t kMinKernels = 8;  // of one name and size, alone and beside
// Of a kernel: from this share on it ran beside communication.
constexpr double kBesideShare = 0.9;

double Blocks(const KernelShape& shape) {
  return static_cast<double>(shape.grid[0]) * shape.grid[1] * shape.grid[2];
}

double HeldMultiprocessors(const Rank& rank, const Device& device,
                           const std::vector<std::uint32_t>& communication) {
  if (!device.sm_count || *device.sm_count <= 0) return 0;
  double held = 0, ns = 0;
  for (const std::uint32_t row : communication) {
    const auto length = static_cast<double>(device.ops.end[row] - device.ops.start[row]);
    const double blocks = Blocks(rank.shapes[device.ops.detail[row]]);
    held += length * std::clamp(blocks / *device.sm_count, 0.0, 1.0);
    ns += length;
  }
  return ns > 0 ? held / ns : 0;
}

// Of times that come in order, how much lies beside communication.
class BesideCommunication {
 public:
  explicit BesideCommunication(Intervals communication)
      : communication_(std::move(communication)) {}

  TimeNs operator()(Interval time) {
    while (next_ < communication_.size() && communication_[next_].end <= time.start) ++next_;
    TimeNs beside = 0;
    for (std::size_t i = next_; i < communication_.size() && communication_[i].start < time.end;
         ++i)
      beside +=
          std::min(communication_[i].end, time.end) - std::max(communication_[i].start, time.start);
    return beside;
  }

 private:
  Intervals communication_;
  std::size_t next_ = 0;
};

struct Lengths {
  std::vector<double> alone, beside;
};

double Slowed(const Rank& rank, const GpuOps& ops, BesideCommunication beside_communication) {
  std::map<std::pair<std::uint32_t, double>, Lengths> kernels;  // by name and blocks
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != OpKind::kKernel || ops.kernel_class[row] == KernelClass::kComm) continue;
    const KernelShape& shape = rank.shapes[ops.detail[row]];
    const Interval time{ops.start[row], ops.end[row]};
    const auto length = static_cast<double>(time.end - time.start);
    const auto beside = static_cast<double>(beside_communication(time));
    Lengths& lengths = kernels[{shape.name, Blocks(shape)}];
    if (beside == 0) lengths.alone.push_back(length);
    if (beside > 0 && beside >= kBesideShare * length) lengths.beside.push_back(length);
  }
  double lost = 0, ns = 0;
  for (const auto& [kernel, lengths] : kernels) {
    if (std::min(lengths.alone.size(), lengths.beside.size()) < kMinKernels) continue;
    double sum = 0;
    for (const double length : lengths.beside) sum += length;
    const double beside = Median(lengths.beside);
    if (beside > 0) lost += sum * (1 - Median(lengths.alone) / beside);
    ns += sum;
  }
  return ns > 0 ? lost / ns : 0;
}

}  // namespace

double LostBesideCommunication(const Rank& rank, const Device& device) {
  const GpuOps& ops = device.ops;
  std::vector<std::uint32_t> communication;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] == OpKind::kKernel && ops.kernel_class[row] == KernelClass::kComm)
      communication.push_back(row);
  }
  if (communication.empty()) return 0;
  const Intervals times = MergeColumns(ops.start, ops.end, kOpen, &communication);
  return std::clamp(std::max(HeldMultiprocessors(rank, device, communication),
                             Slowed(rank, ops, BesideCommunication(times))),
                    0.0, 1.0);
}

}  // namespace traceinject
