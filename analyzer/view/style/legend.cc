// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/style/legend.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/model/kernel_class.h"
#include "analyzer/view/run/device_findings.h"

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
  Entries(const Painted& paintable, const Look& look) : paintable_(paintable), look_(look) {}

  std::vector<LegendEntry> All() {
    AddCategories();
    if (paintable_.waits) {
      Painted waits;
      waits.waits = true;
      Put("waiting for other ranks", WithAlpha(FillColor(InkOf(KernelClass::kComm)), kWaitAlpha),
          waits);
    }
    if (paintable_.by_hue) {
      Painted by_hue;
      by_hue.by_hue = true;
      entries_.push_back({"one color per " + std::string(ColorModeName(look_.colors)), 0, by_hue});
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
  bool Has(Ink ink) const { return paintable_.inks.test(static_cast<std::size_t>(ink)); }

  static Painted Of(Ink ink) {
    Painted painted;
    painted.inks.set(static_cast<std::size_t>(ink));
    return painted;
  }

  // Colors that mean nearly the same, such as communication on a stream and of the whole GPU,
  // have one entry.
  void Put(std::string text, Rgba color, const Painted& meaning) {
    for (LegendEntry& entry : entries_) {
      if (entry.color == color) return entry.meaning.Add(meaning);
    }
    entries_.push_back({std::move(text), color, meaning});
  }

  void Add(Ink ink, std::string text) {
    if (Has(ink)) Put(std::move(text), FillColor(ink), Of(ink));
  }

  void AddCategories() {
    constexpr const char* kCategoryNames[] = {"computing", "communicating", "copying"};
    for (std::size_t i = 0; i < kCategories; ++i) {
      if (!paintable_.categories[i]) continue;
      Painted meaning;
      meaning.categories[i] = true;
      Put(kCategoryNames[i], FillColor(static_cast<Category>(i)), meaning);
    }
  }

  // Shades tell functions apart and mean nothing else.
  void AddCode(Ink first, unsigned shades, const char* text) {
    Painted meaning;
    for (unsigned i = 0; i < shades; ++i) {
      const auto ink = static_cast<Ink>(static_cast<unsigned>(first) + i);
      if (Has(ink)) meaning.Add(Of(ink));
    }
    if (meaning.inks.any()) Put(text, FillColor(first), meaning);
  }

  // A wait and the idle time that it caused have one color, and one entry.
  void AddPauses() {
    constexpr std::pair<IdleCause, Ink> kPauses[] = {
        {IdleCause::kDataWait, Ink::kDataWait},
        {IdleCause::kCheckpoint, Ink::kCheckpoint},
        {IdleCause::kGc, Ink::kGarbageCollection},
    };
    for (unsigned i = 0; i < kIdleCauses; ++i) {
      const auto cause = static_cast<IdleCause>(i);
      const auto* const pause =
          std::find_if(std::begin(kPauses), std::end(kPauses),
                       [cause](const auto& one) { return one.first == cause; });
      const bool host = pause != std::end(kPauses) && Has(pause->second);
      const std::string name(IdleCauseName(cause));
      if (host) Put(name, FillColor(InkOf(cause)), Of(pause->second));
      Add(InkOf(cause), "idle: " + name);
    }
  }

  const Painted& paintable_;
  const Look& look_;
  std::vector<LegendEntry> entries_;
};

}  // namespace

bool Painted::Overlaps(const Painted& other) const {
  bool any = (inks & other.inks).any() || (by_hue && other.by_hue) || (waits && other.waits);
  for (std::size_t i = 0; i < kCategories; ++i) any |= categories[i] && other.categories[i];
  return any;
}

void Painted::Add(const Painted& other) {
  inks |= other.inks;
  for (std::size_t i = 0; i < kCategories; ++i) categories[i] |= other.categories[i];
  by_hue |= other.by_hue;
  waits |= other.waits;
}

std::vector<LegendEntry> LegendOf(const Painted& paintable, const Look& look) {
  return Entries(paintable, look).All();
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
