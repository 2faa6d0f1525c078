// SPDX-License-Identifier: Apache-2.0
// A file of machine code (ELF, 64 bit), read from disk in small pieces: where its parts lie when it
// is loaded, and which functions it has. It may be anything, and change at any moment; what is held
// of it is bounded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace traceinject {

class ObjectFile {
 public:
  // What is not such a file has no parts. `at`: where it is to be had, if not by its name.
  explicit ObjectFile(std::string path, std::string at = {});

  const std::string& path() const { return path_; }
  bool has_parts() const { return !parts_.empty(); }
  // Where the index of its unwind tables is; 0: it has none.
  std::uint64_t unwind_index() const { return unwind_index_; }

  // Of a place in the file the address that the file itself gives to it. False: it is not loaded.
  bool AddressAt(std::uint64_t offset, std::uint64_t* address) const;

  // What tells a file from a later one of its name: device, inode, bytes, and when it was written.
  using Identity = std::array<std::int64_t, 4>;

  // While one lives the file is open, unless another one has its name by now.
  class Access {
   public:
    explicit Access(const ObjectFile& object);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

    // By places in the file. False: not all of it is there.
    bool ReadAt(std::uint64_t offset, void* to, std::size_t bytes) const;
    // By its own addresses.
    bool Read(std::uint64_t address, void* to, std::size_t bytes) const;

   private:
    friend class ObjectFile;

    const ObjectFile& object_;
    int file_;
    Identity identity_{};
  };

  // Of each address, which come in order, the name of its function; empty: not known. O(symbols log
  // addresses).
  std::vector<std::string> NamesOf(const std::vector<std::uint64_t>& addresses) const;

 private:
  struct Part {
    std::uint64_t offset, address, bytes;
  };

  std::string path_, at_;
  Identity identity_{};  // zeros: not known yet
  std::vector<Part> parts_;
  std::uint64_t unwind_index_ = 0;
};

}  // namespace traceinject
