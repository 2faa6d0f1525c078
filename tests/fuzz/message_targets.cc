// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/message_targets.h"

#include <zlib.h>

#include <cstring>
#include <stdexcept>

#include "analyzer/compare/gate/condition.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/summary/summarise_rank.h"
#include "analyzer/ranks/summary/summary_file.h"
#include "analyzer/report/text/text_ranks.h"
#include "tests/fuzz/bases.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/report_oracle.h"
#include "tests/fuzz/scratch_file.h"

namespace traceinject {
namespace {

// Mark, version, checksum, length.
constexpr std::size_t kChecksumAt = 12, kLengthAt = 16, kMessageAt = 24;

// The block of a rank of the recordings.
std::string BaseBlock() {
  const auto run =
      LoadRun({PutFile("run.db", ReadBase("rank0.db"))}, {.threads = 1, .on_progress = {}});
  if (!run.ok()) throw std::runtime_error(run.error());
  Job job;
  job.base_ns = run.value().base_ns;
  job.ranks = SummarizeRank(run.value().ranks.front());
  const auto block = WriteSummaries(job);
  if (!block.ok()) throw std::runtime_error(block.error());
  return block.value();
}

// Bytes of the message changed, left out, and put in, and the checksum that it then has.
std::string ChangedBlock(InputBytes& input) {
  static const std::string base = BaseBlock();
  std::string block = base;
  while (!input.is_empty()) {
    const std::uint8_t kind = input.Byte();
    const std::size_t at = kMessageAt + input.Number(3) % (block.size() - kMessageAt);
    if (kind % 8 == 7) {
      block.erase(at, 1 + input.Byte());
    } else if (kind % 8 == 6) {
      block.insert(at, std::string(input.Take(1 + kind / 32)));
    } else {
      block[at] = static_cast<char>(input.Byte());
    }
    if (block.size() <= kMessageAt) break;
  }
  const std::uint64_t length = block.size() - kMessageAt;
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(block.data()) + kMessageAt, length));
  std::memcpy(block.data() + kLengthAt, &length, sizeof length);
  std::memcpy(block.data() + kChecksumAt, &checksum, sizeof checksum);
  return block;
}

}  // namespace

std::string FuzzSummary(std::string_view input) {
  InputBytes bytes(input);
  const bool is_raw = bytes.Byte() % 8 == 7;
  const std::string block = is_raw ? std::string(bytes.Rest()) : ChangedBlock(bytes);
  const auto job = ReadSummaries(block, "run.summary");
  if (!job.ok())
    return job.error().starts_with("run.summary") ? "" : "an error without a name: " + job.error();
  const Status checked = CheckJob(job.value());
  if (!checked.ok()) return "read, but " + checked.error() + "\n";
  if (!WriteSummaries(job.value()).ok()) return "read, but cannot be written\n";
  const proto::Ranks ranks = AnalyzeJob(job.value());
  return WrongFigures(ranks) + WrongText(WriteRanksText(ranks, {}));
}

std::string FuzzCondition(std::string_view input) {
  const auto condition = ParseCondition(input, "budget.txt:1");
  if (!condition.ok())
    return condition.error().find("budget.txt:1") != std::string::npos
               ? ""
               : "an error that does not say where: " + condition.error() + "\n";
  const Condition& read = condition.value();
  if (read.figure != nullptr && !(read.limit == read.limit)) return "the limit is no number\n";
  if (read.figure == nullptr && read.label.empty()) return "about nothing\n";
  return {};
}

}  // namespace traceinject
