// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/code/code_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "analyzer/common/units.h"
#include "analyzer/common/whole.h"
#include "analyzer/metrics/places/calls_beneath.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxLines = 3;
// Lines with less of the time than this are not worth a look.
constexpr double kLeastShare = 0.05;

struct LabelPlaces {
  std::string_view of;  // the time that is divided, in words
  TimeByPlace time;
};

TimeByPlace Together(std::initializer_list<const TimeByPlace*> parts) {
  return SumOf({parts.begin(), parts.size()});
}

bool IsOfKernels(std::string_view label) {
  for (const std::string_view one : {"low_precision_unused", "inefficient_gemm",
                                     "unfused_attention", "memory_bound", "compute_bound"}) {
    if (label == one) return true;
  }
  return false;
}

LabelPlaces PlacesOf(const DevicePlaces& places, std::string_view label) {
  if (label == kHostCodeLabel) return {"host code", places.stretches};
  if (label == "launch_bound") return {"late launches", places.late};
  if (label == "dataloader") {
    if (!places.workers.places.empty()) return {"data loading in the workers", places.workers};
    return {"data loading", places.of(IdleCause::kDataWait)};
  }
  if (label == "sync_bound")
    return {"waiting",
            Together({&places.of(IdleCause::kSync), &places.of(IdleCause::kDrainedBySync)})};
  if (label == "allocator") return {"allocation", places.of(IdleCause::kAllocator)};
  if (label == "checkpoint") return {"checkpoints", places.of(IdleCause::kCheckpoint)};
  if (label == "gc_pause") return {"garbage collection", places.of(IdleCause::kGc)};
  if (label == "h2d_copy") return {"copying", places.of(IdleCause::kCopy)};
  if (IsOfKernels(label)) return {"kernel time", places.kernels};
  // No verdict: still, what the host did while the device had nothing to do.
  if (label == "inconclusive") {
    return {"GPU's idle time",
            Together({&places.late, &places.of(IdleCause::kDataWait), &places.of(IdleCause::kSync),
                      &places.of(IdleCause::kDrainedBySync), &places.of(IdleCause::kAllocator),
                      &places.of(IdleCause::kCheckpoint), &places.of(IdleCause::kGc)})};
  }
  return {};
}

void LineOf(const Rank& rank, const PlaceTime& time, double steps, proto::CodeLine& to) {
  const CodePlace& place = rank.places[time.site.place];
  to.set_file(std::string(rank.string(place.file)));
  to.set_line(place.line);
  to.set_function(std::string(rank.string(place.function)));
  to.set_place(PlaceText(rank, time.site.place));
  to.set_library(LibraryText(rank, time.site.library));
  to.set_own(time.site.own);
  to.set_ns(Whole(time.ns / steps));
  to.set_low_ns(Whole(time.low_ns / steps));
  to.set_high_ns(Whole(time.high_ns / steps));
  to.set_samples(time.looks);
}

// Where the line is: with what it called of a library, or, of a line that nearly all is at, where
// in the libraries beneath it.
std::string WhereText(const Rank& rank, const TimeByPlace& time, const proto::CodeLine& line) {
  std::string beneath = CallsBeneath(rank, time);
  if (!beneath.empty()) return beneath;
  return line.library().empty() ? line.place()
                                : fmt::format("{} ({})", line.place(), line.library());
}

std::string Sentence(const Rank& rank, const LabelPlaces& places, double steps,
                     const proto::CodeLine& line) {
  const double total = static_cast<double>(places.time.total_ns) / steps;
  std::string text = fmt::format(
      "{} of the {} at {}: {} of {} per step",
      static_cast<double>(line.ns()) >= total / 2 ? "most" : "the largest part", places.of,
      WhereText(rank, places.time, line), Rounded(static_cast<double>(line.ns())), Rounded(total));
  if (line.low_ns() != line.high_ns())
    text += fmt::format(" ({} to {})", Rounded(static_cast<double>(line.low_ns())),
                        Rounded(static_cast<double>(line.high_ns())));
  return text;
}

// What the host did after the waits: without them the device would have had work meanwhile.
void AddAfterWaits(const DeviceFigures& judged, const DevicePlaces& places, proto::Verdict& to) {
  const TimeByPlace& after = places.after_waits;
  if (after.places.empty() || after.share_of_first(1) < 0.5) return;
  const PlaceTime& first = after.places.front();
  if (first.site.place == kNone) return;
  to.add_evidence()->set_text(
      fmt::format("after the waits the host was mostly at {}: {} of {} per step",
                  PlaceText(*judged.rank, first.site.place), Rounded(first.ns / places.steps),
                  Rounded(static_cast<double>(after.total_ns) / places.steps)));
}

}  // namespace

void AddCodeEvidence(const DeviceFigures& judged, std::string_view label, proto::Verdict& to) {
  if (!judged.places) return;
  const DevicePlaces& places = *judged.places;
  const LabelPlaces found = PlacesOf(places, label);
  for (const PlaceTime& time : found.time.places) {
    if (time.site.place == kNone) continue;
    if (time.ns < kLeastShare * static_cast<double>(found.time.total_ns) ||
        static_cast<std::size_t>(to.code_size()) == kMaxLines)
      break;
    LineOf(*judged.rank, time, places.steps, *to.add_code());
  }
  if (to.code().empty()) return;
  to.set_code_of_ns(Whole(static_cast<double>(found.time.total_ns) / places.steps));
  to.add_evidence()->set_text(Sentence(*judged.rank, found, places.steps, to.code(0)));
  // First where the label is about lines, else behind the line that says what it is about.
  const int at = label == kHostCodeLabel ? 0 : std::min(1, to.evidence_size() - 1);
  const auto begin = to.mutable_evidence()->pointer_begin();
  std::rotate(begin + at, begin + to.evidence_size() - 1, begin + to.evidence_size());
  if (label == "sync_bound") AddAfterWaits(judged, places, to);
}

}  // namespace traceinject
