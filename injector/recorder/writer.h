// SPDX-License-Identifier: Apache-2.0
// The one thread that decodes and stores. Everything that producers and CUPTI leave in queues
// becomes rows here, once per flush interval or when a queue fills, and goes to the file in one
// transaction.
//
// The file appears with the first GPU record, so that launchers and shells leave nothing behind.
// What came before it waits in memory, bounded.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "injector/base/counters.h"
#include "injector/base/environment_copy.h"
#include "injector/base/log.h"
#include "injector/base/writer_turn.h"
#include "injector/cupti/decoder.h"
#include "injector/nccl/log_decoder.h"
#include "injector/nccl/log_file.h"
#include "injector/options/options.h"
#include "injector/python/start.h"
#include "injector/recorder/cupti_client.h"
#include "injector/recorder/event_decoder.h"
#include "injector/recorder/recording_file.h"
#include "injector/recorder/samplers.h"
#include "injector/recorder/stall_watch.h"
#include "injector/recorder/window_follower.h"
#include "injector/rows/dictionary.h"

namespace traceinject {

class Writer {
 public:
  // `environment` has to outlive the writer.
  Writer(const Options& options, const EnvironmentCopy& environment, std::int64_t base_ns);

  // On the thread that initializes CUDA, before Run(): binds CUPTI and enables the kinds. False
  // after a failure, which is then handled like Fail().
  bool Begin();
  // Nothing can be recorded: leave the reason in a file once the process uses the GPU.
  void Fail(const std::string& why);

  // The writer thread. Returns after RequestEnd(), when the limit of the file was reached, or when
  // the reason of a failure is written.
  void Run();

  // Ends the recording for good after an error that Run() cannot handle, without decoding any more;
  // when Run() has left or was never called.
  void GiveUp(const std::string& reason) noexcept;

  // A thread beside Run(), for what CUPTI keeps waiting. Where it does not answer, this goes on
  // without it in the writer's place, and so tells of a program that hangs with it; and at the end
  // it does what RequestTelling() asks for.
  void Watch();

  // Another one, which looks at the trigger file: its file system may keep it waiting for good.
  void WatchTrigger();

  // From any thread, when Run() does not return although the end was requested. True: it hangs in
  // CUPTI with GPU work of which no file tells, and Watch() will leave one before it returns.
  bool RequestTelling();

  // When the process ends: what NCCL may still have written for us. Any thread.
  void RemoveNcclLog() const noexcept { nccl_log_.Remove(); }

  // Whether recording is on, as the plan of windows has it. Before Run(), or on its thread.
  bool recording() const { return window_.recording(); }

  // From any thread: flush everything, close the file, return from Run().
  void RequestEnd();

 private:
  void RunFailed();
  // Leaves a file that tells of a hang. It reads nothing that the writer thread changes.
  void WriteHangFile() const noexcept;
  // Turns recording on or off when it is time.
  void FollowWindow();
  void OpenWindow();
  void CloseWindow();
  // All that is ours, where nobody else has come, at a safe point. False: we cannot be there any
  // more.
  bool TurnOff();
  bool LookForOthers(bool forced);
  bool LookBeforeKindsGoOff();
  void ReadNcclLog();
  std::int64_t LongestWait(std::int64_t wait_ns) const;
  void Flush(bool everything);
  // `first`: of a call into CUPTI that does not return.
  void GoOnWithoutCupti(bool first);
  // After a drain, parts of what producers do not end themselves.
  void EndEvents(bool everything);
  // These decode what is waiting, of CUPTI or all, and return the number of GPU records.
  int DrainCupti();
  int DrainQueues();
  void StoreIfMany();
  bool LostGpuWork() const;
  bool IsFull() const;
  bool CreateFile();
  void LeaveReason();
  bool HasTime() const;
  void FinishFile(std::int64_t end);
  void EndFile(std::int64_t end);
  // `may_stop`: false while queues are drained, which stopping would do, too.
  void Store(bool may_stop = true);
  void AddClockPair(bool with_cupti);
  void AddHealth();
  void DescribeCuptiError();
  std::vector<std::string> DisabledSources() const;
  std::string HealthDetail(Health id) const;
  // `since_ns`: when what is missing begins; 0: now.
  void StopAtLimit(const std::string& reason, std::int64_t since_ns = 0);
  void TellWhyGivenUp(const std::string& reason);
  void AddStartFacts();
  void StartSamplers();
  void CountStalls();
  void TellSamplers();
  void TakeSamples(bool everything);

  Options options_;
  const EnvironmentCopy& environment_;
  std::int64_t base_ns_;
  WriterTurn turn_;  // who may use what is here
  Log log_;
  Batch batch_;
  Dictionary dictionary_;
  CuptiClient cupti_client_;
  std::unique_ptr<ActivityDecoder> activity_decoder_;
  EventDecoder event_decoder_;
  NcclLogFile nccl_log_;
  NcclLogDecoder nccl_log_decoder_;
  PythonStart python_start_;
  StallWatch stall_watch_;
  Samplers samplers_;
  RecordingFile file_;
  std::string failure_;                // why nothing is recorded
  bool last_stored_ = true;            // whether the last transaction went through
  std::string write_error_;            // why the last that failed did not
  std::vector<std::string> disabled_;  // of other sources than CUPTI: those that could not be had
  bool gave_up_ = false;               // the file could not be created, or its limit was reached
  std::size_t rows_per_transaction_;
  WindowFollower window_;
  std::uint64_t window_gaps_ = 0;
  std::string cupti_error_;  // the first one, in CUPTI's words
  std::atomic<bool> end_requested_{false};
  std::atomic<bool> telling_requested_{false};
  Wake watch_wake_, trigger_wake_;
  std::atomic<std::int64_t> end_requested_ns_{0};  // monotonic
  clockid_t cpu_clock_ = CLOCK_THREAD_CPUTIME_ID;  // of Run()'s thread
  std::atomic<bool> has_told_{false};              // there is a file, or nobody could make one
};

}  // namespace traceinject
