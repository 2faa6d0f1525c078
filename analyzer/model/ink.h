// SPDX-License-Identifier: Apache-2.0
// What an event is, in one byte: finer than needed to tell what the GPU was busy with, fine enough
// to give it a color.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

// The first values are those of KernelClass; the rest are host events.
enum class Ink : std::uint8_t {
  kKernelClasses = 0,  // Ink(kernel_class)
  kCallLaunch = 32,
  kCallCopy,
  kCallMemset,
  kCallSynchronize,
  kCallEvent,
  kCallAllocate,
  kCallGraphLaunch,
  kCallOther,
  kNvtx = 48,  // and the 7 after it: NVTX ranges are told apart by their text
  kCollective = 56,
  kStep = 57,    // training steps, alternately this one
  kStepOdd,      // and this one
  kStepUnusual,  // warm-up, or far from the median
  kDataWait,
  kCheckpoint,
  kGarbageCollection,
  kIdle = 64,          // and the 31 after it: why a device was idle, by IdleCause
  kOwnCode = 96,       // and the 3 after it: Python code of the program, told apart by its function
  kLibraryCode = 100,  // and the one after it: of installed packages and the standard library
};
// By the value of the ink.
using InkSet = std::bitset<256>;

inline constexpr unsigned kNvtxInks = 8, kOwnCodeInks = 4, kLibraryCodeInks = 2;

// What the GPU was busy with, coarsely. In the order in which a moment with several of them is
// counted: compute hides communication, communication hides copies.
enum class Category : std::uint8_t { kCompute, kCommunication, kCopy, kHost };
inline constexpr unsigned kCategories = 3;  // without kHost

Ink InkOf(KernelClass kernel_class);
Ink InkOf(ApiClass api_class);
Ink InkOf(HostSpanKind kind);
// 16 bits, the same for the same text in every run.
std::uint32_t TextHash(std::string_view text);
// The same text has the same ink in every run.
Ink NvtxInk(std::string_view text);
// Of a function of Python.
Ink CodeInk(std::string_view function, bool own);

// kHost for what does not run on the GPU.
Category CategoryOf(Ink ink);

}  // namespace traceinject
