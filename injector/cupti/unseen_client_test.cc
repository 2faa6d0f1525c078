// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/unseen_client.h"

#include <gtest/gtest.h>

#include <functional>

#include "injector/base/counters.h"
#include "injector/cupti/allow_list.h"
#include "injector/cupti/buffer_pool.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {
namespace {

using Change = UnseenClient::Change;

// A CUPTI of which a client that is not seen may have the callbacks, and the place of the
// subscriber.
struct FakeCupti {
  bool records_to_us = true;
  bool subscribed = false;
  bool per_thread = true;
  bool held_by_us = false;
  int probes = 0;
  std::uint32_t correlation = 1000;  // of the next call
  CUpti_CallbackFunc callback = nullptr;
} g_cupti;

CUptiResult CUPTIAPI Subscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback, void*) {
  if (g_cupti.subscribed) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  g_cupti.callback = callback;
  g_cupti.held_by_us = true;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Unsubscribe(CUpti_SubscriberHandle) {
  g_cupti.held_by_us = false;
  g_cupti.callback = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI EnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                    CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI GetAttribute(CUpti_ActivityAttribute, std::size_t*, void* value) {
  *static_cast<std::uint8_t*>(value) = g_cupti.per_thread ? 1 : 0;
  return CUPTI_SUCCESS;
}
void MakeCall() {
  CUpti_CallbackData data{};
  data.correlationId = g_cupti.correlation++;
  if (g_cupti.callback != nullptr)
    g_cupti.callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, kProbeCall, &data);
  if (!g_cupti.records_to_us) return;
  ++g_cupti.probes;
  g_counters.Add(Health::kBuffersRequested);
}

class UnseenClientTest : public ::testing::Test {
 protected:
  UnseenClientTest() {
    g_cupti = {};
    g_shared_session.SetSubscribed(false);
    library_.Subscribe = Subscribe;
    library_.Unsubscribe = Unsubscribe;
    library_.EnableCallback = EnableCallback;
    library_.ActivityGetAttribute = GetAttribute;
  }
  void Open() {
    const auto at_safe_point = [this](const std::function<void()>& work, bool anyway) {
      if (somebody_passes_ || anyway) work();
      return somebody_passes_;
    };
    client_.Open(&library_, MakeCall, at_safe_point, 100);
  }
  // Before Open().
  void SelectCalls() {
    library_.ActivityEnableRuntimeApi = library_.ActivityEnableDriverApi =
        [](CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; };
  }
  // Before any call of ours was recorded. That none is, is taken for a sign once.
  void ComesFirstAndLeaves() {
    SelectCalls();
    g_cupti.records_to_us = false;
    g_cupti.subscribed = true;
    Open();
    Flush(1000);
    EXPECT_EQ(Flush(2000), Change::kCame);
    g_cupti.subscribed = false;
    Flush(3000);
    EXPECT_EQ(Flush(4000), Change::kLeft);
    EXPECT_FALSE(client_.ShowsBetweenWindows());
    EXPECT_TRUE(client_.MayShowBetweenWindows());
  }
  Change Flush(std::int64_t now_ns, bool forced = false) {
    may_flush_ = client_.Begin(now_ns, true);
    const Change change = client_.Look({g_cupti.probes, kDecoded}, flush_before_oldest_ns_, forced);
    EXPECT_FALSE(g_cupti.held_by_us);
    return change;
  }

  static constexpr std::uint32_t kDecoded = 999;
  CuptiLibrary library_;
  UnseenClient client_;
  bool may_flush_ = false;  // the latest time
  bool somebody_passes_ = true;
  std::int64_t flush_before_oldest_ns_ = BufferPool::kNone;
};

TEST_F(UnseenClientTest, ComesAndLeaves) {
  Open();
  EXPECT_EQ(Flush(1000), Change::kNone);
  EXPECT_EQ(Flush(2000), Change::kNone);
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  EXPECT_EQ(Flush(3000), Change::kNone) << "a buffer may come late";
  EXPECT_EQ(Flush(4000), Change::kCame);
  EXPECT_EQ(client_.whole_until_ns(), 2000);
  EXPECT_EQ(Flush(5000), Change::kNone);
  g_cupti.subscribed = false;
  EXPECT_EQ(Flush(6000), Change::kNone) << "perhaps it is still at its end";
  EXPECT_EQ(Flush(7000), Change::kLeft);
  EXPECT_EQ(client_.whole_until_ns(), 2000);
  g_cupti.records_to_us = true;
  EXPECT_EQ(Flush(8000), Change::kNone);
  EXPECT_EQ(client_.whole_until_ns(), 8000);
}

TEST_F(UnseenClientTest, ShowsAtTheLastFlushByBuffersThatDoNotComeBack) {
  Open();
  EXPECT_EQ(Flush(1000, true), Change::kNone) << "CUPTI has none";
  g_cupti.records_to_us = false;
  g_shared_session.Lent();
  EXPECT_EQ(Flush(2000), Change::kNone) << "they may come later";
  EXPECT_EQ(Flush(3000, true), Change::kCame);
  EXPECT_EQ(client_.whole_until_ns(), 1000);
  g_shared_session.CameBack();
}

TEST_F(UnseenClientTest, NoFlushBesideOne) {
  Open();
  Flush(1000);
  EXPECT_TRUE(may_flush_);
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  for (int i = 2; i < 10; ++i) {
    Flush(1000 * i);
    EXPECT_FALSE(may_flush_) << "flush " << i;
  }
}

TEST_F(UnseenClientTest, WhereThreadsShareABufferNoSecondFlushBesideOne) {
  g_cupti.per_thread = false;
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  Flush(2000);
  EXPECT_TRUE(may_flush_);
  for (int i = 3; i < 10; ++i) {
    Flush(1000 * i);
    EXPECT_FALSE(may_flush_) << "flush " << i;
  }
}

TEST_F(UnseenClientTest, WithoutASignOfOneThePlaceOfTheSubscriberIsLeftAlone) {
  Open();
  const std::int64_t looks = g_counters.Get(Health::kOtherClientLooks);
  for (int i = 1; i < 10; ++i) {
    Flush(1000 * i);
    EXPECT_TRUE(may_flush_);
    EXPECT_TRUE(client_.Begin(1000 * i + 500, false)) << "while nothing is recorded";
  }
  EXPECT_EQ(g_counters.Get(Health::kOtherClientLooks), looks);
}

TEST_F(UnseenClientTest, AFlushBesideOneThatHasTheCallbacksOfNobody) {
  g_cupti.subscribed = true;
  Open();
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(Flush(1000 * i), Change::kNone);
    EXPECT_TRUE(may_flush_) << "a call brings us a buffer";
  }
}

