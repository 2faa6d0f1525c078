// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/simulator/api_call.h"

#include <unistd.h>

#include <atomic>

#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/truth.h"

namespace traceinject::fake {
namespace {

thread_local ApiCall* current_call = nullptr;
thread_local std::uint64_t miscounted = 0;  // the id of the call that this thread never leaves
// FAKE_CUDA_CORRELATION: the id before the first. CUPTI tells the low 32 bits.
std::atomic<std::uint64_t> last_correlation{
    static_cast<std::uint64_t>(SettingNumber("FAKE_CUDA_CORRELATION", 0))};
std::atomic<ActivitySink*> activity_sink{nullptr};

// Seen on hardware (tests/gpu/results/cupti.md).
bool Miscounts() {
  static const bool miscounts = SettingNumber("FAKE_CUPTI_MISCOUNT", 0) != 0;
  return miscounts;
}

bool IsTold(CallId call) {
  const ActivitySink* sink = GetActivitySink();
  return sink != nullptr && sink->IsTold(call);
}

}  // namespace

bool TakeActivitySink(ActivitySink* sink) {
  ActivitySink* nobody = nullptr;
  return activity_sink.compare_exchange_strong(nobody, sink) || nobody == sink;
}
ActivitySink* GetActivitySink() { return activity_sink; }

ApiCall* ApiCall::Current() { return current_call; }

void ApiCall::RestartCorrelations() { last_correlation = ((last_correlation >> 32) + 1) << 32; }

ApiCall::ApiCall(Domain domain, std::uint32_t cbid, const char* name)
    : domain_(domain),
      cbid_(cbid),
      name_(name),
      outer_(current_call),
      correlation_(outer_ != nullptr ? outer_->correlation_ : ++last_correlation),
      start_ns_(NowNs()),
      told_(Miscounts() && IsTold({domain, cbid})) {
  if (outer_ == nullptr && miscounted != 0) correlation_ = miscounted;
  current_call = this;
}

ApiCall::~ApiCall() {
  const std::int64_t end_ns = NowNs();
  current_call = outer_;
  if (Miscounts() && outer_ == nullptr && told_ != IsTold({domain_, cbid_}))
    miscounted = correlation_;
  if (ActivitySink* sink = GetActivitySink()) {
    std::optional<CallId> outer;
    if (outer_ != nullptr) outer = {outer_->domain_, outer_->cbid_};
    sink->OnApi({domain_, cbid_, start_ns_, end_ns, correlation_, result_, outer});
  }
  if (!TruthWanted()) return;
  TruthLine("api")
      .Text("name", name_)
      .Number("domain", static_cast<int>(domain_))
      .Number("cbid", cbid_)
      .Number("start", start_ns_)
      .Number("end", end_ns)
      .Number("correlation", static_cast<std::int64_t>(correlation_))
      .Number("tid", gettid())
      .Number("result", result_)
      .Bool("nested", outer_ != nullptr)
      .Write();
}

}  // namespace traceinject::fake
