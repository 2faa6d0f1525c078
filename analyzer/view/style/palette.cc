// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/style/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/view/run/device_findings.h"

namespace traceinject {
namespace {

// Hues of Okabe and Ito (https://jfly.uni-koeln.de/color/), moved apart in lightness: matrix
// products blue, attention purple, the small kernels around them green, communication vermilion,
// copies yellow. What can stand in one row or bar, and what lies below each other, stays apart
// without red or green receptors; every color bears black or white text and stands out from the
// dark and from the light background. The test measures all three.
Rgba KernelColor(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kComm:
      return 0xd55e00ff;
    case KernelClass::kMemcpy:
      return 0xe6b84aff;
    case KernelClass::kMemset:
      return 0xc79a3fff;
    case KernelClass::kAttentionBackward:
      return 0xad239bff;
    case KernelClass::kAttentionForward:
      return 0xcb45cdff;
    case KernelClass::kKvCache:
      return 0xeea0f5ff;
    case KernelClass::kMoe:
      return 0xcd77f8ff;
    case KernelClass::kEmbedding:
      return 0x66aba1ff;
    case KernelClass::kConv:
      return 0x4a85d9ff;
    case KernelClass::kGemm:
      return 0x2166f8ff;
    case KernelClass::kNorm:
      return 0x20793dff;
    case KernelClass::kSoftmaxLoss:
      return 0x35a468ff;
    case KernelClass::kOptimizer:
      return 0xb8d292ff;
    case KernelClass::kQuant:
      return 0x217463ff;
    case KernelClass::kRope:
      return 0xa0d0e2ff;
    case KernelClass::kReduce:
      return 0x3d835eff;
    case KernelClass::kSortTopk:
      return 0x4ca3aeff;
    case KernelClass::kDropoutRng:
      return 0xbbd0abff;
    case KernelClass::kCopyCast:
      return 0xc0cac2ff;
    case KernelClass::kElementwise:
      return 0x9ab094ff;
    case KernelClass::kTriton:
      return 0x45a8caff;
    case KernelClass::kOther:
      return 0x727f89ff;
  }
  return 0x646e78ff;
}

constexpr std::array<Rgba, kNvtxInks> kNvtxColors = {
    0x70afa2ff, 0xd7b040ff, 0xb29ec8ff, 0x9fcf88ff, 0xc68568ff, 0x81acecff, 0xeeb4ccff, 0xa8b05bff};

// The program's own code has a hue, that of libraries has none.
constexpr std::array<Rgba, kOwnCodeInks> kOwnCodeColors = {0xe8a25cff, 0xd98b45ff, 0xf0b67aff,
                                                           0xc97f3fff};
constexpr std::array<Rgba, kLibraryCodeInks> kLibraryCodeColors = {0x9aa3adff, 0x8a939eff};

Rgba CodeColor(Ink ink) {
  const auto offset = [ink](Ink first) {
    return static_cast<unsigned>(ink) - static_cast<unsigned>(first);
  };
  if (ink < Ink::kLibraryCode) return kOwnCodeColors[offset(Ink::kOwnCode)];
  return kLibraryCodeColors[offset(Ink::kLibraryCode) % kLibraryCodeInks];
}

Rgba IdleColor(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataWait:
      return 0xffb900ff;
    case IdleCause::kSync:
      return 0x9a518dff;
    case IdleCause::kDrainedBySync:
      return 0xe186d3ff;
    case IdleCause::kAllocator:
      return 0x6e64b8ff;
    case IdleCause::kCheckpoint:
      return 0x655247ff;
    case IdleCause::kGc:
      return 0xb1d26cff;
    case IdleCause::kLaunch:
      return 0x0ca5ffff;
    case IdleCause::kPython:
      return 0x03c270ff;
    case IdleCause::kHostWait:
      return 0x004e5dff;
    case IdleCause::kCopy:
      return 0xb9854bff;
    case IdleCause::kCommunication:
      return 0xd55e00ff;
    case IdleCause::kQueued:
      return 0xabb9c1ff;
    case IdleCause::kUnknown:
      break;
  }
  return 0x7f8a82ff;
}

