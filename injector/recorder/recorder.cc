// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "injector/base/address_room.h"
#include "injector/base/clock.h"
#include "injector/base/log.h"
#include "injector/base/own_thread.h"
#include "injector/base/safe_point.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/cupti/shared_session.h"
#include "injector/environment/environment.h"
#include "injector/options/options.h"
#include "injector/recorder/writer.h"

extern char** environ;

namespace traceinject {
namespace {

// Never destroyed: producers and CUPTI's threads may outlive static destructors.
struct Session {
  const EnvironmentCopy environment{environ};
  Options options;
  std::unique_ptr<Writer> writer;
  pthread_t thread{}, watch{};
  bool has_watch = false;
  pid_t owner = 0;
  std::atomic<bool> finishing{false};
};
std::atomic<Session*> g_session{nullptr};
constinit std::atomic<bool> g_started{false};
constinit std::atomic<bool> g_slot_checked{false};

void* RunWriter(void* data) {
  pthread_setname_np(pthread_self(), "traceinject");
  Writer* writer = static_cast<Session*>(data)->writer.get();
  try {
    writer->Run();
  } catch (...) {  // an exception that leaves a thread ends the program
    writer->GiveUp("out_of_memory");
  }
  return nullptr;
}

void* RunWatch(void* data) {
  pthread_setname_np(pthread_self(), "traceinject-wat");
  try {
    static_cast<Session*>(data)->writer->Watch();
  } catch (...) {  // what it would tell is not reported
  }
  return nullptr;
}

void* RunTriggerWatch(void* data) {
  pthread_setname_np(pthread_self(), "traceinject-tri");
  try {
    static_cast<Session*>(data)->writer->WatchTrigger();
  } catch (...) {  // what a file orders is not heard any more
  }
  return nullptr;
}

constexpr std::size_t kWatchStackBytes = 512 << 10, kTriggerStackBytes = 128 << 10;

// Of the time that the end of the process may take.
constexpr long kWriteHangMs = 1000;
constexpr std::int64_t kMillisecondNs = 1'000'000;

void AfterForkInChild() {
  // CUDA and CUPTI do not survive a fork, and the writer thread is not here.
  if (g_state.load(std::memory_order_relaxed) != State::kArmed)
    g_state.store(State::kDead, std::memory_order_relaxed);
  g_sources.store(0, std::memory_order_relaxed);
}

void AtExit() { FinishRecording(ExitLimitMs()); }
void AtQuickExit() { FinishRecording(kHurryMs); }

// Threads with their stacks, queues, what SQLite keeps.
constexpr std::int64_t kLeastRoomBytes = 64 << 20;

// Empty: recording leaves the program room. What is on the brink of a limit would fail with us, and
// not without.
std::string TooLittleRoom(const Options& options, std::int64_t room_bytes) {
  const std::int64_t needed_bytes = options.buffer_bytes + kLeastRoomBytes;
  if (room_bytes >= needed_bytes) return {};
  return "the limit of the address space (ulimit -v) leaves " +
         std::to_string(std::max<std::int64_t>(room_bytes, 0) >> 20) +
         " MiB, and recording may take " + std::to_string(needed_bytes >> 20) +
         " MiB: raise it, or lower TRACEINJECT_BUFFERS";
}

// False: not even one with the reason can be made, and the log has it. Where there is too little
// for more than that, *why says so.
bool HasRoomForAFile(const Options& options, std::string* why) {
  const std::int64_t room_bytes = AddressRoomBytes();
  const std::string too_little = TooLittleRoom(options, room_bytes);
  if (room_bytes < kLeastRoomBytes) {
    Log log;
    log.Open(options);
    log.Line("not recording: " + too_little);
    return false;
  }
  if (why->empty()) *why = too_little;
  return true;
}

// `why` empty: start recording. Otherwise only the reason will be written, once the GPU is used.
void Start(std::string why) {
  bool first = false;
  if (!g_started.compare_exchange_strong(first, true)) return;
  auto* session = new Session;
  session->options = ParseOptions(session->environment.block());
  if (!session->options.enabled) return;
  if (!HasRoomForAFile(session->options, &why))
    return g_state.store(State::kDone, std::memory_order_release);
  session->owner = getpid();
  session->writer = std::make_unique<Writer>(session->options, session->environment, NowNs());
  const bool running = why.empty() ? session->writer->Begin() : (session->writer->Fail(why), false);
  // Before the writer runs, which may change them.
  if (running && session->writer->recording()) g_sources.store(SourcesOf(session->options));
  // Registered here, after libcuda was loaded, so that it runs before libcuda's own teardown.
  if (pthread_atfork(nullptr, nullptr, AfterForkInChild) != 0 ||
      !StartOwnThread(&session->thread, RunWriter, session)) {
    g_sources.store(0);
    session->writer->GiveUp("no_thread");
    return;
  }
  // Without these recording goes on.
  session->has_watch =
      running && StartOwnThread(&session->watch, RunWatch, session, kWatchStackBytes);
  pthread_t trigger;
  if (running && StartOwnThread(&trigger, RunTriggerWatch, session, kTriggerStackBytes))
    pthread_detach(trigger);  // nobody waits for a thread that may be waiting for its file system
  g_session.store(session, std::memory_order_release);
  atexit(AtExit);
  at_quick_exit(AtQuickExit);
  // The writer may have come to an end already.
  State armed = State::kArmed;
  g_state.compare_exchange_strong(armed, running ? State::kRunning : State::kFailed,
                                  std::memory_order_acq_rel);
}

}  // namespace

void StartRecording() {
  if (g_state.load(std::memory_order_relaxed) == State::kOutside) return;
  try {
    Start({});
  } catch (...) {  // out of memory: the program goes on without us
    g_state.store(State::kDone, std::memory_order_release);
  }
}

long ExitLimitMs() {
  Session* session = g_session.load(std::memory_order_acquire);
  return session == nullptr ? 0 : static_cast<long>(session->options.exit_ms);
}

void FinishRecording(long limit_ms) {
  Session* session = g_session.load(std::memory_order_acquire);
  if (session == nullptr || session->owner != getpid() || session->finishing.exchange(true)) return;
  g_sources.store(0, std::memory_order_relaxed);
  const State state = g_state.load(std::memory_order_relaxed);
  if (state == State::kDead) return;
  g_shared_session.LeaveThem();
  g_safe_point.StopWaiting();
  session->writer->RequestEnd();
  const long tell_ms = std::min(kWriteHangMs, limit_ms / 4);
  bool writer_joined = JoinWithin(session->thread, (limit_ms - tell_ms) * kMillisecondNs);
  bool watch_joined = false;
  if (!writer_joined) {
    // By a thread that is there: where the disk hangs, too, nobody waits for it for long, and in
    // _exit, which may be called anywhere, none can be made.
    if (session->has_watch && session->writer->RequestTelling()) {
      watch_joined = JoinWithin(session->watch, tell_ms * kMillisecondNs);
    } else {
      writer_joined = JoinWithin(session->thread, tell_ms * kMillisecondNs);
    }
  }
  // Nobody waits for them any longer.
  if (!writer_joined) pthread_detach(session->thread);
  if (session->has_watch && !watch_joined) pthread_detach(session->watch);
  g_sources.store(0, std::memory_order_relaxed);  // a window may have opened just before the end
  session->writer->RemoveNcclLog();
  g_state.store(State::kDone, std::memory_order_release);
}

bool SyncWanted() {
  const State state = g_state.load(std::memory_order_acquire);
  if (state == State::kRunning) return Delivers(Source::kSync);
  if (state != State::kArmed || g_slot_checked.load(std::memory_order_relaxed) ||
      g_slot_checked.exchange(true) || g_started.load(std::memory_order_relaxed))
    return false;
  // CUDA is in use, yet nobody called InitializeInjection: another tool holds the slot.
  const std::string owner = ForeignInjection();
  if (!owner.empty()) {
    try {
      Start("CUDA_INJECTION64_PATH was already set to " + owner +
            ": another tool records this process; unset it to record with traceinject");
    } catch (...) {
      g_state.store(State::kDone, std::memory_order_release);
    }
  }
  return false;
}

}  // namespace traceinject
