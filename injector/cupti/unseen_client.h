// SPDX-License-Identifier: Apache-2.0
// Another client of CUPTI that no wrapper of ours sees, as it finds CUPTI's functions by dlsym
// (Triton's Proton, XLA). It takes our buffer callbacks, and at its end our kinds, or all of CUPTI.
//
// It is known by its effect. Before each flush we make a call that CUPTI records; if CUPTI then
// neither asks us for a buffer nor brings one, somebody else gets the records. From there on we
// leave CUPTI alone, and what we enabled as it is: some of it the other one may want, too. The same
// call shows it between windows, where nothing else is recorded, and just before kinds go off, as
// they would be off for everybody.
//
// Two flushes at a time deadlock. So where the call brought no buffer and somebody subscribes to
// CUPTI, the flush is left out. (Where threads share a buffer the call seldom brings one: there it
// takes flushes that brought none, too, and as a GPU that is never idle may keep a buffer for long,
// ever more of them after each look at which nobody was there.)
//
// Nothing tells when it is done. But while it records it subscribes to CUPTI, which only one client
// can: when nobody does any more we begin anew. We hold that place no longer than it takes to see
// that it is free, only where there are signs of somebody, and on a thread of the program that is
// in no CUDA call: a subscriber that leaves while another thread launches may crash the process
// (tests/gpu/results/cost.md). Where no such thread comes by, weak signs are not looked into. One
// that was not seen to subscribe was most likely done before it was noticed, as a session of
// Proton's over a single step is. If it took CUPTI away at its end (cuptiFinalize), correlation ids
// count from one again, and we begin anew at once; else we wait longer for it, and begin anew all
// the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "injector/cupti/library.h"

namespace traceinject {

// All on the writer thread, without FlushTurn.
class UnseenClient {
 public:
  enum class Change { kNone, kCame, kLeft };
  // Flushes in a row that bring nothing: a buffer may come late.
  static constexpr int kMisses = 2;
  // Looks in a row at which nobody subscribes: a client that ends may still be busy with it.
  static constexpr int kLooks = 2;
  // Of weak signs: flushes in a row that bring nothing before a look, at most.
  static constexpr int kMaxPatience = 64;
  // As kLooks, where nobody did since it was noticed.
  static constexpr int kLooksNeverSubscribed = 6;

  // Does the work on a thread of the program that is in no CUDA call. False: none came by. Then,
  // with `anyway`, the work is done all the same.
  using AtSafePoint = std::function<bool(const std::function<void()>& work, bool anyway)>;

  // `call` makes a call that is recorded as kProbeCall (allow_list.h).
  void Open(const CuptiLibrary* cupti, void (*call)(), AtSafePoint at_safe_point,
            std::int64_t now_ns);

  // While nothing else of ours is recorded, with a call that is: whether CUPTI asks somebody else
  // for the buffer, who came when nothing could show it. kLeft: that one is gone. Where
  // MayShowBetweenWindows().
  Change LookBetweenWindows(std::int64_t flush_before_oldest_ns);
  // In a window, with a call of a thread of which CUPTI has no buffer: the same question. Where
  // ShowsBetweenWindows().
  bool TakesOurs();
  // After a flush, where that was kNone: nothing was recorded since then.
  void NoteBroughtBack(std::int64_t now_ns);
  // What is missing until then is told, and what CUPTI had of ours is given up.
  void NoteTold(std::int64_t now_ns) { heard_ns_ = whole_until_ns_ = now_ns; }
  // Whether that can be told. A buffer that threads share may take the call.
  bool MayShowBetweenWindows() const;
  // And it means something that CUPTI does not ask us.
  bool ShowsBetweenWindows() const;
  // Before a flush; `probing`: with a call, as records are to come. False: leave the flush out.
  bool Begin(std::int64_t now_ns, bool probing);
  // What was decoded so far, at an earlier flush or this one: how many records of such calls, and
  // the latest correlation id.
  struct Decoded {
    std::int64_t probes;
    std::uint32_t correlation;
  };
  // After the flush; `flush_before_oldest_ns`: of the buffers that CUPTI has still
  // (Activity::FlushBeforeOldestNs); `forced`: it was the last flush, after which nothing comes.
  // kLeft may come without kCame.
  Change Look(const Decoded& decoded, std::int64_t flush_before_oldest_ns, bool forced);

  // While we are not there ourselves: whether somebody has CUPTI, or another copy of it, which
  // cannot be used beside ours. True: as after kCame, from `now_ns` on.
  bool HasCome(std::int64_t now_ns);
  // A buffer did not come back by a flush that brings back everything: somebody has come, as after
  // kCame. What was done until `whole_until_ns` is in no such buffer.
  void NoteMissing(std::int64_t whole_until_ns);
  bool active() const { return active_; }
  // Whether the last flush brought nothing, or showed that somebody was gone: the next one may show
  // that somebody has come.
  bool is_in_doubt() const { return misses_ > 0 || has_left_; }
  // What was done by then was recorded for certain: work that is not done keeps back other that is,
  // in the same buffer, at however many flushes.
  std::int64_t whole_until_ns() const { return whole_until_ns_; }

 private:
  // Whether somebody whom we do not see subscribes. Where nobody does, `correlation` is the id of a
  // call of ours, 0 if there is no telling.
  struct Place {
    bool taken;
    std::uint32_t correlation;
  };
  std::optional<Place> LookIntoSigns(bool forced);
  std::optional<Place> LookAtPlace(bool anyway) const;
  bool CanLook() const;
  Place HoldPlace() const;
  bool MeansSomething(std::int64_t probes) const;
  bool IsSuspicious() const;
  bool HasWeakSigns() const;
  void Came(bool subscribed);
  Change LookForItsEnd();

  const CuptiLibrary* cupti_ = nullptr;
  void (*call_)() = nullptr;
  AtSafePoint at_safe_point_;
  bool buffers_per_thread_ = false;
  // Of the last flush.
  std::int64_t began_ns_ = 0;
  bool probed_ = false;
  std::optional<Place> place_;  // as far as we looked
  std::int64_t calls_ = 0;      // that CUPTI had made to us before

  std::int64_t heard_ns_ = 0, whole_until_ns_ = 0;
  bool has_left_ = false;  // and nothing came since
  int misses_ = 0;
  // Of weak signs: flushes in a row, since the last look, that brought nothing, and how many it
  // takes for a look.
  int silent_ = 0, patience_ = 1;
  std::int64_t probes_ = 0;  // records of calls that were decoded by the last flush
  bool shown_ = false;       // TakesOurs() was true once
  bool doubted_ = true;      // that there never was one: it is taken for a sign once
  bool active_ = false;
  bool subscribed_ = false;  // since it is active
  int looks_ = 0;
};

}  // namespace traceinject
