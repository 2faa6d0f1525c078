// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/style/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/model/kernel_class.h"
#include "analyzer/view/run/device_findings.h"
#include "analyzer/view/style/theme.h"
#include "viewer/core/session/annotations.h"

namespace traceinject {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

// G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation
// of Color Vision Deficiency", 2009, severity 1.0; for linear RGB.
constexpr Matrix kUnchanged = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};

Triple Product(const Matrix& matrix, const Triple& v) {
  Triple product{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) product[i] += matrix[i][j] * v[j];
    product[i] = std::clamp(product[i], 0.0, 1.0);
  }
  return product;
}

Triple LinearRgb(Rgba color) {
  Triple rgb{};
  for (unsigned i = 0; i < 3; ++i) {
    const double part = static_cast<double>((color >> (24 - 8 * i)) & 0xff) / 255;
    rgb[i] = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

// CIE L*a*b*, white point D65.
Triple Lab(const Triple& rgb) {
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
  const double y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
  const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

// The distance in L*a*b* to the reader who sees them most alike. 2.3 is just noticeable side by
// side.
double Distance(Rgba a, Rgba b) {
  double least = 1000;
  for (const Matrix& sight : {kUnchanged, kDeuteranopia, kProtanopia}) {
    const Triple left = Lab(Product(sight, LinearRgb(a)));
    const Triple right = Lab(Product(sight, LinearRgb(b)));
    least = std::min(least, std::hypot(left[0] - right[0], left[1] - right[1], left[2] - right[2]));
  }
  return least;
}

// As what only waits looks on a background.
Rgba On(Rgba background, Rgba color) {
  Rgba mixed = 0xff;
  for (const unsigned shift : {8U, 16U, 24U}) {
    const unsigned above = color >> shift & 0xff, below = background >> shift & 0xff;
    mixed |= (above * kWaitAlpha + below * (255 - kWaitAlpha)) / 255 << shift;
  }
  return mixed;
}

struct Named {
  std::string name;
  Rgba color;
};

void ExpectApart(const std::vector<Named>& colors, double least) {
  for (std::size_t i = 0; i < colors.size(); ++i) {
    for (std::size_t j = i + 1; j < colors.size(); ++j) {
      EXPECT_GE(Distance(colors[i].color, colors[j].color), least)
          << colors[i].name << " and " << colors[j].name;
    }
  }
}

std::vector<Named> AllFills() {
  std::vector<Named> fills;
  for (unsigned ink = 0; ink <= static_cast<unsigned>(InkOf(IdleCause::kUnknown)); ++ink) {
    fills.push_back({"ink " + std::to_string(ink), FillColor(static_cast<Ink>(ink))});
  }
  const auto last = static_cast<unsigned>(Ink::kLibraryCode) + kLibraryCodeInks;
  for (auto ink = static_cast<unsigned>(Ink::kOwnCode); ink < last; ++ink) {
    fills.push_back({"ink " + std::to_string(ink), FillColor(static_cast<Ink>(ink))});
  }
  for (unsigned i = 0; i <= kCategories; ++i) {
    fills.push_back({"category " + std::to_string(i), FillColor(static_cast<Category>(i))});
  }
  for (std::uint32_t i = 0; i < kHues; ++i) fills.push_back({"hue", HueColor(i)});
  return fills;
}

std::vector<Named> InksOf(unsigned first, unsigned count) {
  std::vector<Named> inks;
  for (unsigned ink = first; ink < first + count; ++ink) {
    inks.push_back({"ink " + std::to_string(ink), FillColor(static_cast<Ink>(ink))});
  }
  return inks;
}

std::vector<Named> KernelColors(const std::vector<KernelClass>& classes) {
  std::vector<Named> kernels;
  for (const KernelClass kernel_class : classes) {
    kernels.push_back(
        {std::string(KernelClassTitle(kernel_class)), FillColor(InkOf(kernel_class))});
  }
  return kernels;
}

std::vector<KernelClass> EveryKernelClass() {
  const auto all = AllKernelClasses();
  return {all.begin(), all.end()};
}

// Those that take most of the time of most programs.
const std::vector<KernelClass> kMainClasses = {KernelClass::kComm,
                                               KernelClass::kMemcpy,
                                               KernelClass::kGemm,
                                               KernelClass::kNorm,
                                               KernelClass::kAttentionForward,
                                               KernelClass::kOptimizer,
                                               KernelClass::kElementwise,
                                               KernelClass::kOther};

std::vector<Named> IdleColors() {
  std::vector<Named> causes;
  for (unsigned i = 0; i < kIdleCauses; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    causes.push_back({"idle: " + std::string(IdleCauseName(cause)), FillColor(InkOf(cause))});
  }
  return causes;
}

std::vector<Named> HueColors() {
  std::vector<Named> hues;
  for (std::uint32_t i = 0; i < kHues; ++i) hues.push_back({std::to_string(i), HueColor(i)});
  return hues;
}

// What can stand beside each other in one row or bar.
struct Neighbors {
  std::string where;
  std::vector<Named> colors;
  double least;  // distance of any two
};

std::vector<Neighbors> AllNeighbors() {
  const Rgba compute = FillColor(Category::kCompute), copy = FillColor(Category::kCopy),
             communication = FillColor(Category::kCommunication);
  return {
      {"row of a GPU",
       {{"compute", compute},
        {"communication", communication},
        {"copies", copy},
        {"dark background", DarkTheme().background}},
       20},
      {"row of a GPU in light",
       {{"compute", compute},
        {"communication", communication},
        {"copies", copy},
        {"light background", LightTheme().background}},
       20},
      {"bar of where the time goes",
       {{"compute", compute},
        {"communication", communication},
        {"copies", copy},
        {"idle", kIdlePartColor}},
       20},
      {"row of a stream", KernelColors(EveryKernelClass()), 12},
      {"row of a stream, mostly", KernelColors(kMainClasses), 20},
      {"row of a stream by name or stream", HueColors(), 18},
      {"row of idle time", IdleColors(), 15},
      {"row of calls",
       InksOf(static_cast<unsigned>(Ink::kCallLaunch),
              1 + static_cast<unsigned>(Ink::kCallOther) - static_cast<unsigned>(Ink::kCallLaunch)),
       14},
      {"row of NVTX ranges", InksOf(static_cast<unsigned>(Ink::kNvtx), kNvtxInks), 14},
      {"row of pauses",
       {{"checkpoint", FillColor(Ink::kCheckpoint)}, {"gc", FillColor(Ink::kGarbageCollection)}},
       15},
      {"row of steps",
       {{"step", FillColor(Ink::kStep)}, {"unusual step", FillColor(Ink::kStepUnusual)}},
       20},
      {"row of steps, the other half",
       {{"odd step", FillColor(Ink::kStepOdd)}, {"unusual step", FillColor(Ink::kStepUnusual)}},
       19},
  };
}

TEST(Palette, WhatStandsInOneRowOrBarIsToldApartWithoutRedOrGreen) {
  for (const Neighbors& neighbors : AllNeighbors()) {
    SCOPED_TRACE(neighbors.where);
    ExpectApart(neighbors.colors, neighbors.least);
  }
}

// The row of idle time lies above those of streams, and one legend explains both.
TEST(Palette, CausesOfIdleTimeAreToldApartFromKernels) {
  const auto least = [](const Named& cause, const Named& kernel) {
    // Waiting for communication has the color of communication.
    if (cause.color == FillColor(InkOf(IdleCause::kCommunication)) &&
        kernel.color == FillColor(InkOf(KernelClass::kComm)))
      return 0;
    return 10;
  };
  for (const Named& cause : IdleColors()) {
    for (const Named& kernel : KernelColors(EveryKernelClass())) {
      EXPECT_GE(Distance(cause.color, kernel.color), least(cause, kernel))
          << cause.name << " and " << kernel.name;
    }
  }
  const Rgba host_wait = FillColor(InkOf(IdleCause::kHostWait));
  for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
    EXPECT_GE(Distance(host_wait, On(theme->background, FillColor(InkOf(KernelClass::kComm)))), 15)
        << "host wait and what waits for other ranks, in " << theme->name;
  }
  for (const Named& kernel : KernelColors(kMainClasses)) {
    EXPECT_GE(Distance(host_wait, kernel.color), 20) << "host wait and " << kernel.name;
  }
}

TEST(Palette, CodeOfTheProgramIsToldApartFromLibraries) {
  for (unsigned own = 0; own < kOwnCodeInks; ++own) {
    for (unsigned library = 0; library < kLibraryCodeInks; ++library) {
      const auto of = [](Ink first, unsigned number) {
        return FillColor(static_cast<Ink>(static_cast<unsigned>(first) + number));
      };
      EXPECT_GE(Distance(of(Ink::kOwnCode, own), of(Ink::kLibraryCode, library)), 20)
          << own << " " << library;
    }
  }
}

TEST(Palette, EveryFillBearsText) {
  for (const Named& fill : AllFills()) {
    EXPECT_GE(Contrast(fill.color, TextColorOn(fill.color)), 4.5) << fill.name;
  }
}

TEST(Palette, EveryFillStandsOutFromBothBackgrounds) {
  for (const Named& fill : AllFills()) {
    for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
      EXPECT_GE(Contrast(fill.color, theme->background), 1.6) << fill.name << theme->name;
    }
  }
}

TEST(Palette, ContrastIsThatOfTheGuidelines) {
  EXPECT_NEAR(Contrast(0x000000ff, 0xffffffff), 21, 0.01);
  EXPECT_NEAR(Contrast(0x777777ff, 0xffffffff), 4.48, 0.01);
}

TEST(Theme, TextCanBeReadOnAllThatLiesBelowIt) {
  for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
    for (const Rgba below : {theme->background, theme->row_tint, theme->heading, theme->ruler}) {
      EXPECT_GE(Contrast(theme->text, below), 7) << theme->name;
      EXPECT_GE(Contrast(theme->dim_text, below), 4.5) << theme->name;
      for (const Rgba news : {theme->warning, theme->bad, theme->good, theme->link}) {
        EXPECT_GE(Contrast(news, below), 4.5) << theme->name;
      }
    }
    EXPECT_GE(Contrast(theme->text, theme->popup), 7) << theme->name;
    EXPECT_GE(Contrast(theme->dim_text, theme->popup), 4.5) << theme->name;
  }
}

