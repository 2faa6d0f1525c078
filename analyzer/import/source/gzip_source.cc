// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/gzip_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

namespace traceinject {

Result<GzipSource> GzipSource::Open(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Error{fmt::format("{}: no such file", path)};
  if (!fs::is_regular_file(status)) return Error{fmt::format("{}: not a regular file", path)};
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return Error{fmt::format("{}: cannot access ({})", path, error.message())};
  if (size == 0)
    return Error{fmt::format("{}: the file is empty: the profiler did not write its trace", path)};
  errno = 0;
  gzFile file = gzopen(path.c_str(), "rbe");
  if (file == nullptr)
    return Error{fmt::format("{}: cannot open ({})", path, std::strerror(errno))};
  constexpr unsigned kBuffer = 1 << 18;
  gzbuffer(file, kBuffer);
  return GzipSource(path, file, size);
}

GzipSource::~GzipSource() {
  if (file_ != nullptr) gzclose(file_);
}

GzipSource::GzipSource(GzipSource&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, nullptr)),
      size_bytes_(other.size_bytes_) {}

Result<std::size_t> GzipSource::Read(char* to, std::size_t size) {
  constexpr std::size_t kMax = 1 << 30;
  const int count = gzread(file_, to, static_cast<unsigned>(std::min(size, kMax)));
  int code = Z_OK;
  const char* message = gzerror(file_, &code);
  // gzread tells of a file that was cut off only after it has handed out what was there.
  if (count < 0 || (count == 0 && code == Z_BUF_ERROR)) {
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_BUF_ERROR)
      return Error{fmt::format("{}: the compressed file is truncated: copy it again", path_)};
    return Error{fmt::format("{}: the compressed file is damaged ({})", path_,
                             code == Z_ERRNO ? std::strerror(errno) : message)};
  }
  return static_cast<std::size_t>(count);
}

std::uint64_t GzipSource::offset_bytes() const {
  return static_cast<std::uint64_t>(std::max<z_off_t>(0, gzoffset(file_)));
}

}  // namespace traceinject
