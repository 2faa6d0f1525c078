// SPDX-License-Identifier: Apache-2.0
// Stacks of Python from the functions that a trace made with with_stack=True holds, so that all
// that is said of lines of code is said of such a trace, too.
//
//   - A call that launches or waits has the stack of its thread when it began.
//   - What autograd launches, on threads without Python, has the stack of the forward operator: the
//   last one that began with the sequence number of the backward operator around the launch.
//   - For the time of the host, the stacks are looked at kLookPeriodNs apart, or further, so that a
//   trace has no more than kMaxLooks.
//
// A trace tells where a function begins, not the line at which it stands.
//
// Older traces have no functions, but the stacks of operators: calls in these have them. Of host
// time nothing is said then, as most of Python is in no operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

inline constexpr TimeNs kLookPeriodNs = 100'000;
inline constexpr std::int64_t kMaxLooks = 500'000;

// A Python function of Rank::profiled, and how the profiler numbers it and its caller; -1: it does
// not. Times alone would nest it as well, but that they are rounded.
struct PythonCall {
  std::uint32_t row = 0;
  std::int64_t id = -1, parent = -1;
};

// An operator of Rank::profiled that tells its stack.
struct OperatorStack {
  std::uint32_t row = 0;
  std::uint32_t stack = 0;  // index into PythonSource::call_stacks
};

// What a trace tells of Python.
struct PythonSource {
  std::vector<PythonCall> functions;
  std::vector<OperatorStack> operators;
  // "conv.py(443): forward;train.py(46): main", the innermost frame first.
  std::vector<std::string> call_stacks;
};

// Fills rank.places, stacks and stack_samples. Nothing has to be sorted or joined. Where
// nothing is told of Python nothing is done. O(n log n).
void AddPythonStacks(const PythonSource& source, Rank& rank);

// Of a name such as "train.py(41): load_batch"; a function of C, or a module, has no line, and its
// file says what it is.
struct PythonName {
  std::string_view file, function;
  std::int32_t line = 0;
};
PythonName ParsePythonName(std::string_view name);

}  // namespace traceinject