TEST(Theme, ArrowsAreSeenOnWhatTheyCross) {
  for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
    for (const Rgba below : {theme->background, theme->row_tint, theme->heading, theme->popup}) {
      EXPECT_GE(Contrast(theme->arrow, below), 4.5) << theme->name;
    }
  }
}

TEST(Palette, EveryColorCanBeMadeToStandOut) {
  for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
    for (const Rgba color : {0x000000ffU, 0xffffffffU, 0xe0e0e0ffU, 0xffb74dffU, 0x202020ffU}) {
      EXPECT_GE(Contrast(StandingOut(color, theme->background), theme->background), 3);
    }
    for (const Rgba color : MarkColors()) {
      const Rgba seen = StandingOut(color, theme->background);
      EXPECT_GE(Contrast(seen, theme->background), 3) << std::hex << color;
      EXPECT_TRUE(seen == color || theme == &LightTheme()) << "they were chosen for dark";
    }
  }
}

TEST(Theme, IsFoundByItsName) {
  for (const ThemeId id : {ThemeId::kDark, ThemeId::kLight}) {
    EXPECT_EQ(ThemeCalled(ThemeOf(id).name), id);
  }
  EXPECT_FALSE(ThemeCalled("blue").has_value());
}

}  // namespace
}  // namespace traceinject
