// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

// A whole power of two, as message sizes are: "64 KiB".
std::string BinaryBytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace

std::string Plural(std::int64_t count, std::string_view noun, std::string_view ending) {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : ending);
}

std::string SourceLabel(const proto::Report& report, int index) {
  const proto::Source& source = report.sources(index);
  if (!source.has_rank()) return fmt::format("pid {}", source.pid());
  const auto of_that_rank = std::count_if(
      report.sources().begin(), report.sources().end(),
      [&](const proto::Source& each) { return each.has_rank() && each.rank() == source.rank(); });
  return of_that_rank > 1 ? fmt::format("rank {} pid {}", source.rank(), source.pid())
                          : fmt::format("rank {}", source.rank());
}

std::string KernelClassText(const std::string& name) {
  const std::optional<KernelClass> known = KernelClassFromName(name);
  return known ? std::string(KernelClassTitle(*known)) : name;
}

std::string DimsText(const google::protobuf::RepeatedField<std::int32_t>& dims) {
  std::string text;
  int last = dims.size();
  while (last > 1 && dims[last - 1] == 1) --last;
  for (int i = 0; i < last; ++i) text += fmt::format("{}{}", i > 0 ? "x" : "", dims[i]);
  return text.empty() ? kUnknownText : text;
}

std::string MessageSize(const proto::NcclRow& row) {
  if (!row.has_bucket_low_bytes()) return kUnknownText;
  if (row.bucket_high_bytes() <= 1) return "empty";
  return MessageSize(row.bucket_low_bytes(), row.latency_bound());
}

std::string MessageSize(std::int64_t least_bytes, bool latency_bound) {
  return fmt::format("{}+{}", BinaryBytes(least_bytes), latency_bound ? " *" : "");
}

std::string GpuNames(const proto::Report& report) {
  std::map<std::string, int> count;
  for (const proto::DeviceReport& device : report.devices()) ++count[device.name()];
  std::string text;
  for (const auto& [name, n] : count) {
    text += text.empty() ? "" : ", ";
    const std::string model = name.empty() ? "unknown model" : name;
    text += n == 1 ? model : fmt::format("{} x {}", n, model);
  }
  return text;
}

const char* HealthGradeText(proto::Health::Grade grade) {
  switch (grade) {
    case proto::Health::GRADE_GOOD:
      return "good";
    case proto::Health::GRADE_LOSSY:
      return "lossy";
    case proto::Health::GRADE_BAD:
      return "bad";
    default:
      return kUnknownText;
  }
}

std::string SourcePrefix(const proto::Report& report, int source) {
  return report.sources_size() > 1 ? SourceLabel(report, source) + ": " : std::string();
}

std::string WithheldText(const proto::Report& report, const proto::Withheld& withheld) {
  const std::string name = withheld.figures() == "times"        ? "windows and copies"
                           : withheld.figures() == "partition"  ? "time split"
                           : withheld.figures() == "steps"      ? "steps"
                           : withheld.figures() == "gap_causes" ? "causes of idle time"
                                                                : "FLOPs and NCCL figures";
  return fmt::format("withheld: {}{}, because {}", SourcePrefix(report, withheld.source()), name,
                     withheld.reason());
}

}  // namespace traceinject
