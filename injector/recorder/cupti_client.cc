// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/cupti_client.h"

#include <algorithm>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/profiler_room.h"
#include "injector/base/safe_point.h"
#include "injector/cuda/driver.h"
#include "injector/cuda/stream_ids.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {
namespace {

// Rows of capture_gap with a number replace one another: these are not those of windows or stalls.
constexpr std::uint64_t kFirstGapRow = std::uint64_t{1} << 33;

}  // namespace

CuptiClient::CuptiClient(const Options* options, std::int64_t base_ns, Batch* batch, Log* log,
                         WriterTurn* turn, std::function<void()> drain)
    : options_(options),
      base_ns_(base_ns),
      batch_(batch),
      log_(log),
      turn_(turn),
      drain_(std::move(drain)),
      last_gap_row_(kFirstGapRow) {}

bool CuptiClient::Begin(bool recording, std::string* why) {
  activity_.MarkFlush(base_ns_);
  library_ = BindCupti(options_->cupti, why);
  if (library_ == nullptr || !activity_.Register(library_, *options_, why) ||
      (recording && !activity_.Start(&refused_, why)))
    return false;
  in_window_ = recording;
  log_->Line("recording with " + library_->path + ", version " + std::to_string(library_->version));
  for (const std::string& sentence : refused_) log_->Line(sentence);
  BindStreamIds(library_);
  const auto at_safe_point = [](const std::function<void()>& work, bool anyway) {
    return anyway ? g_safe_point.Run(work) : g_safe_point.Offer(work);
  };
  unseen_client_.Open(library_, CountDevices, at_safe_point, base_ns_);
  return true;
}

bool CuptiClient::MayCall() const { return library_ != nullptr && !g_shared_session.detached(); }

// Between windows: another client may be in a flush then, and ours would bring nothing.
bool CuptiClient::HasNothing() const { return !IsRecording() && !g_shared_session.HasLent(); }

bool CuptiClient::Rests() const { return g_shared_session.Rests(ReadClockNs(CLOCK_MONOTONIC)); }

bool CuptiClient::Flush(bool everything) {
  if (!may_flush_ || (!everything && (Rests() || HasNothing()))) return true;
  const WriterTurn::Outside outside(turn_);
  return activity_.Flush(everything);
}

bool CuptiClient::IsRecording() const { return MayRecord() && g_shared_session.attached(); }

bool CuptiClient::MayHaveLost() const { return IsRecording() && !g_shared_session.IsUsedByThem(); }

bool CuptiClient::Open(const AtEdge& at_edge) {
  in_window_ = true;
  if (!MayRecord()) {
    first_on_ns_ = edge_ns_ = NowNs();
    at_edge();
    return true;
  }
  if (g_shared_session.detached() && !ComeBack()) return false;
  BringTheirsBack();
  if (!LookBetweenWindows()) return false;
  Start(at_edge);
  return true;
}

// Else what is turned on next would go to somebody who came meanwhile, and a flush might come
// beside that one's cuptiFinalize, which corrupts the heap.
bool CuptiClient::LookBetweenWindows() {
  if (!g_shared_session.attached() || g_shared_session.IsUsedByThem() ||
      !library_->SelectsCalls() || !unseen_client_.MayShowBetweenWindows())
    return true;
  const std::int64_t now_ns = NowNs();
  UnseenClient::Change change = UnseenClient::Change::kNone;
  {
    const WriterTurn::Outside outside(turn_);
    if (!UsesGpu(false)) return true;
    activity_.RecordProbesAlone(true);
    change = unseen_client_.LookBetweenWindows(activity_.FlushBeforeOldestNs());
    activity_.RecordProbesAlone(false);
    if (change == UnseenClient::Change::kNone) {
      activity_.Flush(false);
      unseen_client_.NoteBroughtBack(now_ns);
      return true;
    }
  }
  const std::int64_t whole_ns = unseen_client_.whole_until_ns();
  const bool lost_some = LacksSome();
  if (change == UnseenClient::Change::kCame) {
    StandAside(lost_some ? whole_ns : now_ns);
    return true;
  }
  activity_.StandAside();
  if (lost_some)
    batch_->gaps.push_back(
        {whole_ns - base_ns_, edge_ns_ - whole_ns, "other_client", ++last_gap_row_});
  unseen_client_.NoteTold(now_ns);
  return RegisterAgain();
}

// Between windows: whether some of the last one may not have come back.
bool CuptiClient::LacksSome() const { return unseen_client_.whole_until_ns() < edge_ns_; }

// Somebody came while our kinds were on, and the window ended meanwhile: that one turned off at
// most its own.
void CuptiClient::TurnOffWhatIsLeft() {
  std::vector<std::string> refused;
  std::string why;
  RunAtSafePoint([&] {
    activity_.Start(&refused, &why);
    activity_.Stop();
  });
}

