// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/palette.h"

#include <array>

namespace traceinject {
namespace {

// Compute in greens, blues and violets by kind, communication red, copies amber: the three
// categories stay apart for readers who see few colours.
Rgba KernelColour(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kComm:
      return 0xd9534fff;
    case KernelClass::kMemcpy:
      return 0xe8a33dff;
    case KernelClass::kMemset:
      return 0xc9a66bff;
    case KernelClass::kAttentionBackward:
      return 0x7d6fd0ff;
    case KernelClass::kAttentionForward:
      return 0x9b8fe8ff;
    case KernelClass::kKvCache:
      return 0xb39ddbff;
    case KernelClass::kMoe:
      return 0x8e63ceff;
    case KernelClass::kEmbedding:
      return 0x5fa8a0ff;
    case KernelClass::kConv:
      return 0x2f8fd0ff;
    case KernelClass::kGemm:
      return 0x4f9be8ff;
    case KernelClass::kNorm:
      return 0x6cbf6cff;
    case KernelClass::kSoftmaxLoss:
      return 0x3fa796ff;
    case KernelClass::kOptimizer:
      return 0x9ccc65ff;
    case KernelClass::kQuant:
      return 0x5c9e8eff;
    case KernelClass::kRope:
      return 0x7fc8b8ff;
    case KernelClass::kReduce:
      return 0x4db6acff;
    case KernelClass::kSortTopk:
      return 0x4f8f7fff;
    case KernelClass::kDropoutRng:
      return 0xa5b86cff;
    case KernelClass::kCopyCast:
      return 0x8fae8fff;
    case KernelClass::kElementwise:
      return 0x7cb87cff;
    case KernelClass::kTriton:
      return 0x62b0c9ff;
    case KernelClass::kOther:
      return 0x9aa5b1ff;
  }
  return 0x9aa5b1ff;
}

Rgba CallColour(Ink ink) {
  switch (ink) {
    case Ink::kCallLaunch:
      return 0x6f9fc8ff;
    case Ink::kCallCopy:
      return 0xd1a05aff;
    case Ink::kCallMemset:
      return 0xb59a70ff;
    case Ink::kCallSynchronise:
      return 0xd97a86ff;
    case Ink::kCallEvent:
      return 0x8d9aa8ff;
    case Ink::kCallAllocate:
      return 0xc27fc2ff;
    case Ink::kCallGraphLaunch:
      return 0x4f86c0ff;
    default:
      return 0x93a0adff;
  }
}

constexpr std::array<Rgba, kNvtxInks> kNvtxColours = {
    0x76b7b2ff, 0xf0c75eff, 0xb7a3d0ff, 0x8cc47aff, 0xe39a7bff, 0x86aadfff, 0xd6a3bdff, 0xa9b665ff};

}  // namespace

Rgba FillColour(Ink ink) {
  if (ink < Ink::kCallLaunch) return KernelColour(static_cast<KernelClass>(ink));
  if (ink < Ink::kNvtx) return CallColour(ink);
  if (ink < Ink::kCollective) {
    return kNvtxColours[static_cast<unsigned>(ink) - static_cast<unsigned>(Ink::kNvtx)];
  }
  return KernelColour(KernelClass::kComm);
}

Rgba FillColour(Category category) {
  switch (category) {
    case Category::kCompute:
      return 0x5aa8d6ff;
    case Category::kCommunication:
      return KernelColour(KernelClass::kComm);
    case Category::kCopy:
      return KernelColour(KernelClass::kMemcpy);
    case Category::kHost:
      break;
  }
  return 0x9aa5b1ff;
}

Rgba TextColourOn(Rgba background) {
  const unsigned red = background >> 24, green = (background >> 16) & 0xff,
                 blue = (background >> 8) & 0xff;
  return 299 * red + 587 * green + 114 * blue > 110 * 1000 ? 0x101418ff : 0xffffffff;
}

Rgba WithAlpha(Rgba colour, unsigned alpha) { return (colour & 0xffffff00U) | (alpha & 0xffU); }

}  // namespace traceinject
