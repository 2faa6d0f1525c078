// SPDX-License-Identifier: Apache-2.0
// The activity side of the fake libcupti: which records are wanted, the buffers that the client
// lends, and the worker thread that gives them back.
//
// It behaves as badly as the real library may:
//   * buffers are asked for on the program's threads, with our lock held, and come back on a worker
//   thread, late
//     (FAKE_CUPTI_DELAY_MS: up to that long after they were full or asked back), out of order and
//     partly filled (FAKE_CUPTI_SHUFFLE: a seed; records inside a buffer are shuffled too);
//   * a forced flush returns records of running work with end 0, and of work that has not begun
//   with start 0 too;
//   * kernels one at a time and concurrent ones exclude each other;
//   * whoever turns copies off turns memsets off too, and conversely, although the other kind stays
//   on: its records do not come until it was turned off itself and on again;
//   * calls that were turned on alone are told only if one of their domain was when cuInit ended,
//   or all of them are on as a kind; to turn that off ends it;
//   * FAKE_CUPTI_MISCOUNT=1: a thread that is in a call while it is turned on or off has the
//   correlation id of that call in all later ones;
//   * a call inside a runtime's is not reported if that one was turned on, or any kind of calls is;
//   FAKE_CUPTI_NESTED=1: it is;
//   * FAKE_CUPTI_DROP=n: the first n records of GPU work are lost and counted as dropped;
//   * FAKE_CUPTI_LAUNCH_NS=n: a launch that is recorded takes the program so much longer;
//   * times of GPU work are converted to a client's clock when the buffer comes back; where the
//   clock was changed meanwhile they are nonsense;
//   * FAKE_CUPTI_STALE_NAMES=1: kernel names are overwritten and freed as soon as the completed
//   callback has returned;
//   * FAKE_CUPTI_NULL_BUFFERS=n: every n-th buffer comes back as a null pointer;
//   * FAKE_CUPTI_TRUNCATE=n: of every buffer the last n bytes, often the end of a record, are not
//   valid and hold garbage;
//   * FAKE_CUPTI_UNFINISHED=1: all of every buffer is valid, and holds records that were not
//   completed after those that were;
//   * any call of it brings it into the process, where it stays until cuptiFinalize; the truth
//   tells of each time (the calls that did). A second copy of the library cannot subscribe or
//   record meanwhile;
//   * FAKE_CUPTI_FAIL: functions that fail, see failing_calls.h;
//   * FAKE_CUPTI_FLUSH_HANG=n: from the n-th on a flush never returns, as with several known faults
//   of the real library, and where a thread holds a lock of CUDA for ever;
//   * FAKE_CUPTI_DISABLE_HANG=1: the same where a kind is turned off;
//   * where the real one crashes or hangs (a null buffer before API version 27, one buffer lent
//   twice at a time, a flush from a callback, two flushes at once, a
//     flush in a forked child), the process is aborted with a message that names the mistake.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/fake_gpu/libraries/client_clock.h"
#include "tests/fake_gpu/simulator/activity_sink.h"

namespace traceinject::fake {

class CuptiSession final : public ActivitySink {
 public:
  // The session of this process; never destroyed.
  static CuptiSession& Get();

  std::uint32_t version() const { return version_; }

  // Brings the library into the process, if it is not there, for a call of `function`. False:
  // another copy is.
  bool Attach(const char* function);

  CUptiResult RegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                CUpti_BuffersCallbackCompleteFunc complete);
  CUptiResult SetKind(CUpti_ActivityKind kind, bool enabled);
  CUptiResult SetCall(Domain domain, CUpti_CallbackId id, bool enabled);
  CUptiResult FlushAll(bool forced);
  void SetPerThreadBuffers(bool on) { per_thread_buffers_ = on; }
  bool per_thread_buffers() const { return per_thread_buffers_; }
  void SetSystemThreadIds(bool on) { system_thread_ids_ = on; }
  bool system_thread_ids() const { return system_thread_ids_; }
  // Times of records, from now on; null: CLOCK_REALTIME.
  void SetClock(CUpti_TimestampCallbackFunc function);
  std::uint64_t Now() const;
  std::size_t TakeDropped() { return dropped_.exchange(0); }
  // Who subscribed; is called at the end of the driver calls that it chose. Null: nobody.
  void SetSubscriber(CUpti_CallbackFunc callback, void* data);
  CUptiResult EnableCallback(CUpti_CallbackId id, bool enabled);
  void Finalize();
  // The calling thread ends: what it recorded into its own buffer goes back.
  void EndThread();