TEST_F(UnseenClientTest, CameBetweenWindowsAndHasCuptiStill) {
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kCame);
  EXPECT_EQ(client_.whole_until_ns(), 1000);
  EXPECT_FALSE(client_.ShowsBetweenWindows()) << "we stand aside";
  g_cupti.subscribed = false;
  EXPECT_EQ(Flush(4000), Change::kNone);
  EXPECT_EQ(Flush(5000), Change::kLeft);
}

TEST_F(UnseenClientTest, CameAndWentBetweenWindows) {
  Open();
  Flush(1000);
  const std::int64_t stood_aside = g_counters.Get(Health::kOtherClientStoodAside);
  g_cupti.records_to_us = false;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kLeft);
  EXPECT_EQ(g_counters.Get(Health::kOtherClientStoodAside), stood_aside);
  g_cupti.records_to_us = true;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kNone);
}

TEST_F(UnseenClientTest, CameBetweenWindowsAndGotBuffersOfOurs) {
  Open();
  Flush(1000);
  g_shared_session.Lent();
  flush_before_oldest_ns_ = 1000;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kNone);
  client_.NoteBroughtBack(1500);
  EXPECT_EQ(client_.whole_until_ns(), 1000) << "CUPTI has that one still";
  g_cupti.records_to_us = false;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kLeft);
  EXPECT_EQ(client_.whole_until_ns(), 1000);
  g_shared_session.CameBack();
}

TEST_F(UnseenClientTest, NoSignBetweenWindowsWhereThreadsShareABufferOfOurs) {
  g_cupti.per_thread = false;
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;  // the call is in the buffer that CUPTI has
  g_shared_session.Lent();
  EXPECT_FALSE(client_.ShowsBetweenWindows());
  g_shared_session.CameBack();
  EXPECT_TRUE(client_.ShowsBetweenWindows());
}

