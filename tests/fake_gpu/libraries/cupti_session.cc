// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/cupti_session.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

#include "tests/fake_gpu/libraries/cupti_records.h"
#include "tests/fake_gpu/simulator/api_call.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/truth.h"

namespace traceinject::fake {
namespace {

// From API version 27 (12.9) a client may refuse to lend a buffer.
constexpr std::uint32_t kBufferRefusalVersion = 27;
constexpr std::uint32_t kPerThreadDefaultVersion = 130000;

thread_local bool inside_callback = false;

[[noreturn]] void Misused(const char* what) {
  std::fprintf(stderr, "fake CUPTI: %s\n", what);
  std::abort();
}

// Tells the session when a thread that has a buffer ends.
struct ThreadEnd {
  bool armed = false;
  ~ThreadEnd() {
    if (armed) CuptiSession::Get().EndThread();
  }
};
thread_local ThreadEnd thread_end;

std::uint32_t ThreadId(bool system) {
  return system ? static_cast<std::uint32_t>(gettid()) : static_cast<std::uint32_t>(pthread_self());
}

}  // namespace

CuptiSession& CuptiSession::Get() {
  static auto* session = new CuptiSession;
  return *session;
}

CuptiSession::CuptiSession()
    : version_(FAKE_CUPTI_MAJOR >= 13 ? FAKE_CUPTI_DEFAULT_VERSION
                                      : static_cast<std::uint32_t>(SettingNumber(
                                            "FAKE_CUPTI_VERSION", FAKE_CUPTI_DEFAULT_VERSION))),
      delay_ns_(SettingNumber("FAKE_CUPTI_DELAY_MS", 0) * 1'000'000),
      launch_ns_(SettingNumber("FAKE_CUPTI_LAUNCH_NS", 0)),
      shuffle_(SettingNumber("FAKE_CUPTI_SHUFFLE", 0) != 0),
      stale_names_(SettingNumber("FAKE_CUPTI_STALE_NAMES", 0) != 0),
      truncated_bytes_(static_cast<std::size_t>(SettingNumber("FAKE_CUPTI_TRUNCATE", 0))),
      unfinished_(SettingNumber("FAKE_CUPTI_UNFINISHED", 0) != 0),
      null_every_(SettingNumber("FAKE_CUPTI_NULL_BUFFERS", 0)),
      random_(static_cast<std::uint32_t>(SettingNumber("FAKE_CUPTI_SHUFFLE", 1))),
      order_random_(random_),
      left_to_drop_(SettingNumber("FAKE_CUPTI_DROP", 0)),
      per_thread_buffers_(version_ >= kPerThreadDefaultVersion) {}

bool CuptiSession::Attach(const char* function) {
  if (!TakeActivitySink(this)) return false;
  if (attached_.exchange(true)) return true;
  if (TruthWanted()) TruthLine("cupti").Text("call", function).Number("time", NowNs()).Write();
  return true;
}

void CuptiSession::CheckCaller(const char* function) const {
  if (inside_callback) {
    std::fprintf(stderr, "fake CUPTI: %s called from a buffer callback: the real one deadlocks\n",
                 function);
    std::abort();
  }
  if (worker_owner_ != 0 && worker_owner_ != getpid()) {
    std::fprintf(stderr, "fake CUPTI: %s called in a forked child\n", function);
    std::abort();
  }
}

// FAKE_CUPTI_ENABLE_ERROR: the code with which every attempt to record fails (another tool holds
// the GPU, driver too old, ...).
bool CuptiSession::Refused(CUptiResult* result) const {
  *result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (GetActivitySink() != this) return true;
  *result = static_cast<CUptiResult>(SettingNumber("FAKE_CUPTI_ENABLE_ERROR", CUPTI_SUCCESS));
  return *result != CUPTI_SUCCESS;
}

CUptiResult CuptiSession::RegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                            CUpti_BuffersCallbackCompleteFunc complete) {
  CUptiResult refusal;
  if (Refused(&refusal)) return refusal;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  CheckCaller("cuptiActivityRegisterCallbacks");
  Lock lock(mutex_);
  if (!StartWorker()) return CUPTI_ERROR_OUT_OF_MEMORY;
  request_ = request;
  complete_ = complete;
  return CUPTI_SUCCESS;
}

void CuptiSession::SetClock(CUpti_TimestampCallbackFunc function) {
  clock_ = function == nullptr ? nullptr : new ClientClock(function);
}

std::uint64_t CuptiSession::Now() const {
  const ClientClock* clock = clock_;
  return clock != nullptr ? clock->Now() : static_cast<std::uint64_t>(NowNs());
}

