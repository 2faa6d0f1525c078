// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/style/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/core/run/device_findings.h"

namespace traceinject {
namespace {

// Hues of Okabe and Ito (https://jfly.uni-koeln.de/color/), moved apart in lightness: matrix
// products blue, attention purple, the small kernels around them green, communication vermilion,
// copies yellow. What must be told apart stays apart without red or green receptors; every color
// bears black or white text and stands out from the dark and from the light background. The test
// measures all three.
Rgba KernelColor(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kComm:
      return 0xd55e00ff;
    case KernelClass::kMemcpy:
      return 0xe6b84aff;
    case KernelClass::kMemset:
      return 0xc49a3aff;
    case KernelClass::kAttentionBackward:
      return 0xc23aa8ff;
    case KernelClass::kAttentionForward:
      return 0xe048c3ff;
    case KernelClass::kKvCache:
      return 0xe58ad6ff;
    case KernelClass::kMoe:
      return 0xb468e4ff;
    case KernelClass::kEmbedding:
      return 0x6bb0a0ff;
    case KernelClass::kConv:
      return 0x5b8defff;
    case KernelClass::kGemm:
      return 0x2166f8ff;
    case KernelClass::kNorm:
      return 0x167f49ff;
    case KernelClass::kSoftmaxLoss:
      return 0x2f9e6bff;
    case KernelClass::kOptimizer:
      return 0xb6cb8eff;
    case KernelClass::kQuant:
      return 0x4f9980ff;
    case KernelClass::kRope:
      return 0xa5d0c8ff;
    case KernelClass::kReduce:
      return 0x3f9f8cff;
    case KernelClass::kSortTopk:
      return 0x649b8dff;
    case KernelClass::kDropoutRng:
      return 0xb5c7a5ff;
    case KernelClass::kCopyCast:
      return 0x9fb5b4ff;
    case KernelClass::kElementwise:
      return 0xafc4c3ff;
    case KernelClass::kTriton:
      return 0x62b0c9ff;
    case KernelClass::kOther:
      return 0x646e78ff;
  }
  return 0x646e78ff;
}

Rgba CallColor(Ink ink) {
  switch (ink) {
    case Ink::kCallLaunch:
      return 0x6f9fc8ff;
    case Ink::kCallCopy:
      return 0xd1a05aff;
    case Ink::kCallMemset:
      return 0xb59a70ff;
    case Ink::kCallSynchronize:
      return 0x9e5493ff;
    case Ink::kCallEvent:
      return 0x8d9aa8ff;
    case Ink::kCallAllocate:
      return 0x6c65bfff;
    case Ink::kCallGraphLaunch:
      return 0x4f86c0ff;
    default:
      return 0x93a0adff;
  }
}

constexpr std::array<Rgba, kNvtxInks> kNvtxColors = {
    0x76b7b2ff, 0xd9b44aff, 0xb7a3d0ff, 0x8cc47aff, 0xe39a7bff, 0x86aadfff, 0xd6a3bdff, 0xa9b665ff};

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
      return 0xf6b600ff;
    case IdleCause::kSync:
      return 0x9e5493ff;
    case IdleCause::kDrainedBySync:
      return 0xde86d0ff;
    case IdleCause::kAllocator:
      return 0x6c65bfff;
    case IdleCause::kCheckpoint:
      return 0x776d5dff;
    case IdleCause::kGc:
      return 0xb4cc60ff;
    case IdleCause::kLaunch:
      return 0x3ea2ffff;
    case IdleCause::kPython:
      return 0x00dc99ff;
    case IdleCause::kHostWait:
      return 0x1164f3ff;
    case IdleCause::kCopy:
      return 0xb98755ff;
    case IdleCause::kCommunication:
      return 0xd55e00ff;
    case IdleCause::kQueued:
      return 0xbbc5c9ff;
    case IdleCause::kUnknown:
      break;
  }
  return 0x88949aff;
}

// For names and streams: as far apart as so many can be.
constexpr std::array<Rgba, kHues> kHueColors = {0x3ea2ffff, 0xf6b600ff, 0x167f49ff, 0xe048c3ff,
                                                0xd55e00ff, 0x00dc99ff, 0x6c65bfff, 0xb6cb8eff,
                                                0x1164f3ff, 0xb98755ff, 0xde86d0ff, 0x88949aff};

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