TEST_F(UnseenClientTest, NoSignBetweenWindowsWhereNoCallOfOursWasEverRecorded) {
  g_cupti.per_thread = false;
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  Open();
  EXPECT_FALSE(client_.ShowsBetweenWindows());
}

TEST_F(UnseenClientTest, OneComesInTheFirstWindowAfterOneThatCameFirst) {
  ComesFirstAndLeaves();
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kNone) << "no sign yet";
  g_cupti.records_to_us = true;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kNone);
  g_cupti.records_to_us = false;
  EXPECT_TRUE(client_.ShowsBetweenWindows()) << "it means something again";
  EXPECT_EQ(Flush(5000), Change::kNone);
  EXPECT_EQ(Flush(6000), Change::kCame);
}

TEST_F(UnseenClientTest, OneComesBetweenWindowsAfterOneThatCameFirst) {
  ComesFirstAndLeaves();
  g_cupti.subscribed = true;
  somebody_passes_ = false;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kNone)
      << "it may be that no call of ours is ever recorded: that is not looked into anywhere";
  somebody_passes_ = true;
  EXPECT_EQ(client_.LookBetweenWindows(flush_before_oldest_ns_), Change::kCame);
}

TEST_F(UnseenClientTest, BuffersThatCuptiKeepsMayHoldOlderWork) {
  Open();
  g_shared_session.Lent();
  EXPECT_EQ(Flush(1000), Change::kNone);
  EXPECT_EQ(client_.whole_until_ns(), 100);
  EXPECT_EQ(Flush(2000), Change::kNone);
  EXPECT_EQ(client_.whole_until_ns(), 1000);
  g_shared_session.CameBack();
}

TEST_F(UnseenClientTest, HoweverManyFlushesCuptiKeepsThem) {
  Open();
  g_shared_session.Lent();
  flush_before_oldest_ns_ = 700;
  for (const std::int64_t now_ns : {1000, 2000, 3000}) EXPECT_EQ(Flush(now_ns), Change::kNone);
  EXPECT_EQ(client_.whole_until_ns(), 700);
  g_shared_session.CameBack();
  EXPECT_EQ(Flush(4000), Change::kNone);
  EXPECT_EQ(client_.whole_until_ns(), 4000);
}

TEST_F(UnseenClientTest, OneThatHasABufferOfOurs) {
  Open();
  EXPECT_EQ(Flush(1000), Change::kNone);
  g_cupti.records_to_us = false;
  client_.NoteMissing(700);
  EXPECT_TRUE(client_.active());
  EXPECT_EQ(client_.whole_until_ns(), 700);
  for (int look = 1; look < UnseenClient::kLooksNeverSubscribed; ++look)
    EXPECT_EQ(Flush(1000 + look), Change::kNone);
  EXPECT_EQ(Flush(2000), Change::kLeft);
}

