// SPDX-License-Identifier: Apache-2.0
// Sets of time as sorted lists of intervals.
//
// Units and convention: int64 nanoseconds, half-open [start, end). An Intervals is *merged*:
// sorted, without empty, touching or overlapping members, so two equal sets have equal lists. Every
// function that takes an Intervals expects that form and returns it; Merge() makes it. All
// operations but Merge() are O(n + m) time and memory.
#pragma once

#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

using Intervals = std::vector<Interval>;

// Union of any intervals in any order; those with end <= start are left out. O(n log n), O(n) if
// they come sorted by start.
Intervals Merge(Intervals intervals);
// Adds to a merged list an interval that starts no earlier than the last member does; without
// effect if it is empty. O(1) amortised.
void Append(Intervals& list, Interval next);
// The same for columns of equal length, as in GpuOps. `rows`: which ones, all if null. `open_end`
// replaces an end of kOpen.
Intervals MergeColumns(const TimeColumn& start, const TimeColumn& end, TimeNs open_end,
                       const std::vector<std::uint32_t>* rows = nullptr);

Intervals Intersect(const Intervals& a, const Intervals& b);
// What is in `a` and not in `b`.
Intervals Subtract(const Intervals& a, const Intervals& b);
// The part of `a` inside the window.
Intervals Clip(const Intervals& a, Interval window);

// Total length.
TimeNs Length(const Intervals& a);
// Length(Clip(a, window)) in O(log n + members inside the window).
TimeNs LengthInside(const Intervals& a, Interval window);
// How long the end of the window is free of `a`: 0 if `a` reaches up to it. O(log n).
TimeNs FreeTail(const Intervals& a, Interval window);
// Whether t is in the set. O(log n).
bool Contains(const Intervals& a, TimeNs t);
// True if the list is in the merged form.
bool IsMerged(const Intervals& a);

}  // namespace traceinject
