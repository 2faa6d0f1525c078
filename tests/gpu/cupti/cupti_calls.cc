// SPDX-License-Identifier: Apache-2.0
// Which calls CUPTI tells when kinds of calls and single calls are turned on and off one after
// another, without our library. After each step kernels are launched through the runtime, then
// through the driver; printed is how many records of launches in the runtime and in the driver came
// for each, and how many of other calls. A launch through the runtime passes the driver, too.
//
// usage: cupti_calls LIBCUPTI LIBCUDART STEP...
//   STEP: init (CUDA is initialized, and kernels are launched from here on), or what is turned on
//   (+) or off (-), several joined by commas:
//     K, R, D  the kinds of kernels, of runtime and of driver calls
//     r, d     the launches of the runtime, of the driver, call by call
//     o        all other calls of both, call by call
//     p, q     cuDeviceGetCount, cudaDriverGetVersion
//     F-       cuptiFinalize
#include <cuda.h>
#include <cupti.h>

#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "activity_buffers.h"
#include "empty_kernel.h"

namespace {

using empty_kernel::Check;
using empty_kernel::Find;
using Calls = std::set<CUpti_CallbackId>;

constexpr int kLaunches = 200;
// Callback ids are those of cupti_runtime_cbid.h and cupti_driver_cbid.h.
const Calls kRuntimeLaunches = {211, 214, 430, 431}, kDriverLaunches = {307, 442, 652, 653};
constexpr CUpti_CallbackId kDeviceCount = 4, kVersion = 1, kMaxCalls = 1024;

struct Delivered {
  int runtime_launches = 0, driver_launches = 0, others = 0;
};
Delivered delivered;

void Count(const CUpti_Activity* record) {
  const bool runtime = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  if (!runtime && record->kind != CUPTI_ACTIVITY_KIND_DRIVER) return;
  const CUpti_CallbackId call = reinterpret_cast<const CUpti_ActivityAPI*>(record)->cbid;
  if (!(runtime ? kRuntimeLaunches : kDriverLaunches).contains(call))
    ++delivered.others;
  else
    ++(runtime ? delivered.runtime_launches : delivered.driver_launches);
}

class Cupti {
 public:
  explicit Cupti(const char* library) : library_(empty_kernel::Open(library)) {
    activity_buffers::Register(library_, Count);
  }

  void TurnAll(std::string_view step) const {
    for (; step.size() >= 2; step.remove_prefix(step.size() > 2 ? 3 : 2))
      Turn(step[0], step[1] == '+');
  }
  void Flush() const {
    Check(Find<decltype(cuptiActivityFlushAll)>(
              library_, "cuptiActivityFlushAll")(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
          "cuptiActivityFlushAll");
  }

 private:
  void TurnKind(CUpti_ActivityKind kind, bool on) const {
    const char* name = on ? "cuptiActivityEnable" : "cuptiActivityDisable";
    Check(Find<decltype(cuptiActivityEnable)>(library_, name)(kind), name);
  }
  void TurnCall(bool runtime, CUpti_CallbackId call, bool on, bool must_be_known = true) const {
    const char* name = runtime ? "cuptiActivityEnableRuntimeApi" : "cuptiActivityEnableDriverApi";
    const int result =
        Find<decltype(cuptiActivityEnableDriverApi)>(library_, name)(call, on ? 1 : 0);
    if (must_be_known || result != CUPTI_ERROR_INVALID_PARAMETER) Check(result, name);
  }
  void TurnOthers(bool on) const {
    for (CUpti_CallbackId call = 1; call < kMaxCalls; ++call) {
      if (!kRuntimeLaunches.contains(call)) TurnCall(true, call, on, false);
      if (!kDriverLaunches.contains(call)) TurnCall(false, call, on, false);
    }
  }
  void Turn(char what, bool on) const {
    const std::map<char, CUpti_ActivityKind> kinds = {{'K', CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
                                                      {'R', CUPTI_ACTIVITY_KIND_RUNTIME},
                                                      {'D', CUPTI_ACTIVITY_KIND_DRIVER}};
    if (const auto kind = kinds.find(what); kind != kinds.end()) return TurnKind(kind->second, on);
    if (what == 'p') return TurnCall(false, kDeviceCount, on);
    if (what == 'q') return TurnCall(true, kVersion, on);
    if (what == 'o') return TurnOthers(on);
    if (what == 'F') {
      Check(Find<decltype(cuptiFinalize)>(library_, "cuptiFinalize")(), "cuptiFinalize");
      return activity_buffers::Register(library_, Count);
    }
    if (what != 'r' && what != 'd') empty_kernel::Stop("cupti_calls", "no such step");
    for (const CUpti_CallbackId call : what == 'r' ? kRuntimeLaunches : kDriverLaunches)
      TurnCall(what == 'r', call, on);
  }

  void* library_;
};

void Look(const Cupti& cupti, const empty_kernel::Gpu& gpu) {
  cupti.Flush();
  delivered = {};
  for (int i = 0; i < kLaunches; ++i) gpu.launch();
  gpu.wait();
  cupti.Flush();
  std::printf("%9.2f %6.2f %6d", 1.0 * delivered.runtime_launches / kLaunches,
              1.0 * delivered.driver_launches / kLaunches, delivered.others);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: cupti_calls LIBCUPTI LIBCUDART STEP...\n");
    return 2;
  }
  const Cupti cupti(argv[1]);
  empty_kernel::Gpu driver, runtime;
  std::printf("records of launches in the runtime and in the driver for each launch, and others\n");
  std::printf("    through the runtime      through the driver  after\n");
  for (const std::string_view step : std::vector<std::string_view>(argv + 3, argv + argc)) {
    if (step == "init") {
      driver = empty_kernel::ThroughDriver();
      runtime = empty_kernel::ThroughRuntime(argv[2]);
    } else {
      cupti.TurnAll(step);
    }
    if (!driver.launch) continue;
    Look(cupti, runtime);
    Look(cupti, driver);
    std::printf("  %.*s\n", static_cast<int>(step.size()), step.data());
  }
}