TEST_F(UnseenClientTest, OneThatWasDoneBeforeItWasNoticed) {
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  Flush(2000);
  EXPECT_EQ(Flush(3000), Change::kCame);
  for (int look = 1; look < UnseenClient::kLooksNeverSubscribed; ++look)
    EXPECT_EQ(Flush(3000 + 1000 * look), Change::kNone);
  EXPECT_EQ(Flush(10'000), Change::kLeft);
}

TEST_F(UnseenClientTest, OneThatSubscribesLate) {
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  Flush(2000);
  EXPECT_EQ(Flush(3000), Change::kCame);
  EXPECT_EQ(Flush(4000), Change::kNone);
  g_cupti.subscribed = true;
  for (int i = 5; i < 100; ++i) EXPECT_EQ(Flush(1000 * i), Change::kNone);
  g_cupti.subscribed = false;
  EXPECT_EQ(Flush(100'000), Change::kNone);
  EXPECT_EQ(Flush(101'000), Change::kLeft);
}

TEST_F(UnseenClientTest, OurCallbacksAreCalledThereWasNone) {
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  Flush(2000);
  EXPECT_EQ(Flush(3000), Change::kCame);
  g_counters.Add(Health::kBuffersCompleted);
  EXPECT_EQ(Flush(4000), Change::kLeft);
}

TEST_F(UnseenClientTest, OneThatTookCuptiAwayMeanwhileIsGone) {
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  g_cupti.correlation = 1;
  EXPECT_EQ(Flush(2000), Change::kNone);
  EXPECT_EQ(Flush(3000), Change::kLeft);
  EXPECT_EQ(client_.whole_until_ns(), 1000);
  EXPECT_FALSE(client_.active());
}

TEST_F(UnseenClientTest, WhereThreadsShareABufferNothingMayComeForLong) {
  g_cupti.per_thread = false;
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  const std::int64_t looks = g_counters.Get(Health::kOtherClientLooks);
  for (int i = 2; i < 100; ++i) EXPECT_EQ(Flush(1000 * i), Change::kNone);
  EXPECT_LE(g_counters.Get(Health::kOtherClientLooks) - looks, 8) << "ever more seldom";
  g_cupti.subscribed = true;
  int flushes = 100;
  while (Flush(1000 * flushes) != Change::kCame && flushes < 1000) ++flushes;
  EXPECT_LT(flushes, 100 + UnseenClient::kMaxPatience);
}

TEST_F(UnseenClientTest, WhereThreadsShareABufferThatFillsNowAndThen) {
  g_cupti.per_thread = false;
  Open();
  const std::int64_t looks = g_counters.Get(Health::kOtherClientLooks);
  for (int i = 0; i < 400; ++i) {
    g_cupti.records_to_us = i % 4 == 0;
    EXPECT_EQ(Flush(1000 * (i + 1)), Change::kNone);
  }
  EXPECT_LE(g_counters.Get(Health::kOtherClientLooks) - looks, 3);
}

TEST_F(UnseenClientTest, WeakSignsAreNotLookedIntoWhereNoThreadIsKnownToBeInNoCall) {
  g_cupti.per_thread = false;
  somebody_passes_ = false;
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  const std::int64_t looks = g_counters.Get(Health::kOtherClientLooks);
  for (int i = 2; i < 100; ++i) {
    EXPECT_EQ(Flush(1000 * i), Change::kNone);
    EXPECT_TRUE(may_flush_);
  }
  EXPECT_EQ(g_counters.Get(Health::kOtherClientLooks), looks);
}

TEST_F(UnseenClientTest, AClientThatIsSeenMaySubscribe) {
  g_cupti.per_thread = false;
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  g_shared_session.SetSubscribed(true);
  for (int i = 2; i < 100; ++i) EXPECT_EQ(Flush(1000 * i), Change::kNone);
}

TEST_F(UnseenClientTest, ACuptiThatDoesNotRecordTheCallTellsNothing) {
  Open();
  g_cupti.records_to_us = false;
  for (int i = 1; i < 100; ++i) EXPECT_EQ(Flush(1000 * i), Change::kNone);
}

// Records came before the first call was made, or we would not probe.
TEST_F(UnseenClientTest, OneMayHaveComeBeforeTheFirstCall) {
  SelectCalls();
  Open();
  g_cupti.records_to_us = false;
  g_cupti.subscribed = true;
  EXPECT_EQ(Flush(1000), Change::kNone);
  EXPECT_FALSE(may_flush_);
  EXPECT_EQ(Flush(2000), Change::kCame);
  EXPECT_EQ(client_.whole_until_ns(), 100);
  g_cupti.subscribed = false;
  Flush(3000);
  EXPECT_EQ(Flush(4000), Change::kLeft);
  for (int i = 5; i < 100; ++i) EXPECT_EQ(Flush(1000 * i), Change::kNone) << "it is not recorded";
}

TEST_F(UnseenClientTest, AfterTheLastFlushNothingComes) {
  Open();
  Flush(1000);
  g_cupti.records_to_us = false;
  EXPECT_EQ(Flush(2000, true), Change::kCame);
  EXPECT_EQ(client_.whole_until_ns(), 1000);
}

TEST_F(UnseenClientTest, OneThatHasCuptiBeforeWeComeBack) {
  Open();
  EXPECT_FALSE(client_.HasCome(900));
  g_cupti.subscribed = true;
  EXPECT_TRUE(client_.HasCome(1000));
  EXPECT_TRUE(client_.active());
  EXPECT_EQ(client_.whole_until_ns(), 1000);
  EXPECT_EQ(Flush(2000), Change::kNone);
  g_cupti.subscribed = false;
  EXPECT_EQ(Flush(3000), Change::kNone);
  EXPECT_EQ(Flush(4000), Change::kLeft);
}

}  // namespace
}  // namespace traceinject
