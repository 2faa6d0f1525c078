// SPDX-License-Identifier: Apache-2.0
// Memory of a process that others write to meanwhile, or give back: read through the kernel, where
// a bad address is a short read and no fault. This process' own, too. No allocation, no lock.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace traceinject {

class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t pid = getpid()) : pid_(pid) {}

  // False: not all of it is there. One system call.
  bool Read(std::uint64_t address, void* to, std::size_t bytes) const {
    return ReadUpTo(address, to, bytes) == bytes;
  }
  template <typename Value>
  bool Read(std::uint64_t address, Value* value) const {
    return Read(address, value, sizeof *value);
  }
  // As much as there is from the address on.
  std::size_t ReadUpTo(std::uint64_t address, void* to, std::size_t bytes) const {
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t read = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    return read < 0 ? 0 : static_cast<std::size_t>(read);
  }
  // Many pieces of one size, each to its place: the number of those that came, from the first on.
  static constexpr std::size_t kMaxPieces = 64;
  std::size_t ReadPieces(const std::uint64_t* addresses, std::size_t count, void* to,
                         std::size_t bytes) const {
    std::array<iovec, kMaxPieces> remote;
    if (count > kMaxPieces) count = kMaxPieces;
    for (std::size_t i = 0; i < count; ++i)
      remote[i] = {reinterpret_cast<void*>(addresses[i]), bytes};
    const iovec local{to, count * bytes};
    const ssize_t read = process_vm_readv(pid_, &local, 1, remote.data(), count, 0);
    return read < 0 ? 0 : static_cast<std::size_t>(read) / bytes;
  }

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// What was read lately, in blocks that do not straddle pages: what lies together is read at once
// and seen as of one moment. Forget() before what is to be seen anew.
template <std::size_t kBlocks, std::size_t kBlockBytes = 4096>
class MemoryBlocks {
 public:
  explicit MemoryBlocks(const ProcessMemory* memory) : memory_(memory) { Forget(); }

  void Forget() {
    bases_.fill(kNone);
    next_ = 0;
  }
  // Blocks by their addresses, in one system call: what is likely to be wanted. Those from the
  // first on that is not there are left out.
  void Load(const std::uint64_t* bases, std::size_t count) {
    Forget();
    next_ =
        memory_->ReadPieces(bases, count < kBlocks ? count : kBlocks, data_.data(), kBlockBytes);
    for (std::size_t i = 0; i < next_; ++i) bases_[i] = bases[i];
  }
  // What is held, anew.
  void Refresh() {
    std::array<std::uint64_t, kBlocks> bases;
    Load(bases.data(), Held(bases.data(), kBlocks));
  }
  // The addresses of what is held, the first that was read first: how many there are.
  std::size_t Held(std::uint64_t* bases, std::size_t most) const {
    std::size_t count = 0;
    for (const std::uint64_t base : bases_) {
      if (base != kNone && count < most) bases[count++] = base;
    }
    return count;
  }
  // False: it is not there. O(blocks).
  bool Read(std::uint64_t address, void* to, std::size_t bytes) {
    auto* out = static_cast<char*>(to);
    while (bytes != 0) {
      const std::uint64_t base = address / kBlockBytes * kBlockBytes;
      const std::size_t offset = address - base;
      const std::size_t here = bytes < kBlockBytes - offset ? bytes : kBlockBytes - offset;
      const char* block = Block(base);
      if (block == nullptr) return false;
      std::memcpy(out, block + offset, here);
      out += here;
      address += here;
      bytes -= here;
    }
    return true;
  }
  template <typename Value>
  bool Read(std::uint64_t address, Value* value) {
    return Read(address, value, sizeof *value);
  }

 private:
  static constexpr std::uint64_t kNone = 1;  // no base

  const char* Block(std::uint64_t base) {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      if (bases_[i] == base) return data_[i].data();
    }
    const std::size_t i = next_++ % kBlocks;
    bases_[i] = memory_->Read(base, data_[i].data(), kBlockBytes) ? base : kNone;
    return bases_[i] == base ? data_[i].data() : nullptr;
  }

  const ProcessMemory* memory_;
  std::size_t next_ = 0;
  std::array<std::uint64_t, kBlocks> bases_;
  std::array<std::array<char, kBlockBytes>, kBlocks> data_;
};

}  // namespace traceinject
