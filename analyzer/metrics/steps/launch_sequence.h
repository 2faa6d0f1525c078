// SPDX-License-Identifier: Apache-2.0
// What a device did, in the order in which the host asked for it, as a sequence of tokens: the form
// in which a period is looked for.
//
// An element is one operation, all nodes of one launch of a CUDA graph, or all that one execution
// of a compiled program launches (XLA marks it with an NVTX range). Its tokens say what it is, once
// by name alone and once by name and grid (or direction, kinds of memory and bytes of a copy):
// names stay the same where shapes vary, shapes tell apart what shares a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/metrics/steps/shared_column.h"
#include "analyzer/model/packed_column.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct LaunchSequence {
  struct Token {
    std::uint32_t count = 0;  // elements
    bool optimizer = false;   // a kernel that updates parameters
    bool upload = false;      // a copy to the device from outside
    bool whole = false;       // a graph, a program, or all between two waits of the host
    bool kernel = false;      // it is a kernel, or holds one
  };

  // Periods are looked for in these two alone; the rest is read less often, and shared.
  std::vector<std::uint32_t> name, shape;      // of each element: indices into the two tables
  SharedColumn<std::vector<TimeNs>> launched;  // on the host; never decreases
  SharedColumn<PackedColumn<std::uint32_t>> first_op;  // row of an operation of the element
  // Lengths of the operations of all elements before it, from some element on, added up; and one
  // past the last.
  SharedColumn<PackedColumn<TimeNs>> length_before;
  std::vector<Token> names, shapes;
  TimeNs busy_ns = 0, communication_ns = 0;  // sums of lengths

  std::size_t size() const { return name.size(); }
  // Of the operations of elements [begin, end), added up. O(1).
  TimeNs LengthOf(std::size_t begin, std::size_t end) const {
    return length_before[end] - length_before[begin];
  }
};

// Operations without a launch call stand where the device began them. O(operations + calls).
LaunchSequence SequenceOf(const Rank& rank, const GpuOps& ops);

// The same elements, each told apart by the `length` elements from it on: where every kernel comes
// several times a step, what follows it still says which one it is. What an element does is that of
// its own token. O(elements).
LaunchSequence WithContext(const LaunchSequence& sequence, std::size_t length);

// Stretches between two waits of the host for the device as one element each, where a program says
// nothing but when it waits. What a loop on the device is told of its condition, one byte, ends
// none. O(elements + calls).
LaunchSequence BetweenWaits(const Rank& rank, const GpuOps& ops, const LaunchSequence& sequence);

// Without what came before the last element of a kind that no longer occurs in the last third, of
// the elements or of the time: initialization, tuning, which in little time may launch more than
// all of the training. O(elements).
enum class StartUpBy : std::uint8_t { kLaunches, kTime };
LaunchSequence WithoutStartUp(const LaunchSequence& sequence, StartUpBy by);

}  // namespace traceinject
