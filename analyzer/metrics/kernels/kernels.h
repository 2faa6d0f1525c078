// SPDX-License-Identifier: Apache-2.0
// Kernel time by name and by class, with what is known of each name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/metrics/kernels/kernel_work.h"
#include "analyzer/metrics/kernels/launch_fit.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/kernel_traits.h"
#include "analyzer/model/run.h"

namespace traceinject {

// All kernels of one name. Durations are whole, not clipped; parallel kernels count twice in sums.
struct KernelStats {
  std::string name;
  KernelClass kernel_class = KernelClass::kOther;
  std::int64_t count = 0;
  TimeNs total_ns = 0, min_ns = 0, max_ns = 0;
  KernelShape shape;             // the most frequent one; its `name` means nothing here
  std::int64_t shape_count = 0;  // launches that had it
  std::optional<LaunchFit> fit = std::nullopt;  // of that shape on the device that ran it
  KernelTraits traits = {};
  KernelWork work = {};

  // That the calls tell; without them, that the name tells. Empty: neither.
  std::string_view dtype() const { return work.dtype.empty() ? traits.dtype : work.dtype; }
};

struct KernelClassStats {
  KernelClass kernel_class = KernelClass::kOther;
  std::int64_t count = 0;
  TimeNs total_ns = 0;
};

struct KernelTable {
  std::int64_t count = 0;
  TimeNs total_ns = 0;
  std::vector<KernelStats> kernels;  // by total time, largest first
  std::vector<KernelClassStats>
      classes;                 // likewise; kOther is always there, others only if they have kernels
  TimeNs unclassified_ns = 0;  // of kOther
};

// Adds up the kernels of one or more devices, also of different processes.
class KernelCounter {
 public:
  // O(operations + shapes of the process).
  void Add(const Rank& rank, const Device& device, const OpRanges& ranges,
           const KernelWorks& works = {});
  // What another one counted. O(its names and shapes).
  void Add(const KernelCounter& other);
  // O(names log names).
  KernelTable Finish() const;

 private:
  struct ByShape {
    KernelShape shape;
    std::optional<LaunchFit> fit;
    std::int64_t count = 0;
  };
  struct ByName {
    KernelStats stats;
    std::vector<ByShape> shapes;
  };
  static void Count(ByName& entry, const ByShape& of);

  std::unordered_map<std::string, ByName> names_;
};

}  // namespace traceinject