// Of what another client's buffers hold, we take copies as long as we want it.
void CuptiClient::BringTheirsBack() {
  if (!g_shared_session.BuffersAreTheirs()) return;
  const WriterTurn::Outside outside(turn_);
  activity_.Flush(false);
}

bool CuptiClient::HasCome() {
  const WriterTurn::Outside outside(turn_);
  return unseen_client_.HasCome(NowNs());
}

bool CuptiClient::RegisterAgain() {
  std::string why;
  if (activity_.RegisterCallbacks(&why)) return true;
  log_->Line("cannot resume recording: " + why);
  return false;
}

// After Leave(). True also if somebody else has CUPTI: then we are back when that ends.
bool CuptiClient::ComeBack() {
  if (HasCome()) {
    StandAside(unseen_client_.whole_until_ns());
    return true;
  }
  return RegisterAgain();
}

void CuptiClient::RunAtSafePoint(const std::function<void()>& work) {
  const WriterTurn::Outside outside(turn_);
  if (!g_safe_point.Run(work)) g_counters.Add(Health::kCuptiUnsafeEdges);
}

bool CuptiClient::Start(const AtEdge& at_edge) {
  std::string why;
  std::vector<std::string> refused;
  bool started = false;
  RunAtSafePoint([&] {
    first_on_ns_ = NowNs();
    latest_call_ = g_shared_session.latest_call();
    started = activity_.Start(&refused, &why);
    edge_ns_ = NowNs();
    at_edge();
  });
  if (!started) log_->Line("cannot record: " + why);
  for (std::string& sentence : refused) {
    if (std::find(refused_.begin(), refused_.end(), sentence) == refused_.end())
      refused_.push_back(std::move(sentence));
  }
  return started;
}

bool CuptiClient::Close(const AtEdge& at_edge, bool may_refuse) {
  BringTheirsBack();
  const bool shows = MayHaveLost() && uses_gpu_ && library_->SelectsCalls() &&
                     unseen_client_.ShowsBetweenWindows();
  {
    const WriterTurn::Outside outside(turn_);
    const auto may = [&] { return !shows || !may_refuse || unseen_client_.TakesOurs(); };
    const SafePoint::Outcome outcome = g_safe_point.RunIf(may, [&] {
      edge_ns_ = NowNs();
      at_edge();
      activity_.Stop();
    });
    if (outcome == SafePoint::Outcome::kRefused) return false;
    if (outcome == SafePoint::Outcome::kNonePassed) g_counters.Add(Health::kCuptiUnsafeEdges);
    if (shows) {  // before somebody comes who would get what CUPTI has of ours
      activity_.Flush(false);
      unseen_client_.NoteBroughtBack(edge_ns_);
    }
  }
  in_window_ = false;  // until here it may turn out that CUPTI does not answer
  drain_();
  LeaveIfAsked();
  return true;
}

void CuptiClient::LeaveIfAsked() {
  if (options_->detach && !g_shared_session.detached() && !Leave())
    g_counters.Add(Health::kCuptiKept);
}

// All is decoded before, as that calls CUPTI, too. Where another client's work is under way nothing
// is brought back: that may take its records away.
bool CuptiClient::Leave() {
  if (unseen_client_.active() || !activity_.CanLeave()) return false;
  {
    const WriterTurn::Outside outside(turn_);
    activity_.BringBack();
  }
  drain_();
  if (activity_.IsOneGone()) {
    unseen_client_.NoteMissing(activity_.FlushBeforeOldestNs());
    StandAside(unseen_client_.whole_until_ns());
    return false;
  }
  if (!activity_.Leave()) return false;
  g_counters.Add(Health::kCuptiDetached);
  log_->Line("detached from CUPTI");
  return true;
}

bool CuptiClient::FollowProfiler() {
  if (g_profiler_room.awaits_answer()) MakeRoom();
  if (g_profiler_room.wanted() || room_gap_.row == 0) return true;
  log_->Line("the profiler that needed CUPTI is done");
  CaptureGapRow gap = std::exchange(room_gap_, {});
  if (!ComeBackAfterProfiler()) return false;
  gap.dur = ElapsedNs(gap.start, (in_window_ ? edge_ns_ : NowNs()) - base_ns_);
  batch_->gaps.push_back(gap);
  return true;
}

