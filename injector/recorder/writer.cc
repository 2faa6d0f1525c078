// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/writer.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/cuda/driver.h"
#include "injector/cuda/stream_ids.h"
#include "injector/cupti/errors.h"
#include "injector/cupti/shared_session.h"
#include "injector/environment/environment.h"
#include "injector/nccl/log_name.h"
#include "injector/python/touched.h"
#include "injector/rows/event_tables.h"
#include "injector/rows/process_facts.h"
#include "injector/tries/tried.h"

namespace traceinject {
namespace {

// Rows that wait in memory at most, while no GPU work has shown that a file is wanted, and
// dictionary rows while the file cannot be written.
constexpr std::size_t kMaxWaitingRows = 200'000;
// A transaction between flushes when so many rows are decoded.
constexpr std::size_t kRowsPerTransaction = 500'000;
// How often NCCL's log is looked for: what a process that is killed in between leaves behind.
constexpr std::int64_t kNcclLogLookNs = 50'000'000;
// Between rounds of Watch().
constexpr std::int64_t kLongestWatchNs = 1'000'000'000;

std::size_t MostRowsPerTransaction(const Options& options) {
  if (!options.keep_last) return kRowsPerTransaction;
  const KeepLastRoom room({options.max_size_bytes, options.keep_last_ns});
  return std::min(kRowsPerTransaction, RowsOfBytes(room.transaction_bytes));
}

std::string Join(const std::vector<std::string>& sentences) {
  std::string joined;
  for (const std::string& sentence : sentences) joined += (joined.empty() ? "" : "; ") + sentence;
  return joined;
}

}  // namespace

Writer::Writer(const Options& options, const EnvironmentCopy& environment, std::int64_t base_ns)
    : options_(options),
      environment_(environment),
      base_ns_(base_ns),
      dictionary_(&batch_, options.keep_last),
      cupti_client_(&options_, base_ns, &batch_, &log_, &turn_, [this] { DrainQueues(); }),
      event_decoder_(base_ns, &dictionary_, &batch_),
      nccl_log_(options.nccl_log ? NcclLogPath(environment) : std::string()),
      nccl_log_decoder_(&dictionary_, &batch_, &event_decoder_.nccl().communicators()),
      stall_watch_(options.stall_ns, &dictionary_, &batch_),
      samplers_(&options_, &environment_, base_ns),
      file_(&options_, &environment_, base_ns, &log_),
      rows_per_transaction_(MostRowsPerTransaction(options)),
      window_(options.window, TriggerFile(file_.TriggerPath(), base_ns)) {
  log_.Open(options_);
  if (options_.nccl_log && NcclLogPath(environment).empty()) g_counters.Add(Health::kNcclLogFailed);
}

bool Writer::Begin() {
  std::string why;
  window_.Follow();
  if (!cupti_client_.Begin(recording(), &why)) {
    Fail(why);
    return false;
  }
  if (!recording()) batch_.gaps.push_back(window_.BeginGap(0, ++window_gaps_));
  activity_decoder_ =
      std::make_unique<ActivityDecoder>(cupti_client_.library(), base_ns_, &dictionary_, &batch_);
  if (!recording()) activity_decoder_->BeginGap(0, 0);
  return true;
}

void Writer::Fail(const std::string& why) {
  failure_ = why;
  g_counters.Add(Health::kStartFailed);
  log_.Line("not recording: " + why);
}

void Writer::RequestEnd() {
  end_requested_ns_.store(ReadClockNs(CLOCK_MONOTONIC), std::memory_order_relaxed);
  end_requested_.store(true, std::memory_order_release);
  g_wake.Post();
}

void Writer::Run() {
  const std::lock_guard turn(turn_);
  pthread_getcpuclockid(pthread_self(), &cpu_clock_);
  if (!failure_.empty()) return RunFailed();
  g_shared_session.SetOwnThread();
  const std::int64_t interval_ns = options_.flush_ms * 1'000'000;
  std::int64_t next_flush = ReadClockNs(CLOCK_MONOTONIC) + interval_ns;
  while (!gave_up_ && !end_requested_.load(std::memory_order_acquire)) {
    const std::int64_t now = ReadClockNs(CLOCK_MONOTONIC);
    if (now >= next_flush) {
      Flush(false);
      // From the end of this one: a slow disk must not make flushes back to back.
      next_flush = ReadClockNs(CLOCK_MONOTONIC) + interval_ns;
      continue;
    }
    if (options_.python) python_start_.Tick(now);
    FollowWindow();
    const std::int64_t next_start = options_.python ? python_start_.next_ns() : next_flush;
    g_wake.Wait(LongestWait(std::min({next_flush, next_start, window_.NextLookNs()}) - now));
    DrainQueues();  // woken early: a queue is filling, or there is a new worker
    if (nccl_log_.awaited()) ReadNcclLog();
    if (!cupti_client_.LookForFinalize() || !cupti_client_.FollowProfiler())
      StopAtLimit("other_client");
    TellSamplers();
    StoreIfMany();
  }
  if (gave_up_) return;
  samplers_.Stop();
  cupti_client_.TellFinalized();
  Flush(true);
  if (file_.is_open()) EndFile(NowNs() - base_ns_);
}

// At the end of the process there is so much time; half of it is for what comes before.
bool Writer::HasTime() const {
  return !end_requested_.load(std::memory_order_acquire) ||
         ReadClockNs(CLOCK_MONOTONIC) - end_requested_ns_.load(std::memory_order_relaxed) <
             options_.exit_ms * 1'000'000 / 2;
}

void Writer::FinishFile(std::int64_t end) {
  file_.Finish(end, [this] { return HasTime(); });
}

void Writer::EndFile(std::int64_t end) {
  if (!last_stored_) {  // for the counters there may be room
    AddHealth();
    Store();
    if (!file_.is_open()) return;
  }
  const bool complete = last_stored_;
  FinishFile(end);
  if (!complete) LeaveReason();
}

void Writer::FollowWindow() {
  if (!window_.Follow()) return;
  if (recording()) {
    OpenWindow();
  } else {
    CloseWindow();
  }
}

void Writer::OpenWindow() {
  DrainQueues();
  // Of a thread that was just telling when the last window ended.
  event_decoder_.nvtx().ForgetRanges();
  const auto record = [this] { g_sources.store(SourcesOf(options_), std::memory_order_relaxed); };
  if (!cupti_client_.Open(record)) return StopAtLimit("other_client");
  activity_decoder_->EndGap(cupti_client_.first_on_ns() - base_ns_, cupti_client_.latest_call());
  const std::int64_t now = cupti_client_.edge_ns() - base_ns_;
  stall_watch_.Forget(now);
  batch_.gaps.push_back(window_.EndGap(now));
  samplers_.NoteWindow();
  log_.Line("window opened");
}

bool Writer::TurnOff() {
  constexpr int kTries = 3;
  const auto at_edge = [] { g_sources.store(0, std::memory_order_relaxed); };
  int tries = 0;
  do {
    if (!LookBeforeKindsGoOff()) return false;
  } while (!cupti_client_.Close(at_edge, ++tries < kTries));
  activity_decoder_->BeginGap(cupti_client_.edge_ns() - base_ns_, NowNs() - base_ns_);
  return true;
}

void Writer::CloseWindow() {
  if (!TurnOff()) return StopAtLimit("other_client");
  samplers_.NoteWindow();
  batch_.gaps.push_back(window_.BeginGap(cupti_client_.edge_ns() - base_ns_, ++window_gaps_));
  event_decoder_.nvtx().ForgetRanges();
  stall_watch_.Forget(NowNs() - base_ns_);
  log_.Line("window closed");
}

bool Writer::LookForOthers(bool forced) {
  return cupti_client_.LookForOthers(
      {activity_decoder_->probes(), activity_decoder_->correlation()}, forced);
}

// What we turn off is off for everybody. And afterwards nothing is recorded that could show whether
// somebody else got the records of it.
bool Writer::LookBeforeKindsGoOff() {
  constexpr int kFlushes = 2 * UnseenClient::kMisses + 1;  // one comes as soon as another is gone
  for (int flush = 0; flush < kFlushes && cupti_client_.MayHaveLost(); ++flush) {
    if (!cupti_client_.BeginFlush(file_.is_open())) return false;
    const bool flushed = cupti_client_.Flush(false);
    DrainQueues();
    if (flushed && !LookForOthers(false)) return false;
    if (!cupti_client_.is_in_doubt()) break;
  }
  return true;
}

std::int64_t Writer::LongestWait(std::int64_t wait_ns) const {
  return nccl_log_.awaited() ? std::min(wait_ns, kNcclLogLookNs) : wait_ns;
}

void Writer::ReadNcclLog() {
  nccl_log_.Poll([this](std::string_view line) { nccl_log_decoder_.Decode(line); });
}

// A process that only counts devices needs no message; one that uses a GPU gets a file with the
// reason.
void Writer::RunFailed() {
  bool used = false;
  while (!used) {
    const bool ending = end_requested_.load(std::memory_order_acquire);
    used = HasActiveContext();
    ReadNcclLog();
    if (ending) break;
    if (!used) g_wake.Wait(LongestWait(options_.flush_ms * 1'000'000));
  }
  if (!used || !CreateFile()) return;
  AddHealth();
  Store();
  FinishFile(NowNs() - base_ns_);
}

void Writer::Flush(bool everything) {
  const std::int64_t start = ReadClockNs(CLOCK_MONOTONIC);
  batch_.flush = dictionary_.BeginFlush();
  if (!cupti_client_.BeginFlush(file_.is_open())) return StopAtLimit("other_client");
  const bool all = everything || (cupti_client_.IsRecording() &&
                                  stall_watch_.WantsAll(StallWatch::ReadMoment(base_ns_)));
  const bool flushed = cupti_client_.Flush(all);
  const int gpu_records = DrainQueues();
  if (flushed && !LookForOthers(everything)) return StopAtLimit("other_client");
  cupti_client_.LookAtMemsets(activity_decoder_->memsets());
  activity_decoder_->EndFlush(all, [this] { StoreIfMany(); });
  EndEvents(everything);
  if (cupti_client_.IsRecording()) {
    stall_watch_.Judge(StallWatch::ReadMoment(base_ns_));
  } else if (recording()) {
    stall_watch_.Forget(NowNs() - base_ns_);  // what completes is not reported to us
  }
  CountStalls();
  if (!file_.is_open()) {
    if (gpu_records == 0 && batch_.kernels.empty() && batch_.memcpys.empty() &&
        batch_.memsets.empty() && !LostGpuWork() && !stall_watch_.stalled()) {
      if (EventRows(batch_) > kMaxWaitingRows) DropEvents(&batch_);
      return;
    }
    if (!CreateFile()) {
      StopAtLimit("");
      return;
    }
  }
  TellSamplers();
  TakeSamples(everything);
  AddClockPair(true);
  AddHealth();
  Store();
  if (gave_up_) return;
  const std::int64_t microseconds = (ReadClockNs(CLOCK_MONOTONIC) - start) / 1000;
  g_counters.Add(Health::kWriterFlushes);
  g_counters.Add(Health::kWriterFlushTotalUs, microseconds);
  g_counters.Max(Health::kWriterFlushMaxUs, microseconds);
  if (!everything && IsFull()) {
    g_counters.Set(Health::kFileMaxSize, 1);
    const bool is_off = recording() && TurnOff();
    StopAtLimit("max_size", is_off ? cupti_client_.edge_ns() : 0);
  }
}

void Writer::CountStalls() {
  const std::int64_t before = g_counters.Get(Health::kGpuStalls);
  g_counters.Set(Health::kGpuStalls, stall_watch_.count());
  if (stall_watch_.count() > before) samplers_.NoteStall();
}

// Rows that give way to new ones keep the file small, unless what is left is too much alone.
bool Writer::IsFull() const {
  return file_->bytes() >= options_.max_size_bytes * (options_.keep_last ? 2 : 1);
}

void Writer::EndEvents(bool everything) {
  event_decoder_.nccl().EndFlush(everything);
  ReadNcclLog();
  nccl_log_decoder_.EndFlush();
  event_decoder_.nvtx().StoreOpenRanges();
}

void Writer::Watch() {
  std::int64_t interval_ns = std::min(options_.flush_ms * 1'000'000, kLongestWatchNs);
  if (options_.stall_ns != 0) interval_ns = std::min(interval_ns, options_.stall_ns / 2);
  const std::int64_t looks = options_.stall_ns / interval_ns + 1;
  while (!end_requested_.load(std::memory_order_acquire)) {
    if (g_state.load(std::memory_order_acquire) == State::kDone) return;
    watch_wake_.Wait(interval_ns);
    if (options_.stall_ns != 0) turn_.Look(looks, [this](bool first) { GoOnWithoutCupti(first); });
  }
  while (!telling_requested_.load(std::memory_order_acquire)) watch_wake_.Wait(kLongestWatchNs);
  WriteHangFile();
}

void Writer::WatchTrigger() {
  while (!end_requested_.load(std::memory_order_acquire) &&
         g_state.load(std::memory_order_acquire) != State::kDone) {
    trigger_wake_.Wait(window_.next_trigger_look_ns() - ReadClockNs(CLOCK_MONOTONIC));
    if (window_.LookAtTrigger(ReadClockNs(CLOCK_MONOTONIC))) g_wake.Post();
  }
}

// In the middle of a flush: it ends here, and what follows is another one.
void Writer::GoOnWithoutCupti(bool first) {
  if (end_requested_.load(std::memory_order_acquire)) return;
  if (first) {
    g_counters.Add(Health::kCuptiUnanswered);
    log_.Line("CUPTI does not respond");
  }
  event_decoder_.Drain([this] { StoreIfMany(); });
  EndEvents(false);
  if (cupti_client_.IsRecording()) stall_watch_.JudgeUnanswered(StallWatch::ReadMoment(base_ns_));
  CountStalls();
  if (!file_.is_open() && (g_counters.Get(Health::kBuffersRequested) == 0 ||
                           has_told_.load(std::memory_order_relaxed) || !CreateFile())) {
    if (EventRows(batch_) > kMaxWaitingRows) DropEvents(&batch_);
    return;
  }
  TellSamplers();
  TakeSamples(false);
  AddClockPair(false);
  if (IsFull()) DropEvents(&batch_);  // recording ends when CUPTI is back
  AddHealth();
  Store(false);
  batch_.flush = dictionary_.BeginFlush();
}

bool Writer::RequestTelling() {
  if (!turn_.IsGivenUp() || has_told_.load(std::memory_order_relaxed) ||
      g_counters.Get(Health::kBuffersRequested) == 0)
    return false;
  telling_requested_.store(true, std::memory_order_release);
  watch_wake_.Post();
  return true;
}

void Writer::WriteHangFile() const noexcept {
  try {
    file_.WriteHangFile(cupti_client_.library());
  } catch (...) {  // out of memory
  }
}

int Writer::DrainCupti() {
  // CUPTI walks the records. What came back while we left waits, at most for the end.
  if (!cupti_client_.MayCall() && !end_requested_.load(std::memory_order_relaxed)) return 0;
  Activity& activity = cupti_client_.activity();
  int gpu_records = 0;
  for (const CompletedBuffer& buffer : activity.TakeCompleted()) {
    gpu_records += activity_decoder_->Decode(buffer, [this] { StoreIfMany(); });
    activity.Recycle(buffer);
  }
  return gpu_records;
}

int Writer::DrainQueues() {
  samplers_.LookAtCallers();
  const int gpu_records = DrainCupti();
  event_decoder_.Drain([this] { StoreIfMany(); });
  return gpu_records;
}

// Between flushes, so that memory stays bounded in bursts, and transactions in a file that has to
// make room for them. With the counters, so that they agree with the rows whenever the process
// dies.
void Writer::StoreIfMany() {
  if (!file_.is_open() || gave_up_ || EventRows(batch_) < rows_per_transaction_) return;
  stall_watch_.Look();
  samplers_.JoinCalls(batch_, &dictionary_);
  AddHealth();
  Store(false);
}

// Work whose records are lost is work, too: the recording says so.
bool Writer::LostGpuWork() const {
  for (Health lost : {Health::kCuptiDropped, Health::kBuffersExhausted, Health::kBuffersDamaged,
                      Health::kOtherClientStoodAside}) {
    if (g_counters.Get(lost) != 0) return true;
  }
  return g_counters.Get(Health::kCuptiErrors) != 0 && HasActiveContext();
}

bool Writer::CreateFile() {
  std::string why;
  const bool created = file_.Create(cupti_client_.library(), &why);
  has_told_.store(true, std::memory_order_relaxed);
  if (!created) {
    failure_ = why;
    g_counters.Add(Health::kStartFailed);
    LeaveReason();
    return false;
  }
  AddStartFacts();
  // Of a program that is ending there is nothing to sample, and its libraries are being unloaded:
  // no thread of ours may load others.
  if (!end_requested_.load(std::memory_order_acquire)) StartSamplers();
  return true;
}

// The file cannot be written: the counters, which tell why and what is lost, go to another one.
void Writer::LeaveReason() {
  if (!file_.CreateElsewhere(cupti_client_.library())) return;
  DropEvents(&batch_);
  batch_ = Batch();
  AddHealth();
  Store();
  FinishFile(NowNs() - base_ns_);
}

void Writer::StartSamplers() {
  if (!failure_.empty()) return;
  // The file may have been made because of a stall.
  for (std::string& failed :
       samplers_.Start(batch_.devices, cupti_client_.library(), stall_watch_.stalled()))
    disabled_.push_back(std::move(failed));
  event_decoder_.SetStacks(samplers_.stacks());
}

void Writer::TellSamplers() {
  if (file_.is_open()) samplers_.Tell(event_decoder_.python().TakeWorkers(), batch_.streams);
}

void Writer::TakeSamples(bool everything) {
  for (SystemFactRow& fact : TakeTried()) batch_.facts.push_back(std::move(fact));
  samplers_.Take(everything, &dictionary_, &batch_);
}

void Writer::AddStartFacts() {
  batch_.devices = ReadDevices();
  cupti_client_.NoteAskedDriver();
  for (SystemFactRow& fact : ReadEnvironmentFacts(environment_.block()))
    batch_.facts.push_back(std::move(fact));
  for (const Options::Changed& option : options_.changed)
    batch_.facts.push_back({"option", option.name, option.value, {}});
  batch_.facts.insert(batch_.facts.end(), file_.facts().begin(), file_.facts().end());
}

void Writer::Store(bool may_stop) {
  last_stored_ = file_->Write(batch_);
  g_counters.Set(Health::kWriterReopened, file_->reopened());
  if (last_stored_) {
    CountStored(batch_);
    const std::uint32_t flush = batch_.flush;
    batch_ = Batch();
    batch_.flush = flush;
    if (const RunFile::Removed removed = file_->TakeRemoved(); removed.flush != 0)
      dictionary_.ForgetUnused(removed.flush, removed.kept);
    return;
  }
  g_counters.Add(Health::kWriterErrors);
  write_error_ = file_->last_error();
  log_.Line("a transaction failed: " + write_error_);
  // The dictionary rows stay for the next transaction: later events refer to them.
  DropEvents(&batch_);
  if (may_stop && !gave_up_ && DictionaryRows(batch_) > kMaxWaitingRows)
    StopAtLimit("write_errors");
}

void Writer::AddClockPair(bool with_cupti) {
  ClockPairRow row{};
  row.realtime = NowNs() - base_ns_;
  row.monotonic = ReadClockNs(CLOCK_MONOTONIC);
  row.monotonic_raw = ReadClockNs(CLOCK_MONOTONIC_RAW);
  row.boottime = ReadClockNs(CLOCK_BOOTTIME);
  std::uint64_t cupti_now = 0;
  const CuptiLibrary* cupti = cupti_client_.library();
  if (with_cupti && g_shared_session.attached() && cupti->GetTimestamp != nullptr &&
      CuptiSucceeded("cuptiGetTimestamp", cupti->GetTimestamp(&cupti_now))) {
    const std::int64_t realtime_ns = activity_decoder_->RealtimeNs(cupti_now);
    row.has_cupti = realtime_ns != 0;
    row.cupti = realtime_ns - base_ns_;
  }
  batch_.clock_pairs.push_back(row);
}

void Writer::DescribeCuptiError() {
  const CuptiError first = FirstCuptiError();
  if (first.function == nullptr || !cupti_error_.empty() || !cupti_client_.MayCall()) return;
  cupti_error_ = "the first: " + std::string(first.function) + ": " +
                 cupti_client_.library()->Describe(first.result);
}

// Sentences.
std::vector<std::string> Writer::DisabledSources() const {
  std::vector<std::string> sources = cupti_client_.refused();
  sources.insert(sources.end(), disabled_.begin(), disabled_.end());
  if (const std::string plugin = ForeignNcclPlugin(); !plugin.empty()) {
    sources.push_back("NCCL algorithms and protocols: another NCCL profiler plug-in " + plugin +
                      " is installed and is used; to record with traceinject instead, set "
                      "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN");
  }
  return sources;
}

// What a counter is about, in words, where there are some.
std::string Writer::HealthDetail(Health id) const {
  switch (id) {
    case Health::kStartFailed:
      return failure_;
    case Health::kWriterErrors:
      return write_error_;
    case Health::kCuptiErrors:
      return cupti_error_;
    case Health::kGpuStalls:
      return stall_watch_.detail();
    case Health::kNcclLogFailed:
      return !nccl_log_.failure().empty()
                 ? nccl_log_.failure()
                 : "NCCL_DEBUG, NCCL_DEBUG_SUBSYS or NCCL_DEBUG_FILE was already set";
    case Health::kPythonInstalled:
      return TouchedByHooks().Get();
    case Health::kStartDisabledSource:
      return Join(DisabledSources());
    case Health::kStartUnknownOption:
      return Join(options_.unknown);
    case Health::kStartInvalidOption:
      return Join(options_.invalid);
    default:
      return samplers_.DetailOf(id);
  }
}

// The counters of this moment; each row replaces the one before. Rows stored by the transaction
// that carries them are counted in it, so that a file is consistent whenever the process dies.
void Writer::AddHealth() {
  DescribeCuptiError();
  g_counters.Set(Health::kStartDisabledSource, static_cast<std::int64_t>(DisabledSources().size()));
  g_counters.Set(Health::kStartUnknownOption, static_cast<std::int64_t>(options_.unknown.size()));
  g_counters.Set(Health::kStartInvalidOption, static_cast<std::int64_t>(options_.invalid.size()));
  if (file_.is_open()) g_counters.Set(Health::kFileBytes, file_->bytes());
  g_counters.Set(Health::kWriterCpuUs, ReadClockNs(cpu_clock_) / 1000);
  const CounterValues pending = RowsToStore(batch_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(Health::kCount); ++i) {
    const auto id = static_cast<Health>(i);
    const HealthCounterInfo& info = kHealthCounters[i];
    const std::int64_t value = g_counters.Get(id) + pending[i];
    const bool always = info.counter == "seen" || info.counter == "stored";
    if (value == 0 && !always) continue;
    batch_.health.push_back(
        {std::string(info.source), std::string(info.counter), value, HealthDetail(id)});
  }
}

// Recording ends for good while the program goes on. Kinds are turned off, so that the program pays
// nothing more.
void Writer::StopAtLimit(const std::string& reason, std::int64_t since_ns) {
  g_state.store(State::kDone, std::memory_order_release);
  cupti_client_.Stop();
  samplers_.Stop();
  gave_up_ = true;
  if (!file_.is_open()) return;
  const std::int64_t now = NowNs() - base_ns_;
  cupti_client_.Flush(true);
  DrainQueues();
  cupti_client_.LeaveIfAsked();
  activity_decoder_->EndFlush(true);
  event_decoder_.nccl().EndFlush(true);
  ReadNcclLog();
  nccl_log_decoder_.EndFlush();
  TakeSamples(true);
  if (!reason.empty())
    batch_.gaps.push_back({since_ns != 0 ? since_ns - base_ns_ : now, -1, reason});
  AddHealth();
  Store();
  log_.Line("recording stopped: " + reason);
  EndFile(now);
}

// Nothing more comes, and what waits gives room to the program and to what follows. CUPTI first:
// what fails for want of memory must not keep it recording.
void Writer::GiveUp(const std::string& reason) noexcept {
  g_state.store(State::kDone, std::memory_order_release);
  gave_up_ = true;
  samplers_.Stop();
  try {
    cupti_client_.Stop();
  } catch (...) {
  }
  DropEvents(&batch_);
  try {
    TellWhyGivenUp(reason);
  } catch (...) {
  }
}

// What is decoded in part is lost; what is committed is safe even if this fails, too.
void Writer::TellWhyGivenUp(const std::string& reason) {
  log_.Line("recording stopped: " + reason);
  if (!file_.is_open()) return;
  const std::int64_t now = NowNs() - base_ns_;
  batch_.gaps.push_back({now, -1, reason});
  AddHealth();
  Store();
  FinishFile(now);
}

}  // namespace traceinject
