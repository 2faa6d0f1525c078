// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/summary_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>
#include <utility>

#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/summary/join_jobs.h"
#include "analyzer/ranks/summary/summary_message.h"
#include "schemas/rank_summary.pb.h"

namespace traceinject {
namespace {

constexpr std::string_view kMark = "TRJRANKS";
constexpr std::size_t kHeaderBytes = 24;
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 30;

struct Header {
  std::uint32_t version = 0, crc = 0;
  std::uint64_t length = 0;
};

template <typename Number>
void Append(Number number, std::string& to) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    to += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

template <typename Number>
Number Take(std::string_view from, std::size_t at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(from[at + i]))
                                  << (8 * i));
  return number;
}

std::uint32_t Crc(std::string_view message) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(message.data()), message.size()));
}

Error CutOff(const std::string& name) {
  return Error{fmt::format(
      "{}: this summary is truncated; copy it again, or regenerate it with analyze summarize",
      name)};
}

Error Damaged(const std::string& name, const std::string& what) {
  return Error{fmt::format(
      "{}: this summary is damaged ({}); copy it again, or regenerate it with analyze summarize",
      name, what)};
}

// `text`: at least kHeaderBytes.
Result<Header> ReadHeader(std::string_view text, const std::string& name) {
  if (text.substr(0, kMark.size()) != kMark)
    return Error{fmt::format("{}: not a rank summary written by analyze summarize", name)};
  const Header header{Take<std::uint32_t>(text, 8), Take<std::uint32_t>(text, 12),
                      Take<std::uint64_t>(text, 16)};
  if (header.version == 0 || header.version > kSummaryVersion)
    return Error{
        fmt::format("{}: this summary has format {}; this analyze reads formats up to {}. Use the "
                    "version that wrote it, or a newer one",
                    name, header.version, kSummaryVersion)};
  if (header.length > kMaxMessageBytes)
    return Damaged(name, fmt::format("it claims {} bytes", header.length));
  return header;
}

Result<Job> ReadMessage(std::string_view message, const std::string& name) {
  proto::Summaries summaries;
  if (!summaries.ParseFromArray(message.data(), static_cast<int>(message.size())))
    return Damaged(name, "it cannot be decoded");
  Job job;
  job.base_ns = summaries.base_ns();
  job.notes.assign(summaries.notes().begin(), summaries.notes().end());
  for (const proto::RankSummary& rank : summaries.ranks()) {
    auto read = ReadSummaryMessage(rank);
    if (!read.ok()) return Damaged(name, read.error());
    job.ranks.push_back(std::move(read).value());
  }
  if (const Status checked = CheckJob(job); !checked.ok()) return Damaged(name, checked.error());
  return job;
}

}  // namespace

Result<std::string> WriteSummaries(const Job& job) {
  if (const Status checked = CheckJob(job); !checked.ok()) return Error{checked.error()};
  proto::Summaries summaries;
  summaries.set_base_ns(job.base_ns);
  for (const std::string& note : job.notes) summaries.add_notes(note);
  for (const RankSummary& rank : job.ranks) WriteSummaryMessage(rank, *summaries.add_ranks());
  if (summaries.ByteSizeLong() > kMaxMessageBytes)
    return Error{fmt::format("{}: its summary is too large", job.ranks.front().path)};
  // No field is a map, so equal summaries give equal bytes.
  const std::string message = summaries.SerializeAsString();
  std::string block(kMark);
  Append(kSummaryVersion, block);
  Append(Crc(message), block);
  Append(std::uint64_t{message.size()}, block);
  return block + message;
}

Result<Job> ReadSummaries(std::string_view block, const std::string& name) {
  if (block.size() < kHeaderBytes) return CutOff(name);
  const auto header = ReadHeader(block, name);
  if (!header.ok()) return Error{header.error()};
  const std::string_view message = block.substr(kHeaderBytes);
  if (message.size() < header.value().length) return CutOff(name);
  if (message.size() > header.value().length) return Damaged(name, "unexpected data after its end");
  if (Crc(message) != header.value().crc) return Damaged(name, "checksum mismatch");
  try {
    return ReadMessage(message, name);
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{}: not enough memory to load this summary", name)};
  }
}

Result<Job> ReadSummaryFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Error{fmt::format("{}: cannot read", path)};
  auto left = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  file.seekg(0);
  std::vector<Job> jobs;
  std::string block;
  while (left > 0) {
    if (left < kHeaderBytes) return CutOff(path);
    block.resize(kHeaderBytes);
    if (!file.read(block.data(), kHeaderBytes)) return CutOff(path);
    const auto header = ReadHeader(block, path);
    if (!header.ok()) return Error{header.error()};
    left -= kHeaderBytes;
    if (header.value().length > left) return CutOff(path);
    left -= header.value().length;
    block.resize(kHeaderBytes + header.value().length);
    if (!file.read(block.data() + kHeaderBytes,
                   static_cast<std::streamsize>(header.value().length)))
      return CutOff(path);
    auto job = ReadSummaries(block, path);
    if (!job.ok()) return Error{job.error()};
    jobs.push_back(std::move(job).value());
  }
  if (jobs.empty()) return Error{fmt::format("{}: this file is empty", path)};
  return JoinJobs(std::move(jobs));
}

bool IsSummaryFile(const std::string& path) {
  std::array<char, kMark.size()> start{};
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) &&
         std::string_view(start.data(), start.size()) == kMark;
}

}  // namespace traceinject