// It takes our callbacks, and all of CUPTI at its end: what is ours is off and has come back
// before.
void CuptiClient::MakeRoom() {
  if (g_shared_session.IsUsedByThem() || g_shared_session.suspended())
    return g_profiler_room.Reply(ProfilerRoom::Answer::kRefused);
  room_gap_ = {NowNs() - base_ns_, -1, "proton", ++last_gap_row_};
  batch_->gaps.push_back(room_gap_);
  if (!g_shared_session.detached()) {
    {
      const WriterTurn::Outside outside(turn_);
      activity_.Stop();
      activity_.BringBack();
    }
    drain_();
    activity_.StandAside();
  }
  g_profiler_room.Reply(ProfilerRoom::Answer::kMade);
}

bool CuptiClient::ComeBackAfterProfiler() {
  if (g_shared_session.detached()) return !in_window_ || Open([] {});
  if (!RegisterAgain()) return false;
  if (in_window_) Start();
  return true;
}

// A process with nothing to record is not probed. That nothing was recorded yet may be the work of
// somebody who has CUPTI since before.
bool CuptiClient::UsesGpu(bool has_file) {
  uses_gpu_ = uses_gpu_ || has_file || HasActiveContext();
  return uses_gpu_;
}

bool CuptiClient::BeginFlush(bool has_file) {
  if (!IsRecording() && (g_shared_session.HasLent() || LacksSome()) && !LookBetweenWindows())
    return false;
  const WriterTurn::Outside outside(turn_);
  const bool asked_driver = std::exchange(asked_driver_, false);
  const bool probes = IsRecording() && !Rests() && !asked_driver && UsesGpu(has_file);
  if (probes) activity_.RecordProbes();
  const std::int64_t now_ns = NowNs();
  activity_.MarkFlush(now_ns);
  may_flush_ = unseen_client_.Begin(now_ns, probes);
  return true;
}

UnseenClient::Change CuptiClient::Look(const UnseenClient::Decoded& decoded, bool forced) {
  const WriterTurn::Outside outside(turn_);
  return unseen_client_.Look(decoded, activity_.FlushBeforeOldestNs(), forced);
}

bool CuptiClient::LookForOthers(const UnseenClient::Decoded& decoded, bool forced) {
  switch (Look(decoded, forced)) {
    case UnseenClient::Change::kCame:
      StandAside(unseen_client_.whole_until_ns());
      break;
    case UnseenClient::Change::kLeft:
      activity_.StandAside();  // where it was gone before we noticed
      return Resume(unseen_client_.whole_until_ns());
    case UnseenClient::Change::kNone:
      break;
  }
  return true;
}

void CuptiClient::LookAtMemsets(MemsetLimit::Seen so_far) {
  // What blocks of steps are compared for stays the same in all of them.
  const bool may_leave_out = !options_->all_memsets && options_->ab_steps == 0;
  // To turn a kind off is nothing to do beside a session of another client's.
  const bool beside_theirs = g_shared_session.wanted(SharedSession::kTheirs).HasAnyKind();
  if (!may_leave_out || memsets_left_out_ || beside_theirs ||
      !memset_limit_.Look(ReadClockNs(CLOCK_MONOTONIC), IsRecording(), so_far))
    return;
  activity_.LeaveMemsetsOut();
  memsets_left_out_ = true;
  g_counters.Set(Health::kMemsetLeftOutMs, (NowNs() - base_ns_) / 1'000'000);
  log_->Line("many short memsets: not recorded from now on");
}

void CuptiClient::StandAside(std::int64_t since_ns) {
  activity_.StandAside();
  unseen_gap_ = {since_ns - base_ns_, -1, "other_client", ++last_gap_row_};
  batch_->gaps.push_back(unseen_gap_);
  log_->Line("another client owns CUPTI; pausing");
}

bool CuptiClient::LookForFinalize() {
  const std::int64_t lost_ns = activity_.TakeFinalized();
  return lost_ns == 0 || g_shared_session.detached() || Resume(lost_ns);
}

void CuptiClient::TellFinalized() {
  const std::int64_t lost_ns = activity_.TakeFinalized();
  if (lost_ns == 0 || !MayRecord() || g_shared_session.detached() || unseen_gap_.row != 0) return;
  batch_->gaps.push_back({lost_ns - base_ns_, -1, "other_client", ++last_gap_row_});
}

bool CuptiClient::Resume(std::int64_t lost_ns) {
  std::string why;
  const bool resumed = activity_.RegisterCallbacks(&why) && (!MayRecord() || Start());
  if (resumed && !MayRecord()) TurnOffWhatIsLeft();
  const std::int64_t now = MayRecord() ? edge_ns_ : NowNs();
  log_->Line(resumed ? "resumed after another client of CUPTI"
                     : "not resumed after another client of CUPTI: " + why);
  if (!resumed) return false;
  batch_->gaps.push_back({lost_ns - base_ns_, now - lost_ns, "other_client", unseen_gap_.row});
  unseen_gap_ = {};
  unseen_client_.NoteTold(now);
  return true;
}

}  // namespace traceinject
