// SPDX-License-Identifier: Apache-2.0
// Memory that ends where a page begins that nobody may touch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace traceinject {

class GuardedMemory {
 public:
  // `bytes`: whole pages.
  explicit GuardedMemory(std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes + PageBytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    data_ = static_cast<std::uint8_t*>(memory);
    if (mprotect(data_ + bytes, PageBytes(), PROT_NONE) != 0) std::abort();
  }
  ~GuardedMemory() {
    if (data_ != nullptr) munmap(data_, bytes_ + PageBytes());
  }
  GuardedMemory(GuardedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  GuardedMemory& operator=(GuardedMemory&&) = delete;

  std::uint8_t* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t PageBytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::uint8_t* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace traceinject
