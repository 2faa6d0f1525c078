// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "analyzer/import/kineto/kineto_event.h"
#include "analyzer/import/kineto/kineto_metadata.h"
#include "analyzer/import/kineto/kineto_rank.h"
#include "analyzer/import/source/piece_batches.h"

namespace traceinject {
namespace {

// The number of events is not known; what the bytes read so far held says about how many come.
void Report(std::uint64_t offset_bytes, std::uint64_t size_bytes, std::uint64_t events,
            ReadProgress& progress) {
  progress.rows = events;
  const double offset = static_cast<double>(std::max<std::uint64_t>(1, offset_bytes));
  const double share = std::min(1.0, offset / static_cast<double>(size_bytes));
  progress.rows_total = static_cast<std::uint64_t>(static_cast<double>(events) / share);
}

// Calls visit(piece) for every piece of the document.
template <typename Visit>
Status ForEachPiece(GzipSource& source, const std::string& path, ReadProgress& progress,
                    Visit visit) {
  const std::uint64_t size_bytes = source.size_bytes();
  PieceBatches batches(source, "traceEvents");
  std::uint64_t count = 0;
  for (;;) {
    const auto batch = batches.Next();
    if (!batch.ok()) return Error{batch.error()};
    if (batch.value() == nullptr) break;
    for (std::size_t i = 0; i < batch.value()->size(); ++i) visit((*batch.value())[i]);
    count += batch.value()->size();
    Report(batch.value()->offset_bytes(), size_bytes, count, progress);
    if (progress.stop) return Stopped(path);
  }
  progress.rows = progress.rows_total = count;
  return Done{};
}

// A sum that would leave the range of clocks is no base.
std::int64_t BaseOf(std::int64_t trace_base_ns, TimeNs anchor_ns, KinetoRankBuilder& builder) {
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 2;
  std::int64_t base = 0;
  if (!__builtin_add_overflow(trace_base_ns, anchor_ns, &base) && base >= 0 && base <= kLatest)
    return base;
  builder.Count(KinetoProblem::kMember);
  return std::clamp<std::int64_t>(anchor_ns, 0, kLatest);
}

Error WithoutGpuWork(const std::string& path, std::uint64_t elements, bool broken) {
  if (elements == 0)
    return Error{fmt::format("{}: this JSON file is not a trace: it contains no events", path)};
  if (broken)
    return Error{fmt::format(
        "{}: this JSON file is not a PyTorch profiler trace, or is damaged: no event could be read",
        path)};
  return Error{fmt::format(
      "{}: the trace contains no GPU operation: profile with activities=[ProfilerActivity.CPU, "
      "ProfilerActivity.CUDA], and make sure the active steps do GPU work",
      path)};
}

}  // namespace

bool IsKinetoJson(const std::string& path) {
  // Reading from a pipe would take away its beginning.
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    std::array<char, 512> head{};
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), head.size());
    std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
    if (text.starts_with("\x1F\x8B")) return true;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return true;
    if (text.starts_with("SQLite format 3")) return false;
  }
  return path.ends_with(".json") || path.ends_with(".json.gz");
}

Result<RecordedFile> ReadKinetoJson(const std::string& path, ReadProgress& progress,
                                    Repairs repairs) {
  auto source = GzipSource::Open(path);
  if (!source.ok()) return Error{source.error()};
  KinetoEventParser events;
  KinetoMetadataParser metadata;
  KinetoRankBuilder builder;
  builder.rank().path = path;
  std::uint64_t elements = 0, broken = 0;
  const Status status = ForEachPiece(source.value(), path, progress, [&](const JsonPiece& piece) {
    if (piece.is_element) {
      const KinetoEvent event = events.Parse(piece.text);
      ++elements;
      broken += event.kind == KinetoKind::kBroken ? 1 : 0;
      builder.Add(event);
    } else if (!metadata.Parse(piece.key, piece.text, builder.rank())) {
      builder.Count(KinetoProblem::kMember);
    }
  });
  if (!status.ok()) return Error{status.error()};
  if (builder.gpu_operations() == 0) return WithoutGpuWork(path, elements, broken == elements);

  RecordedFile file;
  builder.Finish(repairs);
  file.base_ns = BaseOf(metadata.base_ns(), builder.anchor_ns(), builder);
  file.notes = builder.Notes();
  file.ranks.push_back(std::move(builder.rank()));
  return file;
}

}  // namespace traceinject
