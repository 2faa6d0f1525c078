// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/annotations.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"

namespace traceinject {
namespace {

constexpr Rgba kColors[] = {0xffb74dff, 0x4fc3f7ff, 0x81c784ff, 0xf06292ff, 0xba68c8ff, 0xe0e0e0ff};

bool Before(const Mark& a, const Mark& b) {
  return std::tie(a.start, a.end) < std::tie(b.start, b.end);
}

Mark Tidy(Mark mark) {
  if (mark.end < mark.start) std::swap(mark.start, mark.end);
  mark.text = ShortenMiddle(Printable(mark.text), kMaxMarkTextBytes);
  return mark;
}

}  // namespace

std::span<const Rgba> MarkColors() { return kColors; }

TimeNs Rebased(TimeNs time, std::int64_t by_ns) {
  TimeNs sum = 0;
  return __builtin_add_overflow(time, by_ns, &sum) ? time : sum;
}

Annotations::Annotations(std::vector<Mark> marks, std::int64_t base_ns)
    : marks_(std::move(marks)), base_ns_(base_ns) {
  for (Mark& mark : marks_) mark = Tidy(std::move(mark));
  std::stable_sort(marks_.begin(), marks_.end(), Before);
}

void Annotations::SetBase(std::int64_t base_ns) {
  TimeNs moved = 0;
  if (__builtin_sub_overflow(base_ns_, base_ns, &moved)) return;
  for (Mark& mark : marks_) {
    mark.start = Rebased(mark.start, moved);
    mark.end = Rebased(mark.end, moved);
  }
  base_ns_ = base_ns;
}

std::size_t Annotations::Add(Mark mark) {
  mark = Tidy(std::move(mark));
  const auto place = std::upper_bound(marks_.begin(), marks_.end(), mark, Before);
  const auto index = static_cast<std::size_t>(place - marks_.begin());
  marks_.insert(place, std::move(mark));
  return index;
}

std::size_t Annotations::Change(std::size_t index, Mark mark) {
  Remove(index);
  return Add(std::move(mark));
}

void Annotations::Remove(std::size_t index) {
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace traceinject
