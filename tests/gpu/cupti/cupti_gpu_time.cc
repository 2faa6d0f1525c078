// SPDX-License-Identifier: Apache-2.0
// What CUPTI's records cost on the GPU, and whether they come, without our library: the time that a
// stream takes for chains of empty kernels, of kernels with a copy of 4 KB within the GPU after
// each, and of kernels with a memset of 4 KB after each, while CUPTI records one set of kinds after
// another. A chain waits behind long memsets until the host has put all of it into the queue, so
// the host's own time does not count. Prints a line for each set: medians over rounds in ns of a
// kernel, of one with a copy, of one with a memset, and of a launch for the host; then how many
// records came for each kernel, copy and memset that ran, and the median length of the memsets'.
//
// usage: cupti_gpu_time LIBCUPTI [ATTRIBUTE=VALUE...] [SET...]
//   SET: kinds in the order in which they are enabled, as in kernel,memcpy,memset; none: no kind.
//     kernel,memset>kernel: the first set, and after some work what it takes to come to the second;
//     with ! at its end, all of the second are enabled, those also that were already
//   attributes: pinned (1: CUPTI's buffers lie in pinned host memory), zeroed (1: ours come
//   zeroed), per_thread (0: one buffer for all threads), buffer_bytes (of CUPTI's on the device)
#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "activity_buffers.h"
#include "empty_kernel.h"

