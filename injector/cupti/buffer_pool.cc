// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>

#include "injector/base/counters.h"

namespace traceinject {

void BufferPool::SetLimit(std::int64_t bytes) {
  limit_ = static_cast<int>(
      std::clamp<std::int64_t>(bytes / static_cast<std::int64_t>(kBufferBytes), 1, kMax));
}

std::uint8_t* BufferPool::Take() {
  const int index = TakeIndex();
  if (index < 0) return nullptr;
  std::uint8_t* buffer = buffers_[index].load(std::memory_order_relaxed);
  if (buffer == nullptr) {
    buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
    if (buffer == nullptr) {
      ReturnIndex(index);  // tried again when it is next taken
      return nullptr;
    }
    buffers_[index].store(buffer, std::memory_order_release);
  }
  flushes_[index].store(flush_ns_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  taken_[index].store(true, std::memory_order_release);
  g_counters.Max(Health::kBuffersPeak, in_use_.fetch_add(1, std::memory_order_relaxed) + 1);
  return buffer;
}

void BufferPool::Return(std::uint8_t* buffer) {
  const int index = IndexOf(buffer);
  if (index < 0 || !taken_[index].exchange(false, std::memory_order_acq_rel)) return;
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  ReturnIndex(index);
}

void BufferPool::WriteOff() {
  const int count = std::min(used_.load(std::memory_order_acquire), kMax);
  for (int i = 0; i < count; ++i) {
    if (!taken_[i].exchange(false, std::memory_order_acq_rel)) continue;
    buffers_[i].store(nullptr, std::memory_order_release);
    in_use_.fetch_sub(1, std::memory_order_relaxed);
    ReturnIndex(i);
  }
}

void BufferPool::Reclaim(const std::vector<const std::uint8_t*>& waiting) {
  const int count = std::min(used_.load(std::memory_order_acquire), kMax);
  for (int i = 0; i < count; ++i) {
    std::uint8_t* buffer = buffers_[i].load(std::memory_order_acquire);
    if (std::find(waiting.begin(), waiting.end(), buffer) == waiting.end()) Return(buffer);
  }
}

int BufferPool::TakeIndex() {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  while ((head & 0xFFFFFFFF) != 0) {
    const auto index = static_cast<std::uint32_t>(head & 0xFFFFFFFF) - 1;
    const std::uint64_t next =
        ((head >> 32) + 1) << 32 | next_[index].load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, next, std::memory_order_acq_rel))
      return static_cast<int>(index);
  }
  int index = used_.load(std::memory_order_relaxed);
  do {
    if (index >= limit_) return -1;
  } while (!used_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  return index;
}

void BufferPool::ReturnIndex(int index) {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  std::uint64_t mine;
  do {
    next_[index].store(static_cast<std::uint32_t>(head & 0xFFFFFFFF), std::memory_order_relaxed);
    mine = ((head >> 32) + 1) << 32 | static_cast<std::uint32_t>(index + 1);
  } while (!free_.compare_exchange_weak(head, mine, std::memory_order_acq_rel));
}

std::int64_t BufferPool::OldestFlushNs() const {
  std::int64_t oldest_ns = kNone;
  const int count = std::min(used_.load(std::memory_order_acquire), kMax);
  for (int i = 0; i < count; ++i) {
    if (taken_[i].load(std::memory_order_acquire))
      oldest_ns = std::min(oldest_ns, flushes_[i].load(std::memory_order_relaxed));
  }
  return oldest_ns;
}

bool BufferPool::Owns(const std::uint8_t* buffer) const { return IndexOf(buffer) >= 0; }

int BufferPool::IndexOf(const std::uint8_t* buffer) const {
  if (buffer == nullptr) return -1;
  const int count = std::min(used_.load(std::memory_order_acquire), kMax);
  for (int i = 0; i < count; ++i) {
    if (buffers_[i].load(std::memory_order_acquire) == buffer) return i;
  }
  return -1;
}

}  // namespace traceinject
