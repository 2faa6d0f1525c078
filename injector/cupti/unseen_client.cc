// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/unseen_client.h"

#include "injector/core/counters.h"
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

void CUPTIAPI OnNothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

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

void UnseenClient::Begin(std::int64_t now_ns, bool probing) {
  if (active_) return;
  began_ns_ = now_ns;
  calls_ = CallsToUs();
  // A client that is seen would get the record, and shows that our callbacks are called.
  probed_ = probing && !g_shared_session.BuffersAreTheirs();
  if (probed_) call_();
}

UnseenClient::Change UnseenClient::Look(std::int64_t probes, bool forced) {
  if (active_) return forced ? Change::kNone : LookForItsEnd();
  if (CallsToUs() != calls_) {
    misses_ = 0;
    whole_until_ns_ = g_shared_session.HasLent() ? heard_ns_ : began_ns_;
    heard_ns_ = began_ns_;
    return Change::kNone;
  }
  // That no record comes means something only where one came before.
  if (!probed_ || probes == 0 || (++misses_ < kMisses && !forced)) return Change::kNone;
  misses_ = 0;
  subscribed_ = Subscribes();
  // Where threads share a buffer it does not come back before all work in it is done.
  if (!subscribed_ && !buffers_per_thread_ && !forced) return Change::kNone;
  active_ = true;
  looks_ = 0;
  g_counters.Add(Health::kOtherClientStoodAside);
  return Change::kCame;
}

UnseenClient::Change UnseenClient::LookForItsEnd() {
  const bool was_wrong = CallsToUs() != calls_;
  const bool subscribes = Subscribes();
  subscribed_ |= subscribes;
  looks_ = subscribes ? 0 : looks_ + 1;
  if (!was_wrong && looks_ < (subscribed_ ? kLooks : kLooksNeverSubscribed)) return Change::kNone;
  active_ = false;
  return Change::kLeft;
}

// Whether somebody whom we do not see does.
bool UnseenClient::Subscribes() const {
  if (cupti_->Subscribe == nullptr || cupti_->Unsubscribe == nullptr ||
      g_shared_session.subscribed())
    return false;
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti_->Subscribe(&subscriber, OnNothing, nullptr) != CUPTI_SUCCESS) return true;
  cupti_->Unsubscribe(subscriber);
  return false;
}

}  // namespace traceinject
