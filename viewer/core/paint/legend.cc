// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/legend.h"

#include "analyzer/model/kernel_class.h"
#include "viewer/core/run/device_findings.h"

namespace traceinject {
namespace {

struct NamedInk {
  Ink ink;
  const char* text;
};

constexpr NamedInk kHostInks[] = {
    {Ink::kCollective, "NCCL call"},
    {Ink::kCallLaunch, "launch call"},
    {Ink::kCallGraphLaunch, "graph launch call"},
    {Ink::kCallCopy, "copy call"},
    {Ink::kCallMemset, "memset call"},
    {Ink::kCallSynchronize, "synchronizing call"},
    {Ink::kCallEvent, "event call"},
    {Ink::kCallAllocate, "allocation call"},
    {Ink::kCallOther, "other call"},
    {Ink::kStepUnusual, "unusual step"},
};

class Entries {
 public:
  Entries(const Painted& painted, const Look& look) : painted_(painted), look_(look) {}

  std::vector<LegendEntry> All() {
    constexpr const char* kCategoryNames[] = {"computing", "communicating", "copying"};
    for (std::size_t i = 0; i < kCategories; ++i) {
      if (!painted_.categories[i]) continue;
      entries_.push_back({kCategoryNames[i], FillColor(static_cast<Category>(i))});
    }
    if (painted_.waits)
      Put("waiting for other ranks", WithAlpha(FillColor(InkOf(KernelClass::kComm)), kWaitAlpha));
    if (painted_.by_hue) {
      entries_.push_back({"one color per " + std::string(ColorModeName(look_.colors)), 0});
    }
    AddPauses();
    for (const KernelClass kernel_class : AllKernelClasses()) {
      Add(InkOf(kernel_class), std::string(KernelClassTitle(kernel_class)));
    }
    for (const NamedInk& named : kHostInks) Add(named.ink, named.text);
    AddCode(Ink::kOwnCode, kOwnCodeInks, "program's own code");
    AddCode(Ink::kLibraryCode, kLibraryCodeInks, "code of libraries");
    return std::move(entries_);
  }

 private:
  bool Has(Ink ink) const { return painted_.inks.test(static_cast<std::size_t>(ink)); }

  // Colors that mean nearly the same, such as communication on a stream and of the whole GPU,
  // have one entry.
  void Put(std::string text, Rgba color) {
    for (const LegendEntry& entry : entries_) {
      if (entry.color == color) return;
    }
    entries_.push_back({std::move(text), color});
  }

  void Add(Ink ink, std::string text) {
    if (Has(ink)) Put(std::move(text), FillColor(ink));
  }

  // Shades tell functions apart and mean nothing else.
  void AddCode(Ink first, unsigned shades, const char* text) {
    for (unsigned i = 0; i < shades; ++i) {
      if (Has(static_cast<Ink>(static_cast<unsigned>(first) + i)))
        return Put(text, FillColor(first));
    }
  }

  // A wait and the idle time that it caused have one color, and one entry.
  void AddPauses() {
    for (unsigned i = 0; i < kIdleCauses; ++i) {
      const auto cause = static_cast<IdleCause>(i);
      const bool idle = Has(InkOf(cause));
      const bool host = (cause == IdleCause::kDataWait && Has(Ink::kDataWait)) ||
                        (cause == IdleCause::kCheckpoint && Has(Ink::kCheckpoint)) ||
                        (cause == IdleCause::kGc && Has(Ink::kGarbageCollection));
      if (!idle && !host) continue;
      const std::string name(IdleCauseName(cause));
      Put(host ? name : "idle: " + name, FillColor(InkOf(cause)));
    }
  }

  const Painted& painted_;
  const Look& look_;
  std::vector<LegendEntry> entries_;
};

}  // namespace

std::vector<LegendEntry> LegendOf(const Painted& painted, const Look& look) {
  return Entries(painted, look).All();
}

std::vector<LegendPlace> PlaceLegend(const std::vector<float>& widths_px, float room_px, int lines,
                                     float more_px) {
  const auto place = [&](float kept_px) {
    std::vector<LegendPlace> places;
    LegendPlace next;
    for (const float width : widths_px) {
      const auto room = [&] { return room_px - (next.line + 1 == lines ? kept_px : 0); };
      if (next.x > 0 && next.x + width > room()) next = {0, next.line + 1};
      if (next.line == lines || next.x + width > room()) break;
      places.push_back(next);
      next.x += width;
    }
    return places;
  };
  std::vector<LegendPlace> places = place(0);
  return places.size() == widths_px.size() ? places : place(more_px);
}

}  // namespace traceinject
