// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/difference_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/common/text.h"
#include "analyzer/common/whole.h"
#include "analyzer/ranks/findings/finding_text.h"

namespace traceinject {
namespace {

constexpr std::size_t kNameWidth = 60;

std::string CountText(double count) {
  const double whole = std::round(count);
  return std::abs(count - whole) < 0.05 ? fmt::format("{:.0f}", whole)
                                        : fmt::format("{:.1f}", count);
}

// "4096 x 4096 x 4096", "grid 264 x 1 x 1, block 256 x 1 x 1"; empty: not known.
std::string ShapeText(const WorkShape& shape) {
  const auto& [m, n, k, batch] = shape.product;
  if (m > 0 || n > 0 || k > 0) {
    const std::string product = fmt::format("{} x {} x {}", m, n, k);
    return batch > 1 ? fmt::format("{} times {}", batch, product) : product;
  }
  const auto& launch = shape.launch;
  if (launch == decltype(shape.launch){}) return "";
  return fmt::format("grid {} x {} x {}, block {} x {} x {}", launch[0], launch[1], launch[2],
                     launch[3], launch[4], launch[5]);
}

std::string InBrackets(const std::string& text) {
  return text.empty() ? "" : fmt::format(" ({})", text);
}

std::string KernelSentence(const KernelDifference& one, const std::string& who) {
  const std::string name = ShortenMiddle(one.kernel, kNameWidth),
                    shape = InBrackets(ShapeText(one.shape));
  std::string text;
  switch (one.kind) {
    case KernelDifference::Kind::kMore:
      text = one.peers_count > 0 ? fmt::format("{} runs {} more {}{} a step than its peers", who,
                                               CountText(one.count - one.peers_count), name, shape)
                                 : fmt::format("{} runs {} {}{} a step, its peers none", who,
                                               CountText(one.count), name, shape);
      break;
    case KernelDifference::Kind::kLarger:
      text = fmt::format("{}'s {} are larger: {}, its peers' {}", who, name, ShapeText(one.shape),
                         ShapeText(one.peers_shape));
      break;
    case KernelDifference::Kind::kSlower:
      text = fmt::format("{}'s {}{} take {:.2f} times as long as its peers'", who, name, shape,
                         one.ratio);
      break;
  }
  text += fmt::format(": +{} a step", MeanTime(one.more_ns));
  return one.place.empty() ? text : fmt::format("{}, launched at {}", text, one.place);
}

std::string LineSentence(const LineDifference& one, const std::string& who) {
  return fmt::format("{}: {} a step{}, {} on its peers",
                     one.in_worker ? fmt::format("data workers of {} at {}", who, one.place)
                                   : fmt::format("{} at {}", who, one.place),
                     MeanTime(one.ns), one.in_worker ? " of waiting for data" : "",
                     MeanTime(one.peers_ns));
}

std::string_view NameOf(KernelDifference::Kind kind) {
  switch (kind) {
    case KernelDifference::Kind::kMore:
      return "more";
    case KernelDifference::Kind::kLarger:
      return "larger";
    case KernelDifference::Kind::kSlower:
      return "slower";
  }
  return "";
}

void AddKernel(const KernelDifference& one, const std::string& who, proto::RankFinding& to) {
  const std::string text = KernelSentence(one, who);
  proto::WorkDifference& entry = *to.add_differences();
  entry.set_kind(std::string(NameOf(one.kind)));
  entry.set_text(text);
  entry.set_kernel(one.kernel);
  entry.set_shape(ShapeText(one.shape));
  entry.set_peers_shape(ShapeText(one.peers_shape));
  entry.set_count(one.count);
  entry.set_peers_count(one.peers_count);
  if (one.ratio > 0) entry.set_ratio(one.ratio);
  entry.set_more_ns(Whole(one.more_ns));
  entry.set_place(one.place);
  to.add_evidence(text);
}

void AddLine(const LineDifference& one, const std::string& who, proto::RankFinding& to) {
  const std::string text = LineSentence(one, who);
  proto::WorkDifference& entry = *to.add_differences();
  entry.set_kind(one.in_worker ? "worker_line" : "line");
  entry.set_text(text);
  entry.set_more_ns(Whole(one.more_ns()));
  entry.set_place(one.place);
  to.add_evidence(text);
}

}  // namespace

void AddDifferences(const Straggler& straggler, const std::string& who, proto::RankFinding& to) {
  for (const KernelDifference& one : straggler.kernels) AddKernel(one, who, to);
  for (const LineDifference& one : straggler.lines) AddLine(one, who, to);
}

}  // namespace traceinject
