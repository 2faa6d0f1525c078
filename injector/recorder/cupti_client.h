// SPDX-License-Identifier: Apache-2.0
// Us as one client of CUPTI among others: we are there in the windows of the plan, stand aside for
// a client that no wrapper sees (unseen_client.h), begin anew after one that took all of CUPTI
// away, leave CUPTI to a profiler that asks for it (profiler_room.h), and take it out of the
// process between windows where that is asked for (TRACEINJECT_DETACH). What the recording lacks
// for the sake of others becomes rows of capture_gap.
//
// All on the writer thread, but for Begin(). Calls into CUPTI that may wait for the program are
// made outside of the writer's turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "injector/base/log.h"
#include "injector/base/writer_turn.h"
#include "injector/cupti/activity.h"
#include "injector/cupti/memset_limit.h"
#include "injector/cupti/unseen_client.h"
#include "injector/options/options.h"
#include "injector/rows/rows.h"

namespace traceinject {

class CuptiClient {
 public:
  // `drain` decodes what came back so far. All outlive this.
  CuptiClient(const Options* options, std::int64_t base_ns, Batch* batch, Log* log,
              WriterTurn* turn, std::function<void()> drain);

  // Binds CUPTI and, with `recording`, enables the kinds; before anything else, on the thread that
  // initializes CUDA. False: nothing can be recorded, with the reason in *why.
  bool Begin(bool recording, std::string* why);
  // Null: Begin() found none.
  CuptiLibrary* library() const { return library_; }
  Activity& activity() { return activity_; }
  // Sentences about what could not be turned on, each once.
  const std::vector<std::string>& refused() const { return refused_; }

  // Whether anything of ours may call CUPTI.
  bool MayCall() const;
  // Whether work that is done now is recorded.
  bool IsRecording() const;

  // These are false if recording is over for good, since CUPTI is not to be had again.
  // A window of the plan opens. `at_edge` is called as soon as everything is recorded, maybe on a
  // thread of the program.
  using AtEdge = std::function<void()>;
  bool Open(const AtEdge& at_edge);
  // Now and then: whether another client took CUPTI away from under us, and is done with it.
  bool LookForFinalize();
  // At the end: that it did, where nobody has looked since.
  void TellFinalized();
  // Now and then: makes the room that a profiler asks for, or comes back when it is done.
  bool FollowProfiler();
  // Whether it takes a flush to know that nobody whom we do not see got what was done by now.
  bool MayHaveLost() const;
  // Whether it takes another flush to know that.
  bool is_in_doubt() const { return unseen_client_.is_in_doubt(); }
  // After a flush, with what was decoded so far; `forced`: the last one.
  bool LookForOthers(const UnseenClient::Decoded& decoded, bool forced);

  // After a flush, with what was decoded so far: many short memsets are left out (memset_limit.h).
  void LookAtMemsets(MemsetLimit::Seen so_far);

  // A window of the plan ends. `at_edge` is called before anything is recorded no more. False, if
  // it may: somebody whom we do not see has come meanwhile, and nothing was done.
  bool Close(const AtEdge& at_edge, bool may_refuse);
  // When recording began or ended the last time.
  std::int64_t edge_ns() const { return edge_ns_; }
  // When the first of what is recorded was turned on the last time, and which call of another
  // client's session was the latest by then (SharedSession::latest_call).
  std::int64_t first_on_ns() const { return first_on_ns_; }
  std::uint32_t latest_call() const { return latest_call_; }
  // Before a flush; `has_file`: something was recorded by now. False as of the ones above.
  bool BeginFlush(bool has_file);
  // This thread asked the driver for its devices, maybe by calls that CUPTI recorded: it has a
  // buffer for this thread, and asks for none at the next flush.
  void NoteAskedDriver() { asked_driver_ = true; }
  // Activity::Flush(), unless it had better wait (SharedSession::Rests), or must not be.
  bool Flush(bool everything);
  // Nothing is recorded any more.
  void Stop() { activity_.Stop(); }
  // After that: leaves CUPTI where the options ask for it, and nobody else uses it.
  void LeaveIfAsked();

 private:
  // In a window, and no profiler has the room that it asked for.
  bool MayRecord() const { return in_window_ && room_gap_.row == 0; }
  bool Rests() const;
  bool HasNothing() const;
  bool UsesGpu(bool has_file);
  bool LookBetweenWindows();
  bool LacksSome() const;
  void TurnOffWhatIsLeft();
  void BringTheirsBack();
  void RunAtSafePoint(const std::function<void()>& work);
  bool Leave();
  bool HasCome();
  UnseenClient::Change Look(const UnseenClient::Decoded& decoded, bool forced);
  bool RegisterAgain();
  bool ComeBack();
  void MakeRoom();
  bool ComeBackAfterProfiler();
  bool Start(const AtEdge& at_edge = [] {});
  void StandAside(std::int64_t since_ns);
  bool Resume(std::int64_t lost_ns);

  const Options* options_;
  const std::int64_t base_ns_;
  Batch* batch_;
  Log* log_;
  WriterTurn* turn_;
  const std::function<void()> drain_;
  CuptiLibrary* library_ = nullptr;
  Activity activity_;
  UnseenClient unseen_client_;
  MemsetLimit memset_limit_;
  bool memsets_left_out_ = false;
  std::vector<std::string> refused_;
  bool in_window_ = false;
  bool may_flush_ = true;
  bool uses_gpu_ = false, asked_driver_ = false;
  std::int64_t edge_ns_ = 0, first_on_ns_ = 0;
  std::uint32_t latest_call_ = 0;
  CaptureGapRow unseen_gap_{};  // since we stand aside; row 0: we do not
  CaptureGapRow room_gap_{};    // since a profiler has the room that it asked for; the same
  std::uint64_t last_gap_row_;
};

}  // namespace traceinject
