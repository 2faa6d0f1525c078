// SPDX-License-Identifier: Apache-2.0
// Copies of records of another client's buffer, packed into buffers of ours for the writer. Used in
// the callback with which a buffer comes back; takes no lock and does not allocate.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/base/counters.h"
#include "injector/cupti/buffer_pool.h"

namespace traceinject {

class RecordCopies {
 public:
  struct Way {
    std::uint8_t* (*take)();  // a buffer of BufferPool::kBufferBytes; null: there is none
    bool (*keep)(CUpti_Activity* copy);  // what it points to is made to last; false: it cannot be
    void (*deliver)(std::uint8_t* buffer, std::size_t bytes);
  };
  explicit RecordCopies(const Way& way) : way_(way) {}
  ~RecordCopies() { Deliver(); }
  RecordCopies(const RecordCopies&) = delete;
  RecordCopies& operator=(const RecordCopies&) = delete;

  void Add(const CUpti_Activity* record, std::size_t bytes) {
    if (!HasRoom(bytes)) return g_counters.Add(Health::kCuptiDropped);
    std::memcpy(buffer_ + used_, record, bytes);
    if (!way_.keep(reinterpret_cast<CUpti_Activity*>(buffer_ + used_)))
      return g_counters.Add(Health::kCuptiDropped);
    used_ += bytes;
  }

 private:
  // Another client's buffers may be larger than ours.
  bool HasRoom(std::size_t bytes) {
    if (bytes > BufferPool::kBufferBytes) return false;
    if (buffer_ != nullptr && bytes <= BufferPool::kBufferBytes - used_) return true;
    Deliver();
    buffer_ = way_.take();
    return buffer_ != nullptr;
  }
  void Deliver() {
    if (buffer_ != nullptr) way_.deliver(buffer_, used_);
    buffer_ = nullptr;
    used_ = 0;
  }

  const Way way_;
  std::uint8_t* buffer_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace traceinject