namespace {

using empty_kernel::Check;
using empty_kernel::Find;

constexpr int kRounds = 40, kChain = 400;  // the queue holds 1,024 launches
constexpr std::size_t kBlockerBytes = std::size_t{4} << 30, kSmallBytes = 4096;
constexpr int kBlockers = 8;  // a millisecond and more each

struct Kind {
  std::string_view name;
  CUpti_ActivityKind kind;
};
constexpr std::array kKinds = {Kind{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
                               Kind{"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
                               Kind{"memset", CUPTI_ACTIVITY_KIND_MEMSET},
                               Kind{"memcpy2", CUPTI_ACTIVITY_KIND_MEMCPY2}};

struct Attribute {
  std::string_view name;
  CUpti_ActivityAttribute attribute;
  std::size_t bytes;
};
constexpr std::array kAttributes = {
    Attribute{"pinned", CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 1},
    Attribute{"zeroed", CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1},
    Attribute{"per_thread", CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 1},
    Attribute{"buffer_bytes", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, sizeof(std::size_t)}};

// What CUPTI delivered since the last look.
struct Delivered {
  std::size_t kernels = 0, copies = 0;
  std::vector<double> memsets_ns;
};
Delivered delivered;

void Count(const CUpti_Activity* record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ++delivered.kernels;
  if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) ++delivered.copies;
  if (record->kind != CUPTI_ACTIVITY_KIND_MEMSET) return;
  const auto* set = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
  if (set->bytes == kSmallBytes)
    delivered.memsets_ns.push_back(static_cast<double>(set->end - set->start));
}

void SetAttribute(void* cupti, std::string_view text) {
  const std::size_t equals = text.find('=');
  for (const Attribute& known : kAttributes) {
    if (equals == text.npos || known.name != text.substr(0, equals)) continue;
    std::size_t value = std::strtoull(text.data() + equals + 1, nullptr, 10);
    std::size_t bytes = known.bytes;
    // Little-endian: the lowest byte of the number is the number of one byte.
    Check(Find<decltype(cuptiActivitySetAttribute)>(cupti, "cuptiActivitySetAttribute")(
              known.attribute, &bytes, &value),
          "cuptiActivitySetAttribute");
    return;
  }
  empty_kernel::Stop("cupti_gpu_time", "an attribute is one of those named in the source");
}

using Kinds = std::vector<CUpti_ActivityKind>;

Kinds ParseKinds(std::string_view set) {
  Kinds kinds;
  while (!set.empty() && set != "none") {
    const std::string_view name = set.substr(0, set.find(','));
    set.remove_prefix(std::min(set.size(), name.size() + 1));
    const auto* known = std::find_if(kKinds.begin(), kKinds.end(),
                                     [&](const Kind& kind) { return kind.name == name; });
    if (known == kKinds.end()) empty_kernel::Stop("cupti_gpu_time", "no kind of that name");
    kinds.push_back(known->kind);
  }
  return kinds;
}

// Off what is not wanted, then on what was not there; with `again`, also what was.
void Switch(void* cupti, const Kinds& from, const Kinds& to, bool again = false) {
  const auto switch_others = [](const Kinds& all, const Kinds& but, auto* function) {
    for (const CUpti_ActivityKind kind : all)
      if (std::find(but.begin(), but.end(), kind) == but.end())
        Check(function(kind), "cuptiActivityEnable or Disable");
  };
  switch_others(from, to, Find<decltype(cuptiActivityDisable)>(cupti, "cuptiActivityDisable"));
  switch_others(to, again ? Kinds{} : from,
                Find<decltype(cuptiActivityEnable)>(cupti, "cuptiActivityEnable"));
}

// A stream's own clock around a chain of operations.
class Chain {
 public:
  explicit Chain(const empty_kernel::Gpu& gpu)
      : gpu_(gpu), cuda_(empty_kernel::Open("libcuda.so.1")) {
    Check(Find<decltype(cuMemAlloc)>(cuda_, "cuMemAlloc_v2")(&memory_, kBlockerBytes),
          "cuMemAlloc");
    for (CUevent* event : {&begin_, &end_})
      Check(Find<decltype(cuEventCreate)>(cuda_, "cuEventCreate")(event, CU_EVENT_DEFAULT),
            "cuEventCreate");
  }

  struct Times {
    double gpu_ns, host_ns;  // of one link
  };

  enum class Link { kKernel, kKernelAndCopy, kKernelAndMemset };

  Times Run(Link link) const {
    for (int i = 0; i < kBlockers; ++i) Set(kBlockerBytes);
    Note(begin_);
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kChain; ++i) {
      gpu_.launch();
      if (link == Link::kKernelAndCopy) Copy();
      if (link == Link::kKernelAndMemset) Set(kSmallBytes);
    }
    const std::chrono::duration<double, std::nano> host = std::chrono::steady_clock::now() - began;
    Note(end_);
    gpu_.wait();
    float ms = 0;
    Check(Find<decltype(cuEventElapsedTime)>(cuda_, "cuEventElapsedTime")(&ms, begin_, end_),
          "cuEventElapsedTime");
    return {ms * 1e6 / kChain, host.count() / kChain};
  }

 private:
  void Set(std::size_t bytes) const {
    static auto* const set = Find<decltype(cuMemsetD8Async)>(cuda_, "cuMemsetD8Async");
    Check(set(memory_, 0, bytes, nullptr), "cuMemsetD8Async");
  }
  void Copy() const {
    static auto* const copy = Find<decltype(cuMemcpyDtoDAsync)>(cuda_, "cuMemcpyDtoDAsync_v2");
    Check(copy(memory_, memory_ + kSmallBytes, kSmallBytes, nullptr), "cuMemcpyDtoDAsync");
  }
  void Note(CUevent event) const {
    Check(Find<decltype(cuEventRecord)>(cuda_, "cuEventRecord")(event, nullptr), "cuEventRecord");
  }

  const empty_kernel::Gpu& gpu_;
  void* cuda_;
  CUdeviceptr memory_ = 0;
  CUevent begin_ = nullptr, end_ = nullptr;
};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Samples {
  std::vector<double> kernel_ns, copy_ns, memset_ns, launch_ns;
  Delivered records;
};

void Measure(void* cupti, const Chain& chain, std::string_view set, Samples& samples) {
  using Link = Chain::Link;
  auto* flush = Find<decltype(cuptiActivityFlushAll)>(cupti, "cuptiActivityFlushAll");
  const bool again = set.ends_with('!');
  if (again) set.remove_suffix(1);
  const std::size_t arrow = set.find('>');
  const Kinds before = arrow == set.npos ? Kinds{} : ParseKinds(set.substr(0, arrow));
  const Kinds kinds = ParseKinds(arrow == set.npos ? set : set.substr(arrow + 1));
  Switch(cupti, {}, before);
  chain.Run(Link::kKernelAndMemset);
  Switch(cupti, before, kinds, again);
  chain.Run(Link::kKernelAndMemset);  // what a switch brings with it
  Check(flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  delivered = {};
  const Chain::Times kernels = chain.Run(Link::kKernel);
  samples.copy_ns.push_back(chain.Run(Link::kKernelAndCopy).gpu_ns);
  samples.memset_ns.push_back(chain.Run(Link::kKernelAndMemset).gpu_ns);
  Check(flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  samples.kernel_ns.push_back(kernels.gpu_ns);
  samples.launch_ns.push_back(kernels.host_ns);
  samples.records.kernels += delivered.kernels;
  samples.records.copies += delivered.copies;
  samples.records.memsets_ns.insert(samples.records.memsets_ns.end(), delivered.memsets_ns.begin(),
                                    delivered.memsets_ns.end());
  Switch(cupti, kinds, {});
}

void MeasureAll(void* cupti, const Chain& chain, const std::vector<std::string>& sets) {
  std::vector<Samples> samples(sets.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < sets.size(); ++i) Measure(cupti, chain, sets[i], samples[i]);
  std::printf("kernel  +copy   +memset launch ns;  records of each, a memset's ns;  recorded\n");
  constexpr double kRan = double{kRounds} * kChain;  // of copies and of memsets
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Samples& mine = samples[i];
    std::printf("%6.0f %6.0f %6.0f %6.0f    %8.2f %6.2f %6.2f %6.0f    %s\n",
                Median(mine.kernel_ns), Median(mine.copy_ns), Median(mine.memset_ns),
                Median(mine.launch_ns), static_cast<double>(mine.records.kernels) / (3 * kRan),
                static_cast<double>(mine.records.copies) / kRan,
                static_cast<double>(mine.records.memsets_ns.size()) / kRan,
                Median(mine.records.memsets_ns), sets[i].c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: cupti_gpu_time LIBCUPTI [ATTRIBUTE=VALUE...] [SET...]\n");
    return 2;
  }
  void* cupti = empty_kernel::Open(argv[1]);
  std::vector<std::string> sets;
  for (const std::string_view text : std::vector<std::string_view>(argv + 2, argv + argc)) {
    if (text.find('=') == text.npos)
      sets.emplace_back(text);
    else
      SetAttribute(cupti, text);
  }
  if (sets.empty())
    sets = {"none", "kernel", "kernel,memcpy", "kernel,memset", "kernel,memcpy,memset"};
  activity_buffers::Register(cupti, Count);
  const empty_kernel::Gpu gpu = empty_kernel::ThroughDriver();
  MeasureAll(cupti, Chain(gpu), sets);
}
