// SPDX-License-Identifier: Apache-2.0
// What ran on each device lately: the truth behind the stand-ins' hardware counters. A kernel uses
// the SMs, the tensor cores and the memory as its name says (kKernelUses, which
// tests/end_to_end/counters_test.py repeats).
#pragma once

#include <cstdint>
#include <string_view>

namespace traceinject::fake {

struct Operation;

// Shares of the most that is possible, in percent.
struct Use {
  double sm = 0, tensor = 0, memory = 0;
};

// By a part of the kernel's name; the first that fits.
struct KernelUse {
  std::string_view part;
  Use use;
};
inline constexpr KernelUse kKernelUses[] = {
    {"gemm", {100, 70, 30}},
    {"flash", {95, 50, 20}},
    {"elementwise", {90, 0, 85}},
    {"", {80, 0, 40}},
};

// Of submitted work, whose times are known from then on.
void NoteActivity(const Operation& operation);

// The mean over [from, to), in ns on CLOCK_REALTIME; of work of this process.
Use UseOf(int device, std::int64_t from_ns, std::int64_t to_ns);

}  // namespace traceinject::fake
