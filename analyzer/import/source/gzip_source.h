// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/common/result.h"

struct gzFile_s;

namespace traceinject {

// Bytes of a file from its beginning, unpacked if it is gzip.
class GzipSource {
 public:
  // Errors, each a sentence: missing, not a plain file, empty, not readable.
  static Result<GzipSource> Open(const std::string& path);
  ~GzipSource();
  GzipSource(GzipSource&& other) noexcept;
  GzipSource& operator=(GzipSource&&) = delete;

  // Up to `size` bytes into `to`; 0: the end. Error: damaged or cut off.
  Result<std::size_t> Read(char* to, std::size_t size);

  const std::string& path() const { return path_; }
  // Of the file, as stored.
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t offset_bytes() const;

 private:
  GzipSource(std::string path, gzFile_s* file, std::uint64_t size_bytes)
      : path_(std::move(path)), file_(file), size_bytes_(size_bytes) {}

  std::string path_;
  gzFile_s* file_ = nullptr;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace traceinject
