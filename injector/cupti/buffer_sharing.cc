// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/buffer_sharing.h"

#include <algorithm>
#include <optional>

namespace traceinject {
namespace {

// Where records of a kind have what tells when they were made: one of the two.
struct Places {
  std::optional<std::size_t> start;        // a time
  std::optional<std::size_t> correlation;  // of the call that caused it
};

Places PlacesOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return {offsetof(ApiRecord, start), {}};
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return {{}, offsetof(KernelRecord, correlationId)};
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return {{}, offsetof(MemcpyRecord, correlationId)};
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return {{}, offsetof(PeerMemcpyRecord, correlationId)};
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return {{}, offsetof(MemsetRecord, correlationId)};
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return {{}, offsetof(MemoryRecord, correlationId)};
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return {{}, offsetof(CUpti_ActivityExternalCorrelation, correlationId)};
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return {offsetof(CUpti_ActivitySynchronization, start), {}};
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return {offsetof(CUpti_ActivityOverhead, start), {}};
    default:
      return {};
  }
}

template <typename Value>
Value At(const CUpti_Activity* record, std::size_t offset) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const std::uint8_t*>(record) + offset, sizeof value);
  return value;
}

// Which records of a buffer were made during the other client's session: those with a time in it,
// and what was caused by calls between the last before it and the first after it. Correlation ids
// grow with time.
class DuringSession {
 public:
  DuringSession(SharedSession* session, std::uint8_t* buffer, std::size_t valid_bytes)
      : from_(session->begin_ticks()), to_(session->end_ticks()) {
    ForEachRecord(*session->cupti(), buffer, valid_bytes,
                  [&](const CUpti_Activity* record, std::size_t) {
                    if (!WantedRecords::IsCalls(record->kind)) return;
                    const auto& call = *reinterpret_cast<const ApiRecord*>(record);
                    if (IsWithin(call.start)) return;
                    // One of the clock before has a time that is far from both.
                    if (call.start < from_ || call.start - to_ > to_ - from_ + kManyTicks)
                      session->NoteCallBefore(call.correlationId);
                    else
                      first_after_ = std::min(first_after_, call.correlationId);
                  });
    last_before_ = session->last_before();
  }

  bool Has(const CUpti_Activity* record) const {
    const Places places = PlacesOf(record->kind);
    if (places.start) return IsWithin(At<std::uint64_t>(record, *places.start));
    if (!places.correlation) return false;
    const auto id = At<std::uint32_t>(record, *places.correlation);
    return id > last_before_ && id < first_after_;
  }

 private:
  // Longer than what follows a session in a buffer of before it, on any clock.
  static constexpr std::uint64_t kManyTicks = 3'600'000'000'000;

  bool IsWithin(std::uint64_t start) const { return start >= from_ && start <= to_; }

  std::uint64_t from_, to_;
  std::uint32_t last_before_ = 0, first_after_ = UINT32_MAX;
};

// Fills buffers of the other client's.
class TheirBuffers {
 public:
  TheirBuffers(const SharedSession& session, CUcontext context, std::uint32_t stream)
      : session_(session), context_(context), stream_(stream) {}
  ~TheirBuffers() { Deliver(); }
  TheirBuffers(const TheirBuffers&) = delete;
  TheirBuffers& operator=(const TheirBuffers&) = delete;

  void Add(const CUpti_Activity* record, std::size_t bytes) {
    if (used_ + bytes > size_) {
      Deliver();
      std::size_t most_records = 0;
      session_.request()(&buffer_, &size_, &most_records);
      if (buffer_ == nullptr || bytes > size_) return;
    }
    std::memcpy(buffer_ + used_, record, bytes);
    used_ += bytes;
  }

 private:
  void Deliver() {
    if (buffer_ != nullptr) session_.complete()(context_, stream_, buffer_, size_, used_);
    buffer_ = nullptr;
    size_ = used_ = 0;
  }

  const SharedSession& session_;
  CUcontext context_;
  std::uint32_t stream_;
  std::uint8_t* buffer_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
};

}  // namespace

void Offer(SharedSession* session, CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
           std::size_t valid_bytes) {
  const DuringSession during(session, buffer, valid_bytes);
  const WantedRecords& theirs = session->delivered();
  TheirBuffers out(*session, context, stream);
  ForEachRecord(*session->cupti(), buffer, valid_bytes,
                [&](const CUpti_Activity* record, std::size_t bytes) {
                  if (theirs.Has(record) && during.Has(record)) out.Add(record, bytes);
                });
}

}  // namespace traceinject
