// SPDX-License-Identifier: Apache-2.0
// The CUPTI activity session: buffers go out empty, come back full, and wait in a queue for the
// writer thread.
//
// No subscriber is used: cuptiSubscribe would take the one slot that torch.profiler needs. Another
// client of the activity API shares the session (shared_session.h). Flushes take turns: two
// concurrent cuptiActivityFlushAll calls deadlock, as does one from a CUPTI callback.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "injector/cupti/allow_list.h"
#include "injector/cupti/library.h"
#include "injector/options/options.h"

namespace traceinject {

struct CompletedBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
  bool copied = false;  // records of ours out of another client's buffer
  int clock = 0;        // in force when it came back (record_clock.h)
  int taken_away = 0;   // how often CUPTI had been taken away by then (shared_session.h)
};

class Activity {
 public:
  // Registers the callbacks. False if CUPTI refuses, with the reason in *why.
  bool Register(CuptiLibrary* cupti, const Options& options, std::string* why);

  // Again, after another client's cuptiFinalize() took all of CUPTI away, after StandAside() and
  // after Leave().
  bool RegisterCallbacks(std::string* why);
  // From now on, while anything is recorded, our calls of kProbeCall are as well.
  void RecordProbes();
  // While nothing is: nothing but these.
  void RecordProbesAlone(bool on);

  // A client that we do not see (unseen_client.h) has our callbacks and what CUPTI had of our
  // buffers. Nothing is asked of CUPTI until RegisterCallbacks().
  void StandAside();

  // After Stop(): brings back what CUPTI still has, a second at most (shared_session.h).
  void BringBack();
  // After BringBack() and TakeCompleted(): whether a buffer did not come back all the same. It went
  // to a client that we do not see, which frees it.
  bool IsOneGone() const;
  // Whether Leave() may be tried: no client that is seen uses CUPTI, and it does no harm.
  bool CanLeave() const;
  // After BringBack() and TakeCompleted(): takes CUPTI out of the process, until
  // RegisterCallbacks(); for a client that comes before, the wrappers see to that. False: one came
  // meanwhile, or it cannot be done.
  bool Leave();
  // When that was, once; 0: it did not happen.
  std::int64_t TakeFinalized();

  // Enables the kinds that the options name, after any of these and again after Stop(). Kinds
  // and calls that this CUPTI refuses are listed in `disabled` (as sentences) and left off. False
  // if nothing can be recorded at all, with the reason in *why.
  bool Start(std::vector<std::string>* disabled, std::string* why);

  // Asks CUPTI for what is complete; with `everything`, also for records whose end is not known
  // yet. Blocks, without synchronizing with the GPU. Writer thread only. False:
  // CUPTI failed.
  bool Flush(bool everything);

  // From now on memsets are none of the kinds that Start() enables.
  void LeaveMemsetsOut();

  // Turns all kinds off that nobody else wants; what is in flight still comes back by Flush().
  void Stop();

  // The buffers that came back since the last call, oldest first. The caller walks them
  // (record_walk.h) and returns each by Recycle(). Names in kernel records point to
  // copies that live as long as the process.
  std::vector<CompletedBuffer> TakeCompleted();
  // Before each flush, and before Register().
  void MarkFlush(std::int64_t now_ns);
  // When the last flush before CUPTI asked for the oldest of those of our buffers that it has
  // began, BufferPool::kNone where it has none: what was done by then is in none of them.
  std::int64_t FlushBeforeOldestNs() const;
  void Recycle(const CompletedBuffer& buffer);

  CuptiLibrary* cupti() const { return cupti_; }

 private:
  bool EnableCalls(std::vector<std::string>* disabled);
  bool SetCalls(std::span<const AllowedCall> calls, bool on) const;
  void SwitchProbes(bool on);
  void HoldKinds() const;

  CuptiLibrary* cupti_ = nullptr;
  std::vector<std::string> kinds_;  // as options name them
  bool runtime_calls_ = true;
  bool probing_ = false;
  std::int64_t brought_back_ns_ = 0;  // when BringBack() began the last time
};

}  // namespace traceinject