CUptiResult CuptiSession::SetKind(CUpti_ActivityKind kind, bool enabled) {
  CUptiResult refusal;
  if (enabled && Refused(&refusal)) return refusal;
  // FAKE_CUPTI_REFUSED_KIND: one kind that this library cannot record.
  if (kind <= 0 || kind >= CUPTI_ACTIVITY_KIND_COUNT ||
      kind == SettingNumber("FAKE_CUPTI_REFUSED_KIND", -1)) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  while (!enabled && SettingNumber("FAKE_CUPTI_DISABLE_HANG", 0) != 0) pause();
  if (enabled &&
      ((kind == CUPTI_ACTIVITY_KIND_KERNEL && kinds_[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) ||
       (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kinds_[CUPTI_ACTIVITY_KIND_KERNEL])))
    return CUPTI_ERROR_NOT_COMPATIBLE;
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY || kind == CUPTI_ACTIVITY_KIND_MEMSET)
    SilenceTransfers(kind, enabled);
  const std::int64_t time_ns = NowNs();  // of what was launched before, nothing is recorded
  kinds_[static_cast<std::size_t>(kind)] = enabled;
  if (TruthWanted())
    TruthLine("kind").Number("kind", kind).Number("on", enabled).Number("time", time_ns).Write();
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) SetKindOfCalls(runtime_calls_, runtime_hooked_, enabled);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) SetKindOfCalls(driver_calls_, driver_hooked_, enabled);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME && enabled) fragile_ = true;
  return CUPTI_SUCCESS;
}

// Seen on hardware (tests/gpu/cupti/cupti_calls.cc): a kind of calls is all of them, whatever was
// chosen before; when it is turned off they stay chosen, and no choice has an effect.
void CuptiSession::SetKindOfCalls(Calls& calls, std::atomic<bool>& hooked, bool enabled) {
  hooked = enabled;
  if (!enabled) return;
  for (auto& call : calls) call = true;
}

bool CuptiSession::IsAnyOn(const Calls& calls) {
  return std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.load(); });
}

void CuptiSession::OnInitialized() {
  runtime_hooked_ = IsAnyOn(runtime_calls_);
  driver_hooked_ = IsAnyOn(driver_calls_);
}

// Seen on hardware (tests/gpu/cupti/cupti_gpu_time.cc).
void CuptiSession::SilenceTransfers(CUpti_ActivityKind kind, bool enabled) {
  constexpr auto kCopies = CUPTI_ACTIVITY_KIND_MEMCPY, kSets = CUPTI_ACTIVITY_KIND_MEMSET;
  if (!enabled)
    silent_[kind == kCopies ? kSets : kCopies] = true;
  else if (!kinds_[kind])
    silent_[kind] = false;
}