// A call has the color of the idle time that it causes.
Rgba CallColor(Ink ink) {
  switch (ink) {
    case Ink::kCallLaunch:
      return 0x75a5cbff;
    case Ink::kCallCopy:
      return 0xc99b57ff;
    case Ink::kCallMemset:
      return 0xb39970ff;
    case Ink::kCallSynchronize:
      return IdleColor(IdleCause::kSync);
    case Ink::kCallEvent:
      return 0x878f99ff;
    case Ink::kCallAllocate:
      return IdleColor(IdleCause::kAllocator);
    case Ink::kCallGraphLaunch:
      return 0x5f9be1ff;
    default:
      return 0xa8b8c6ff;
  }
}

// For names and streams: as far apart as so many can be.
constexpr std::array<Rgba, kHues> kHueColors = {0x52a2fdff, 0xf1b000ff, 0x0b7443ff, 0xe243d2ff,
                                                0xda6403ff, 0x00deaeff, 0x5e549dff, 0xbbcd85ff,
                                                0x006efeff, 0xbc8a4fff, 0xdf86cdff, 0x879496ff};

}  // namespace

Rgba FillColor(Ink ink) {
  if (ink < Ink::kCallLaunch) return KernelColor(static_cast<KernelClass>(ink));
  if (ink < Ink::kNvtx) return CallColor(ink);
  if (ink < Ink::kCollective) {
    return kNvtxColors[static_cast<unsigned>(ink) - static_cast<unsigned>(Ink::kNvtx)];
  }
  if (ink >= Ink::kOwnCode) return CodeColor(ink);
  switch (ink) {
    case Ink::kCollective:
      return KernelColor(KernelClass::kComm);
    case Ink::kStep:
      return 0x7f93abff;
    case Ink::kStepOdd:
      return 0x95a7bbff;
    case Ink::kStepUnusual:
      return 0xd8a7a0ff;
    case Ink::kDataWait:
      return IdleColor(IdleCause::kDataWait);
    case Ink::kCheckpoint:
      return IdleColor(IdleCause::kCheckpoint);
    case Ink::kGarbageCollection:
      return IdleColor(IdleCause::kGc);
    default:
      return IdleColor(IsIdle(ink) ? CauseOf(ink) : IdleCause::kUnknown);
  }
}

Rgba HueColor(std::uint32_t number) { return kHueColors[number % kHues]; }

Rgba FillColor(Category category) {
  switch (category) {
    case Category::kCompute:
      return 0x56b4e9ff;
    case Category::kCommunication:
      return KernelColor(KernelClass::kComm);
    case Category::kCopy:
      return KernelColor(KernelClass::kMemcpy);
    case Category::kHost:
      break;
  }
  return 0x9aa5b1ff;
}

double Luminance(Rgba color) {
  const auto linear = [&](unsigned shift) {
    const double part = static_cast<double>((color >> shift) & 0xff) / 255;
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(24) + 0.7152 * linear(16) + 0.0722 * linear(8);
}

double Contrast(Rgba a, Rgba b) {
  const double high = std::max(Luminance(a), Luminance(b)),
               low = std::min(Luminance(a), Luminance(b));
  return (high + 0.05) / (low + 0.05);
}

Rgba TextColorOn(Rgba background) {
  constexpr Rgba kBlack = 0x101418ff, kWhite = 0xffffffff;
  return Contrast(kBlack, background) >= Contrast(kWhite, background) ? kBlack : kWhite;
}

// 3 is what the guidelines ask of graphics (1.4.11).
Rgba StandingOut(Rgba color, Rgba background) {
  constexpr double kMinContrast = 3;
  constexpr unsigned kSteps = 16;
  const Rgba goal = TextColorOn(background);
  for (unsigned step = 0; step < kSteps; ++step) {
    Rgba mixed = color & 0xff;
    for (const unsigned shift : {8, 16, 24}) {
      const unsigned from = color >> shift & 0xff, to = goal >> shift & 0xff;
      mixed |= (from * (kSteps - step) + to * step) / kSteps << shift;
    }
    if (Contrast(mixed, background) >= kMinContrast) return mixed;
  }
  return goal;
}

Rgba WithAlpha(Rgba color, unsigned alpha) { return (color & 0xffffff00U) | (alpha & 0xffU); }

}  // namespace traceinject
