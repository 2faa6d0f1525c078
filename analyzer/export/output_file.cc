// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/output_file.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "analyzer/import/source/new_file.h"

namespace traceinject {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
// Three times as fast as zlib's default on traces, for a fifth more bytes.
constexpr int kGzipLevel = 2;
// "As gzip" in the arguments of deflateInit2.
constexpr int kGzipWindow = 15 + 16, kGzipMemory = 8;

}  // namespace

struct OutputFile::State {
  std::string path;
  std::unique_ptr<NewFile> beside;  // where it is written; null: at its place
  int fd = -1;
  bool owns_fd = false, packs = false;
  int error = 0;  // errno of the first failure
  std::uint64_t bytes = 0;
  std::string plain;  // not packed or written yet
  z_stream packer = {};
  std::vector<unsigned char> packed = {};

  ~State() {
    if (packs) deflateEnd(&packer);
    if (owns_fd && fd >= 0) close(fd);
  }

  void WriteOut(const char* at, std::size_t size) {
    while (size > 0 && error == 0) {
      const ssize_t count = ::write(fd, at, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        error = errno;
        return;
      }
      bytes += static_cast<std::uint64_t>(count);
      at += count;
      size -= static_cast<std::size_t>(count);
    }
  }

  void Pack(int flush) {
    packer.next_in = reinterpret_cast<Bytef*>(plain.data());
    packer.avail_in = static_cast<uInt>(plain.size());
    do {
      packer.next_out = packed.data();
      packer.avail_out = static_cast<uInt>(packed.size());
      deflate(&packer, flush);
      WriteOut(reinterpret_cast<const char*>(packed.data()), packed.size() - packer.avail_out);
    } while (packer.avail_out == 0 && error == 0);
  }

  void Flush(bool last) {
    if (packs) {
      Pack(last ? Z_FINISH : Z_NO_FLUSH);
    } else {
      WriteOut(plain.data(), plain.size());
    }
    plain.clear();
  }
};

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::Create(const std::string& path, Packing packing) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (path == "-") {
    // What was printed before comes before.
    std::fflush(stdout);
    state->fd = STDOUT_FILENO;
  } else {
    state->owns_fd = IsWrittenInPlace(path);
    if (!state->owns_fd) state->beside = std::make_unique<NewFile>(path);
    state->fd = state->owns_fd ? OpenInPlace(path) : state->beside->descriptor();
    if (state->fd < 0)
      return Error{fmt::format("{}: cannot write ({})", path, std::strerror(errno))};
  }
  state->plain.reserve(kBufferBytes + kBufferBytes / 4);
  if (packing == Packing::kGzip) {
    state->packed.resize(kBufferBytes);
    state->packs = deflateInit2(&state->packer, kGzipLevel, Z_DEFLATED, kGzipWindow, kGzipMemory,
                                Z_DEFAULT_STRATEGY) == Z_OK;
    if (!state->packs) return Error{fmt::format("{}: not enough memory to compress it", path)};
  }
  return OutputFile(std::move(state));
}

void OutputFile::Write(std::string_view bytes) {
  if (state_->error != 0) return;
  state_->plain.append(bytes);
  if (state_->plain.size() >= kBufferBytes) state_->Flush(false);
}

bool OutputFile::failed() const { return state_->error != 0; }
std::uint64_t OutputFile::bytes() const { return state_->bytes; }

Status OutputFile::Close() {
  State& state = *state_;
  if (state.error == 0) state.Flush(true);
  // A full disk often shows only now.
  if (state.owns_fd && close(state.fd) != 0 && state.error == 0) state.error = errno;
  state.owns_fd = false;
  if (state.error == 0 && state.beside && !state.beside->TakePlace()) state.error = errno;
  state.beside.reset();
  if (state.error == 0) return Done{};
  return Error{fmt::format("{}: write failed ({})", state.path == "-" ? "stdout" : state.path,
                           std::strerror(state.error))};
}

}  // namespace traceinject
