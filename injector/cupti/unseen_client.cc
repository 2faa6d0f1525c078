// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/unseen_client.h"

#include <atomic>

#include "injector/core/counters.h"
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

bool UnseenClient::Begin(std::int64_t now_ns, bool probing, bool may_subscribe) {
  if (active_) return false;
  began_ns_ = now_ns;
  calls_ = CallsToUs();
  // A client that is seen would get the record, and shows that our callbacks are called.
  probed_ = probing && !g_shared_session.BuffersAreTheirs();
  if (probed_) call_();
  const bool callbacks_are_ours = CallsToUs() != calls_;
  if (callbacks_are_ours || !may_subscribe || !Subscribes()) return true;
  g_counters.Add(Health::kOtherClientFlushesLeftOut);
  return false;
}

UnseenClient::Change UnseenClient::Look(const Decoded& decoded, bool forced) {
  if (active_) return forced ? Change::kNone : LookForItsEnd();
  if (CallsToUs() != calls_) {
    misses_ = 0;
    whole_until_ns_ = g_shared_session.HasLent() ? heard_ns_ : began_ns_;
    heard_ns_ = began_ns_;
    return Change::kNone;
  }
  // That no record comes means something only where one came before.
  if (!probed_ || decoded.probes == 0 || (++misses_ < kMisses && !forced)) return Change::kNone;
  misses_ = 0;
  std::uint32_t correlation = 0;
  const bool subscribes = Subscribes(&correlation);
  // Ids wrap.
  const bool restarted = static_cast<std::int32_t>(correlation - decoded.correlation) < 0;
  if (!subscribes && correlation != 0 && restarted) return Change::kLeft;
  // Where threads share a buffer it does not come back before all work in it is done.
  if (!subscribes && !buffers_per_thread_ && !forced) return Change::kNone;
  Came(subscribes);
  return Change::kCame;
}

bool UnseenClient::HasCome(std::int64_t now_ns) {
  if (!Subscribes()) return false;
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
  std::uint32_t correlation = 0;
  const bool subscribes = Subscribes(&correlation);
  subscribed_ |= subscribes;
  looks_ = subscribes ? 0 : looks_ + 1;
  if (!was_wrong && looks_ < (subscribed_ ? kLooks : kLooksNeverSubscribed)) return Change::kNone;
  active_ = false;
  return Change::kLeft;
}

bool UnseenClient::Subscribes() const {
  std::uint32_t ignored = 0;
  return Subscribes(&ignored);
}

bool UnseenClient::Subscribes(std::uint32_t* correlation) const {
  if (cupti_->Subscribe == nullptr || cupti_->Unsubscribe == nullptr ||
      g_shared_session.subscribed())
    return false;
  g_counters.Add(Health::kOtherClientLooks);
  const FlushTurn turn;  // a client that is seen waits, and finds the place free
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti_->Subscribe(&subscriber, OnCall, nullptr) != CUPTI_SUCCESS) return true;
  g_shared_session.NoteSubscriber();
  g_correlation.store(0);
  if (cupti_->EnableCallback != nullptr &&
      cupti_->EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kProbeCall) ==
          CUPTI_SUCCESS)
    call_();
  cupti_->Unsubscribe(subscriber);
  *correlation = g_correlation.load();
  return false;
}

}  // namespace traceinject
