// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/ink.h"

namespace traceinject {

Ink InkOf(KernelClass kernel_class) { return static_cast<Ink>(kernel_class); }

Ink InkOf(ApiClass api_class) {
  const auto offset = static_cast<unsigned>(api_class) - static_cast<unsigned>(ApiClass::kLaunch);
  return static_cast<Ink>(static_cast<unsigned>(Ink::kCallLaunch) + offset);
}

Ink InkOf(HostSpanKind kind) {
  switch (kind) {
    case HostSpanKind::kCheckpoint:
      return Ink::kCheckpoint;
    case HostSpanKind::kGarbageCollection:
      return Ink::kGarbageCollection;
    case HostSpanKind::kGpuWait:
      break;
  }
  return Ink::kCallSynchronize;
}

std::uint32_t TextHash(std::string_view text) {
  // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ : small, and stable between runs and builds.
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash >> 16;
}

Ink NvtxInk(std::string_view text) {
  return static_cast<Ink>(static_cast<unsigned>(Ink::kNvtx) + TextHash(text) % kNvtxInks);
}

Ink CodeInk(std::string_view function, bool own) {
  const Ink first = own ? Ink::kOwnCode : Ink::kLibraryCode;
  return static_cast<Ink>(static_cast<unsigned>(first) +
                          TextHash(function) % (own ? kOwnCodeInks : kLibraryCodeInks));
}

Category CategoryOf(Ink ink) {
  if (ink >= Ink::kCallLaunch) return Category::kHost;
  switch (static_cast<KernelClass>(ink)) {
    case KernelClass::kComm:
      return Category::kCommunication;
    case KernelClass::kMemcpy:
    case KernelClass::kMemset:
      return Category::kCopy;
    default:
      return Category::kCompute;
  }
}

}  // namespace traceinject