  void OnInitialized() override;
  bool IsTold(CallId call) const override;
  void OnOperation(const Operation& operation) override;
  void OnApi(const ApiRecord& record) override;
  void OnSynchronization(const SynchronizationRecord& record) override;
  void OnMemory(const MemoryRecord& record) override;
  void OnStream(const StreamRecord& record) override;

 private:
  // A record in a buffer; work that runs until `end_ns` is incomplete before.
  struct Slot {
    std::size_t offset = 0, size = 0;
    std::int64_t start_ns = 0, end_ns = 0;
    bool gpu_work = false;
  };
  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t bytes = 0;
    std::size_t limit = 0;  // filled up to here
    std::size_t used = 0;
    std::size_t most_records = 0;        // 0: as many as fit
    const ClientClock* clock = nullptr;  // in force when it was lent
    std::vector<Slot> slots;
    std::vector<std::string*> names;
    std::int64_t complete_ns = 0;  // when all its work has ended
    std::int64_t ready_ns = 0;     // not given back before, unless forced
  };
  using BufferPtr = std::unique_ptr<Buffer>;
  using Calls = std::array<std::atomic<bool>, 1024>;
  using Lock = std::unique_lock<std::mutex>;

  CuptiSession();
  bool Refused(CUptiResult* result) const;
  void CallBack(const ApiRecord& record);
  static void SetKindOfCalls(Calls& calls, std::atomic<bool>& hooked, bool enabled);
  static bool IsAnyOn(const Calls& calls);
  bool IsOn(CallId call) const;
  bool IsHidden(const ApiRecord& record) const;
  void SilenceTransfers(CUpti_ActivityKind kind, bool enabled);
  CUpti_ActivityKind WantedKind(const Operation& operation) const;
  template <typename Add>
  void OrDrop(Add add);
  void Append(const Operation* operation, CUpti_ActivityKind kind,
              const std::vector<std::uint8_t>* encoded);
  Buffer* BufferWithRoom(std::size_t bytes);
  BufferPtr RequestBuffer();
  void Retire(BufferPtr buffer);
  void RetireAll(bool forced);
  bool StartWorker();
  void Work();
  std::vector<BufferPtr> TakeDeliverable(bool forced);
  void Deliver(Buffer& buffer, bool forced);
  void Shuffle(Buffer& buffer);
  void ConvertTimesOf(Buffer& buffer) const;
  void CheckCaller(const char* function) const;

  const std::uint32_t version_;
  const std::int64_t delay_ns_, launch_ns_;
  const bool shuffle_;
  const bool stale_names_;
  const std::size_t truncated_bytes_;
  const bool unfinished_;
  const std::int64_t null_every_;  // 0: none

  std::mutex mutex_;
  std::condition_variable work_, flushed_;
  std::atomic<const ClientClock*> clock_{nullptr};  // never freed: threads may be using it
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::map<int, BufferPtr> current_;  // by thread id; 0: the one that all threads share
  std::vector<BufferPtr> retired_;
  std::set<const std::uint8_t*> lent_;  // what we have
  std::minstd_rand random_;             // under mutex_
  std::minstd_rand order_random_;       // the worker's, without the lock
  std::int64_t delivered_ = 0;          // the worker's, too
  bool flush_wanted_ = false, flush_forced_ = false;
  std::uint64_t flushes_done_ = 0;
  pid_t worker_owner_ = 0;
  std::int64_t left_to_drop_;

  std::int64_t flushes_ = 0;  // that were begun, one at a time
  std::atomic<bool> flushing_{false}, finalized_{false}, attached_{false}, fragile_{false};
  std::atomic<std::size_t> dropped_{0};
  std::atomic<bool> per_thread_buffers_;
  std::atomic<bool> system_thread_ids_{false};
  std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> kinds_{}, silent_{};
  Calls runtime_calls_{}, driver_calls_{};
  std::atomic<bool> runtime_hooked_{false}, driver_hooked_{false};
  std::mutex subscriber_mutex_;
  CUpti_CallbackFunc subscriber_ = nullptr;
  void* subscriber_data_ = nullptr;
  std::array<std::atomic<bool>, 1024> called_back_{};
};

}  // namespace traceinject::fake
