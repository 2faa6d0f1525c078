// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/vanishing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/verdict/host_code.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {
namespace {

// What takes the time of a cause, beside the operations that would be shorter.
struct CauseTimes {
  std::string_view label;
  std::array<std::optional<IdleCause>, 2> idle;
  bool communication = false;  // that no kernel overlaps
  bool uploads = false;        // likewise
};
constexpr CauseTimes kCauseTimes[] = {
    {"dataloader", {IdleCause::kDataWait}},
    {"sync_bound", {IdleCause::kSync, IdleCause::kDrainedBySync}},
    {"allocator", {IdleCause::kAllocator}},
    {"checkpoint", {IdleCause::kCheckpoint}},
    {"gc_pause", {IdleCause::kGc}},
    {kHostWaitLabel, {IdleCause::kHostWait}},
    {"launch_bound", {IdleCause::kLaunch, IdleCause::kPython}},
    {kHostCodeLabel, {IdleCause::kPython, IdleCause::kHostWait}},
    {"h2d_copy", {IdleCause::kCopy}, false, true},
    {"comm_exposed", {IdleCause::kCommunication}, true},
    {"straggler", {IdleCause::kCommunication}, true},
    {"imbalance", {IdleCause::kCommunication}, true},
    {"slow_link", {IdleCause::kCommunication}, true},
    {"pipeline_bubble", {IdleCause::kCommunication}, true},
};

class Finder {
 public:
  Finder(const DeviceAnalysis& judged, std::string_view label)
      : judged_(judged), ops_(judged.device->ops), label_(label) {}

  Intervals Find() const {
    Intervals found;
    for (const CauseTimes& times : kCauseTimes) {
      if (times.label != label_) continue;
      Idle(times, found);
      if (times.communication) Alone(&Finder::IsCommunication, found);
      if (times.uploads) Alone(&Finder::IsUpload, found);
    }
    for (const KernelSaving& saving :
         FindKernelSavings(*judged_.rank, *judged_.device, judged_.steps, 0)) {
      if (saving.label == label_) Shorter(saving.lengths, found);
    }
    return InSteps(Merge(std::move(found)));
  }

 private:
  bool IsCommunication(std::size_t row) const {
    return ops_.kernel_class[row] == KernelClass::kComm;
  }
  bool IsUpload(std::size_t row) const {
    return ops_.kind[row] == OpKind::kMemcpy &&
           judged_.rank->transfers[ops_.detail[row]].kind == kHostToDevice;
  }

  void Idle(const CauseTimes& times, Intervals& found) const {
    for (const IdlePiece& piece : ExplainIdle(*judged_.rank, *judged_.device, judged_.timeline,
                                              judged_.steps, judged_.window.time)) {
      if (std::find(times.idle.begin(), times.idle.end(), piece.cause) != times.idle.end())
        found.push_back(piece.time);
    }
  }
  // Of such operations, while no other kernel ran.
  void Alone(bool (Finder::*is_one)(std::size_t) const, Intervals& found) const {
    Intervals these, kernels;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      const Interval time{ops_.start[row], ops_.end[row]};
      if ((this->*is_one)(row)) {
        these.push_back(time);
      } else if (ops_.kind[row] == OpKind::kKernel) {
        kernels.push_back(time);
      }
    }
    const Intervals alone = Subtract(Merge(std::move(these)), Merge(std::move(kernels)));
    found.insert(found.end(), alone.begin(), alone.end());
  }
  void Shorter(const std::vector<OpLength>& lengths, Intervals& found) const {
    for (const OpLength& length : lengths)
      found.push_back({ops_.start[length.row] + length.length_ns, ops_.end[length.row]});
  }
  Intervals InSteps(const Intervals& found) const {
    Intervals steps;
    for (const Step& step : judged_.steps.steps) steps.push_back(step.time);
    return Intersect(found, Merge(std::move(steps)));
  }

  const DeviceAnalysis& judged_;
  const GpuOps& ops_;
  const std::string_view label_;
};

}  // namespace

Vanishing FindVanishing(const DeviceAnalysis& judged, std::string_view label) {
  return {Printable(judged.label), Finder(judged, label).Find()};
}

}  // namespace traceinject