CUptiResult CuptiSession::SetCall(Domain domain, CUpti_CallbackId id, bool enabled) {
  CUptiResult refusal;
  if (enabled && Refused(&refusal)) return refusal;
  auto& calls = domain == Domain::kRuntime ? runtime_calls_ : driver_calls_;
  if (id == 0 || id >= calls.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  calls[id] = enabled;
  if (domain == Domain::kRuntime && enabled) fragile_ = true;
  return CUPTI_SUCCESS;
}

CUpti_ActivityKind CuptiSession::WantedKind(const Operation& operation) const {
  const auto pick = [this](std::initializer_list<CUpti_ActivityKind> kinds) {
    for (CUpti_ActivityKind kind : kinds) {
      if (kinds_[kind] && !silent_[kind]) return kind;
    }
    return CUPTI_ACTIVITY_KIND_INVALID;
  };
  switch (operation.kind) {
    case OperationKind::kKernel:
      return pick({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL});
    case OperationKind::kMemcpy:
      return pick({CUPTI_ACTIVITY_KIND_MEMCPY});
    case OperationKind::kPeerMemcpy:
      return pick({CUPTI_ACTIVITY_KIND_MEMCPY2});
    case OperationKind::kMemset:
      return pick({CUPTI_ACTIVITY_KIND_MEMSET});
  }
  return CUPTI_ACTIVITY_KIND_INVALID;
}

// Where there is no memory for a record it is lost, and counted.
template <typename Add>
void CuptiSession::OrDrop(Add add) {
  try {
    add();
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

void CuptiSession::OnOperation(const Operation& operation) {
  const CUpti_ActivityKind kind = WantedKind(operation);
  if (kind == CUPTI_ACTIVITY_KIND_INVALID) return;
  if (launch_ns_ > 0) SpinUntil(NowNs() + launch_ns_);
  OrDrop([&] { Append(&operation, kind, nullptr); });
}

void CuptiSession::SetSubscriber(CUpti_CallbackFunc callback, void* data) {
  if (callback != nullptr && IsAnyOn(driver_calls_)) fragile_ = true;
  const std::lock_guard lock(subscriber_mutex_);
  for (auto& call : called_back_) call = false;
  subscriber_ = callback;
  subscriber_data_ = data;
}

CUptiResult CuptiSession::EnableCallback(CUpti_CallbackId id, bool enabled) {
  if (id == 0 || id >= called_back_.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  called_back_[id] = enabled;
  return CUPTI_SUCCESS;
}

void CuptiSession::CallBack(const ApiRecord& record) {
  if (record.domain != Domain::kDriver || record.cbid >= called_back_.size() ||
      !called_back_[record.cbid])
    return;
  const std::lock_guard lock(subscriber_mutex_);
  if (subscriber_ == nullptr) return;
  CUpti_CallbackData data{};
  data.callbackSite = CUPTI_API_EXIT;
  data.correlationId = static_cast<std::uint32_t>(record.correlation);
  subscriber_(subscriber_data_, CUPTI_CB_DOMAIN_DRIVER_API, record.cbid, &data);
}

namespace {

CUpti_ActivityKind KindOf(Domain domain) {
  return domain == Domain::kRuntime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
}

}  // namespace

bool CuptiSession::IsOn(CallId call) const {
  const Calls& calls = call.domain == Domain::kRuntime ? runtime_calls_ : driver_calls_;
  return call.cbid < calls.size() ? calls[call.cbid] : kinds_[KindOf(call.domain)];
}

bool CuptiSession::IsTold(CallId call) const {
  return (call.domain == Domain::kRuntime ? runtime_hooked_ : driver_hooked_) && IsOn(call);
}

bool CuptiSession::IsHidden(const ApiRecord& record) const {
  static const bool tells_nested = SettingNumber("FAKE_CUPTI_NESTED", 0) != 0;
  if (tells_nested || !record.outer) return false;
  return IsOn(*record.outer) || kinds_[CUPTI_ACTIVITY_KIND_RUNTIME] ||
         kinds_[CUPTI_ACTIVITY_KIND_DRIVER];
}

void CuptiSession::OnApi(const ApiRecord& record) {
  CallBack(record);
  if (!IsTold({record.domain, record.cbid}) || IsHidden(record)) return;
  OrDrop([&] {
    const auto encoded = EncodeApi(record, ThreadId(system_thread_ids_));
    Append(nullptr, KindOf(record.domain), &encoded);
  });
}

void CuptiSession::OnSynchronization(const SynchronizationRecord& record) {
  if (!kinds_[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION]) return;
  OrDrop([&] {
    const auto encoded = EncodeSynchronization(record, version_);
    Append(nullptr, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, &encoded);
  });
}

void CuptiSession::OnMemory(const MemoryRecord& record) {
  if (!kinds_[CUPTI_ACTIVITY_KIND_MEMORY2]) return;
  OrDrop([&] {
    const auto encoded = EncodeMemory(record, version_);
    Append(nullptr, CUPTI_ACTIVITY_KIND_MEMORY2, &encoded);
  });
}

void CuptiSession::OnStream(const StreamRecord& record) {
  if (!kinds_[CUPTI_ACTIVITY_KIND_STREAM]) return;
  OrDrop([&] {
    const auto encoded = EncodeStream(record);
    Append(nullptr, CUPTI_ACTIVITY_KIND_STREAM, &encoded);
  });
}

void CuptiSession::Append(const Operation* operation, CUpti_ActivityKind kind,
                          const std::vector<std::uint8_t>* encoded) {
  Lock lock(mutex_);
  if (request_ == nullptr || worker_owner_ != getpid()) return;
  if (operation != nullptr && left_to_drop_ > 0) {
    --left_to_drop_;
    ++dropped_;
    return;
  }
  Buffer* buffer = BufferWithRoom(RecordSize(kind, version_));
  if (buffer == nullptr) {
    ++dropped_;
    return;
  }
  Slot slot{buffer->used, RecordSize(kind, version_)};
  std::vector<std::uint8_t> bytes;
  if (operation != nullptr) {
    const char* name = operation->name;
    if (name != nullptr && stale_names_) {
      buffer->names.push_back(new std::string(name));
      name = buffer->names.back()->c_str();
    }
    bytes = EncodeOperation(*operation, kind, name, version_);
    slot.start_ns = operation->start_ns;
    slot.end_ns = operation->end_ns;
    slot.gpu_work = true;
  } else {
    bytes = *encoded;
  }
  if (const ClientClock* clock = clock_; clock != nullptr && !slot.gpu_work)
    ConvertTimes(bytes.data(), [clock](std::uint64_t time) { return clock->Of(time); });
  std::memcpy(buffer->data + slot.offset, bytes.data(), slot.size);
  buffer->used += slot.size;
  buffer->complete_ns = std::max(buffer->complete_ns, slot.end_ns);
  buffer->slots.push_back(slot);
}

CuptiSession::Buffer* CuptiSession::BufferWithRoom(std::size_t bytes) {
  BufferPtr& current = current_[per_thread_buffers_ ? gettid() : 0];
  if (current != nullptr &&
      (current->used + bytes > current->limit ||
       (current->most_records != 0 && current->slots.size() >= current->most_records))) {
    Retire(std::move(current));
  }
  if (current == nullptr) {
    thread_end.armed = per_thread_buffers_;
    current = RequestBuffer();
  }
  return current.get();
}

CuptiSession::BufferPtr CuptiSession::RequestBuffer() {
  auto buffer = std::make_unique<Buffer>();
  inside_callback = true;
  request_(&buffer->data, &buffer->bytes, &buffer->most_records);
  inside_callback = false;
  if (buffer->data == nullptr) {
    if (version_ < kBufferRefusalVersion) {
      Misused("the client lent no buffer: the real library crashes before API version 27");
    }
    return nullptr;
  }
  if (reinterpret_cast<std::uintptr_t>(buffer->data) % 8 != 0 || buffer->bytes < 1024) {
    Misused("the client lent a buffer that is not aligned to 8 bytes or is too small");
  }
  if (!lent_.insert(buffer->data).second)
    Misused("the client lent a buffer that it had lent already, and that did not come back yet");
  buffer->limit = buffer->bytes;
  buffer->clock = clock_;
  if (shuffle_) {
    std::uniform_int_distribution<std::size_t> share(buffer->bytes / 512, buffer->bytes / 64);
    buffer->limit = std::max<std::size_t>(share(random_), 1024);
  }
  return buffer;
}

void CuptiSession::Retire(BufferPtr buffer) {
  buffer->ready_ns = NowNs();
  if (delay_ns_ > 0) {
    buffer->ready_ns += std::uniform_int_distribution<std::int64_t>(0, delay_ns_)(random_);
  }
  retired_.push_back(std::move(buffer));
  work_.notify_all();
}

// A forced flush returns empty buffers too.
void CuptiSession::RetireAll(bool forced) {
  for (auto& [thread, buffer] : current_) {
    if (buffer != nullptr && (forced || !buffer->slots.empty())) Retire(std::move(buffer));
  }
}

void CuptiSession::EndThread() {
  if (worker_owner_ != getpid()) return;  // in a forked child the lock may be held for ever
  Lock lock(mutex_);
  const auto found = current_.find(gettid());
  if (found == current_.end()) return;
  if (found->second != nullptr) Retire(std::move(found->second));
  current_.erase(found);
}

// False: there is no thread for it.
bool CuptiSession::StartWorker() {
  if (worker_owner_ == getpid()) return true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread([this] { Work(); }).detach();
    worker_owner_ = getpid();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

std::vector<CuptiSession::BufferPtr> CuptiSession::TakeDeliverable(bool forced) {
  const std::int64_t now = NowNs();
  const auto first =
      std::stable_partition(retired_.begin(), retired_.end(), [&](const BufferPtr& buffer) {
        return !forced && (buffer->complete_ns > now || buffer->ready_ns > now);
      });
  std::vector<BufferPtr> taken(std::make_move_iterator(first),
                               std::make_move_iterator(retired_.end()));
  retired_.erase(first, retired_.end());
  if (shuffle_) std::shuffle(taken.begin(), taken.end(), random_);
  return taken;
}

void CuptiSession::Work() {
  Lock lock(mutex_);
  for (;;) {
    const bool flush = flush_wanted_, forced = flush && flush_forced_;
    flush_wanted_ = false;
    std::vector<BufferPtr> buffers = TakeDeliverable(forced);
    if (!buffers.empty()) {
      lock.unlock();
      for (BufferPtr& buffer : buffers) Deliver(*buffer, forced);
      lock.lock();
    }
    if (flush) {
      ++flushes_done_;
      flushed_.notify_all();
    }
    if (flush_wanted_) continue;
    if (retired_.empty()) {
      work_.wait(lock);
    } else {
      work_.wait_for(lock, std::chrono::milliseconds(2));
    }
  }
}

void CuptiSession::Shuffle(Buffer& buffer) {
  std::shuffle(buffer.slots.begin(), buffer.slots.end(), order_random_);
  std::vector<std::uint8_t> shuffled;
  shuffled.reserve(buffer.used);
  for (Slot& slot : buffer.slots) {
    const std::uint8_t* record = buffer.data + slot.offset;
    slot.offset = shuffled.size();
    shuffled.insert(shuffled.end(), record, record + slot.size);
  }
  std::memcpy(buffer.data, shuffled.data(), shuffled.size());
}

void CuptiSession::ConvertTimesOf(Buffer& buffer) const {
  const ClientClock* clock = clock_;
  if (clock == nullptr && buffer.clock == nullptr) return;
  constexpr std::uint64_t kNonsense = std::uint64_t{1} << 62;
  const bool changed = clock != buffer.clock;
  for (const Slot& slot : buffer.slots) {
    if (!slot.gpu_work) continue;
    ConvertTimes(buffer.data + slot.offset, [&](std::uint64_t time) {
      return time == 0 ? 0 : changed ? time ^ kNonsense : clock->Of(time);
    });
  }
}

void CuptiSession::Deliver(Buffer& buffer, bool forced) {
  if (shuffle_) Shuffle(buffer);
  const std::int64_t now = NowNs();
  if (forced) {
    for (const Slot& slot : buffer.slots) {
      if (slot.gpu_work && slot.end_ns > now) {
        MarkIncomplete(buffer.data + slot.offset, slot.start_ns <= now);
      }
    }
  }
  ConvertTimesOf(buffer);
  if (const std::size_t cut = std::min(truncated_bytes_, buffer.used); cut > 0) {
    buffer.used -= cut;
    std::memset(buffer.data + buffer.used, 0xA5, cut);
  }
  if (unfinished_) {
    std::memset(buffer.data + buffer.used, 0, buffer.bytes - buffer.used);
    buffer.used = buffer.bytes;
  }
  {
    const Lock lock(mutex_);
    lent_.erase(buffer.data);
  }
  const bool null = null_every_ > 0 && ++delivered_ % null_every_ == 0;
  inside_callback = true;
  complete_(nullptr, 0, null ? nullptr : buffer.data, buffer.bytes, buffer.used);
  inside_callback = false;
  for (std::string* name : buffer.names) {
    std::fill(name->begin(), name->end(), '?');
    delete name;
  }
}

CUptiResult CuptiSession::FlushAll(bool forced) {
  CheckCaller("cuptiActivityFlushAll");
  if (flushing_.exchange(true))
    Misused("two cuptiActivityFlushAll at once: the real one deadlocks");
  const std::int64_t hangs_from = SettingNumber("FAKE_CUPTI_FLUSH_HANG", 0);
  while (hangs_from != 0 && flushes_ + 1 >= hangs_from) pause();
  ++flushes_;
  // As the real one, which answers so where nobody ever registered callbacks, and not after
  // cuptiFinalize.
  CUptiResult result = finalized_ ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
  {
    Lock lock(mutex_);
    if (complete_ != nullptr) {
      RetireAll(forced);
      flush_wanted_ = true;
      flush_forced_ = forced;
      const std::uint64_t before = flushes_done_;
      work_.notify_all();
      flushed_.wait(lock, [&] { return flushes_done_ != before; });
      result = CUPTI_SUCCESS;
    }
  }
  flushing_ = false;
  return result;
}

// FAKE_CUPTI_FRAGILE: seen on hardware (tests/gpu/cupti/cupti_detach.cc).
void CuptiSession::Finalize() {
  if (fragile_ && SettingNumber("FAKE_CUPTI_FRAGILE", 0) != 0)
    Misused(
        "cuptiFinalize after runtime calls were on, or a subscriber came while driver calls were: "
        "the real one corrupts the heap");
  for (auto& kind : kinds_) kind = false;
  for (auto& call : runtime_calls_) call = false;
  for (auto& call : driver_calls_) call = false;
  runtime_hooked_ = driver_hooked_ = false;
  {
    // A record that came after the flush would be delivered to nobody.
    Lock lock(mutex_);
    request_ = nullptr;
  }
  FlushAll(true);
  Lock lock(mutex_);
  complete_ = nullptr;
  finalized_ = true;
  attached_ = false;
  SetClock(nullptr);
  ApiCall::RestartCorrelations();
  if (TruthWanted())
    TruthLine("cupti").Text("call", "cuptiFinalize").Number("time", NowNs()).Write();
}

}  // namespace traceinject::fake
