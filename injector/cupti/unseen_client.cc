// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/unseen_client.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "injector/base/counters.h"
#include "injector/cupti/allow_list.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {
namespace {

// How often CUPTI called us: each call is counted as one of these.
std::int64_t CallsToUs() {
  std::int64_t calls = 0;
  for (const Health id : {Health::kBuffersRequested, Health::kBuffersCompleted,
                          Health::kBuffersExhausted, Health::kBuffersDamaged})
    calls += g_counters.Get(id);
  return calls;
}

constexpr std::chrono::milliseconds kOnTheirWay{2};

std::atomic<std::uint32_t> g_correlation{0};

void CUPTIAPI OnCall(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  g_correlation.store(static_cast<const CUpti_CallbackData*>(data)->correlationId);
}

bool HasBuffersPerThread(const CuptiLibrary& cupti) {
  std::uint8_t per_thread = 0;
  std::size_t size = sizeof per_thread;
  return cupti.ActivityGetAttribute != nullptr &&
         cupti.ActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
                                    &per_thread) == CUPTI_SUCCESS &&
         per_thread != 0;
}

}  // namespace

void UnseenClient::Open(const CuptiLibrary* cupti, void (*call)(), std::int64_t now_ns) {
  cupti_ = cupti;
  call_ = call;
  heard_ns_ = whole_until_ns_ = now_ns;
  buffers_per_thread_ = HasBuffersPerThread(*cupti);
}

bool UnseenClient::Begin(std::int64_t now_ns, bool probing) {
  if (active_) return false;
  began_ns_ = now_ns;
  calls_ = CallsToUs();
  place_.reset();
  // A client that is seen would get the record, and shows that our callbacks are called.
  probed_ = probing && !g_shared_session.BuffersAreTheirs();
  if (!probed_) return true;
  call_();
  if (!IsSuspicious()) return true;
  place_ = LookAtPlace();
  if (place_->taken) g_counters.Add(Health::kOtherClientFlushesLeftOut);
  return !place_->taken;
}

// That no record comes means something only where one came before.
bool UnseenClient::IsSuspicious() const {
  return probes_ != 0 && CallsToUs() == calls_ && (buffers_per_thread_ || misses_ != 0);
}

UnseenClient::Change UnseenClient::Look(const Decoded& decoded, bool forced) {
  if (active_) return forced ? Change::kNone : LookForItsEnd();
  probes_ = decoded.probes;
  if (CallsToUs() != calls_) {
    misses_ = 0;
    whole_until_ns_ = g_shared_session.HasLent() ? heard_ns_ : began_ns_;
    heard_ns_ = began_ns_;
    return Change::kNone;
  }
  if (!probed_ || decoded.probes == 0 || (++misses_ < kMisses && !forced)) return Change::kNone;
  misses_ = 0;
  if (!place_) place_ = LookAtPlace();
  // Ids wrap.
  const bool restarted = static_cast<std::int32_t>(place_->correlation - decoded.correlation) < 0;
  if (!place_->taken && place_->correlation != 0 && restarted) return Change::kLeft;
  // Where threads share a buffer it does not come back before all work in it is done.
  if (!place_->taken && !buffers_per_thread_ && !forced) return Change::kNone;
  Came(place_->taken);
  return Change::kCame;
}

bool UnseenClient::HasCome(std::int64_t now_ns) {
  if (!LookAtPlace().taken) return false;
  heard_ns_ = whole_until_ns_ = now_ns;
  Came(true);
  return true;
}

void UnseenClient::Came(bool subscribed) {
  active_ = true;
  subscribed_ = subscribed;
  looks_ = 0;
  misses_ = 0;
  calls_ = CallsToUs();
  g_counters.Add(Health::kOtherClientStoodAside);
}

UnseenClient::Change UnseenClient::LookForItsEnd() {
  const bool was_wrong = CallsToUs() != calls_;
  const bool taken = LookAtPlace().taken;
  subscribed_ |= taken;
  looks_ = taken ? 0 : looks_ + 1;
  if (!was_wrong && looks_ < (subscribed_ ? kLooks : kLooksNeverSubscribed)) return Change::kNone;
  active_ = false;
  return Change::kLeft;
}

UnseenClient::Place UnseenClient::LookAtPlace() const {
  if (cupti_->Subscribe == nullptr || cupti_->Unsubscribe == nullptr ||
      g_shared_session.subscribed())
    return {false, 0};
  g_counters.Add(Health::kOtherClientLooks);
  const FlushTurn turn;  // a client that is seen waits, and finds the place free
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti_->Subscribe(&subscriber, OnCall, nullptr) != CUPTI_SUCCESS) return {true, 0};
  g_shared_session.NoteSubscriber();
  g_correlation.store(0);
  if (cupti_->EnableCallback != nullptr &&
      cupti_->EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kProbeCall) ==
          CUPTI_SUCCESS) {
    call_();
    cupti_->EnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kProbeCall);
    // Other threads may still be on their way through CUPTI to see whether we are to be called.
    std::this_thread::sleep_for(kOnTheirWay);
  }
  cupti_->Unsubscribe(subscriber);
  return {false, g_correlation.load()};
}

}  // namespace traceinject
