// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/unseen_client.h"

#include <algorithm>
#include <atomic>
#include <utility>

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

void UnseenClient::Open(const CuptiLibrary* cupti, void (*call)(), AtSafePoint at_safe_point,
                        std::int64_t now_ns) {
  cupti_ = cupti;
  call_ = call;
  at_safe_point_ = std::move(at_safe_point);
  heard_ns_ = whole_until_ns_ = now_ns;
  buffers_per_thread_ = HasBuffersPerThread(*cupti);
  doubted_ = !cupti->SelectsCalls();  // where there are whole kinds alone, it may be off
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
  place_ = LookIntoSigns(false);
  const bool taken = place_ && place_->taken;
  if (taken) g_counters.Add(Health::kOtherClientFlushesLeftOut);
  return !taken;
}

bool UnseenClient::MayShowBetweenWindows() const {
  return !active_ &&
         (buffers_per_thread_ || (MeansSomething(probes_) && !g_shared_session.HasLent()));
}

bool UnseenClient::ShowsBetweenWindows() const {
  return MayShowBetweenWindows() && MeansSomething(probes_);
}

void UnseenClient::NoteBroughtBack(std::int64_t now_ns) {
  heard_ns_ = now_ns;
  if (!g_shared_session.HasLent()) whole_until_ns_ = now_ns;
}

bool UnseenClient::TakesOurs() {
  const std::int64_t before = CallsToUs();
  call_();
  if (CallsToUs() == before) return false;
  shown_ = true;
  return true;
}

UnseenClient::Change UnseenClient::LookBetweenWindows(std::int64_t flush_before_oldest_ns) {
  if (TakesOurs()) return Change::kNone;
  if (g_shared_session.HasLent())
    whole_until_ns_ = std::min(whole_until_ns_, flush_before_oldest_ns);
  const bool means_something = MeansSomething(probes_);
  const std::optional<Place> place = LookAtPlace(means_something);
  if (place && place->taken) {
    Came(true);
    return Change::kCame;
  }
  if (!means_something) return Change::kNone;
  doubted_ |= probes_ == 0;
  return Change::kLeft;
}

// That no record comes means something where one came before, or a buffer was asked for; and once
// where it should be on, as a client may have come before the first was made.
bool UnseenClient::MeansSomething(std::int64_t probes) const {
  return probes != 0 || (buffers_per_thread_ && (shown_ || !doubted_));
}

bool UnseenClient::IsSuspicious() const {
  return MeansSomething(probes_) && CallsToUs() == calls_ &&
         (buffers_per_thread_ || HasWeakSigns());
}

bool UnseenClient::HasWeakSigns() const { return silent_ >= patience_; }

UnseenClient::Change UnseenClient::Look(const Decoded& decoded, std::int64_t flush_before_oldest_ns,
                                        bool forced) {
  if (active_) return forced ? Change::kNone : LookForItsEnd();
  probes_ = decoded.probes;
  if (CallsToUs() != calls_) {
    has_left_ = false;
    misses_ = silent_ = 0;
    whole_until_ns_ =
        g_shared_session.HasLent() ? std::min(heard_ns_, flush_before_oldest_ns) : began_ns_;
    heard_ns_ = began_ns_;
    return Change::kNone;
  }
  // The last flush brings back all that CUPTI has of us, which may be the first that somebody shows
  // at.
  if (forced && g_shared_session.HasLent()) {
    Came(place_ && place_->taken);
    return Change::kCame;
  }
  if (!probed_ || !MeansSomething(decoded.probes)) return Change::kNone;
  ++silent_;
  if (++misses_ < kMisses && !forced) return Change::kNone;
  misses_ = 0;
  if (!place_ && (buffers_per_thread_ || forced || HasWeakSigns())) place_ = LookIntoSigns(forced);
  if (!place_) return Change::kNone;
  // Ids wrap.
  const bool restarted = static_cast<std::int32_t>(place_->correlation - decoded.correlation) < 0;
  if (!place_->taken && place_->correlation != 0 && restarted) {
    has_left_ = true;
    return Change::kLeft;
  }
  // Where threads share a buffer it does not come back before all work in it is done.
  if (!place_->taken && !buffers_per_thread_ && !forced) return Change::kNone;
  Came(place_->taken);
  return Change::kCame;
}

// Nothing of ours is on yet. A thread that came by for this alone would make the window begin late.
bool UnseenClient::HasCome(std::int64_t now_ns) {
  if (!CanLook() || !HoldPlace().taken) return false;
  heard_ns_ = whole_until_ns_ = now_ns;
  Came(true);
  return true;
}

void UnseenClient::NoteMissing(std::int64_t whole_until_ns) {
  whole_until_ns_ = whole_until_ns;
  Came(false);
}

void UnseenClient::Came(bool subscribed) {
  active_ = true;
  subscribed_ = subscribed;
  doubted_ |= probes_ == 0;
  looks_ = 0;
  misses_ = silent_ = 0;
  patience_ = 1;
  calls_ = CallsToUs();
  g_counters.Add(Health::kOtherClientStoodAside);
}

UnseenClient::Change UnseenClient::LookForItsEnd() {
  const bool was_wrong = CallsToUs() != calls_;
  const bool taken = LookAtPlace(true)->taken;
  subscribed_ |= taken;
  looks_ = taken ? 0 : looks_ + 1;
  if (!was_wrong && looks_ < (subscribed_ ? kLooks : kLooksNeverSubscribed)) return Change::kNone;
  active_ = false;
  has_left_ = true;
  return Change::kLeft;
}

std::optional<UnseenClient::Place> UnseenClient::LookIntoSigns(bool forced) {
  const std::optional<Place> place = LookAtPlace(buffers_per_thread_ || forced);
  if (!place || !place->taken) {
    silent_ = 0;
    patience_ = std::min(2 * patience_, kMaxPatience);
  }
  return place;
}

// Nothing: no thread of the program came by, and not `anyway`.
std::optional<UnseenClient::Place> UnseenClient::LookAtPlace(bool anyway) const {
  if (!CanLook()) return Place{false, 0};
  std::optional<Place> place;
  at_safe_point_([&] { place = HoldPlace(); }, anyway);
  return place;
}

bool UnseenClient::CanLook() const {
  return cupti_->Subscribe != nullptr && cupti_->Unsubscribe != nullptr &&
         !g_shared_session.subscribed();
}

// Some microseconds: who subscribes meanwhile is refused. To wait before we leave would not help
// threads that launch (tests/gpu/results/cupti.md).
UnseenClient::Place UnseenClient::HoldPlace() const {
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
  }
  cupti_->Unsubscribe(subscriber);
  return {false, g_correlation.load()};
}

}  // namespace traceinject
