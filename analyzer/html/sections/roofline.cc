// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/sections/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/charts/chart.h"
#include "analyzer/metrics/counters/kernel_counters.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

// A counter that tells less may tell of other kernels.
constexpr double kLeastPeakShare = 0.02;
constexpr std::size_t kMaxDots = 200;
constexpr std::size_t kDotNameWidth = 60;
// Dots that are named, those with most time, and how long a name may be.
constexpr std::size_t kNamedDots = 6, kLabelWidth = 28;

// Where a kernel stands: operations as its shapes tell, else as counters do; bytes as counters
// tell, else the least that its shapes need.
struct RooflinePlace {
  double flops_per_byte = 0, tflops_per_s = 0;
  bool measured_bytes = false;
};

// Empty: neither is known.
std::optional<RooflinePlace> PlaceOf(const proto::Kernel& kernel) {
  const proto::KernelWork& work = kernel.work();
  const proto::KernelCounters& counters = kernel.counters();
  RooflinePlace place{work.flops_per_byte(), work.tflops_per_s(), false};
  if (place.tflops_per_s <= 0 && counters.peak_share() >= kLeastPeakShare)
    place.tflops_per_s = counters.tflops_per_s();
  if (place.tflops_per_s > 0 && counters.memory_gb_per_s() > 0) {
    place.flops_per_byte = 1e3 * place.tflops_per_s / counters.memory_gb_per_s();
    place.measured_bytes = true;
  }
  if (place.flops_per_byte <= 0 || place.tflops_per_s <= 0) return std::nullopt;
  return place;
}

std::vector<const proto::Kernel*> KnownKernels(const proto::Run& run) {
  std::vector<const proto::Kernel*> known;
  for (const proto::Kernel& kernel : run.top_kernels()) {
    if (PlaceOf(kernel)) known.push_back(&kernel);
  }
  return known;
}

// The roof: of the GPU that is judged, else of the first one in the table.
const proto::DeviceReport* DeviceWithPeaks(const proto::Report& report) {
  const proto::DeviceReport* judged = JudgedDevice(report);
  if (judged != nullptr && judged->has_peaks()) return judged;
  for (const proto::DeviceReport& device : report.devices()) {
    if (device.has_peaks()) return &device;
  }
  return nullptr;
}

std::optional<double> PeakOf(const proto::GpuPeaks& peaks, const std::string& dtype) {
  if (dtype == "bf16" && peaks.has_bf16_tflops()) return peaks.bf16_tflops();
  if (dtype == "fp16" && peaks.has_fp16_tflops()) return peaks.fp16_tflops();
  if (dtype == "tf32" && peaks.has_tf32_tflops()) return peaks.tf32_tflops();
  if (dtype == "fp8" && peaks.has_fp8_tflops()) return peaks.fp8_tflops();
  if (dtype == "fp32" && peaks.has_fp32_tflops()) return peaks.fp32_tflops();
  return std::nullopt;
}

struct Roof {
  std::string dtypes;  // that have this rate: "bf16, fp16"
  double tflops = 0;
};

// Of the types that occur, the highest first.
std::vector<Roof> RoofsOf(const proto::GpuPeaks& peaks,
                          const std::vector<const proto::Kernel*>& kernels) {
  std::vector<Roof> roofs;
  for (const char* dtype : {"fp8", "bf16", "fp16", "tf32", "fp32"}) {
    const auto peak = PeakOf(peaks, dtype);
    const bool occurs = std::any_of(kernels.begin(), kernels.end(), [&](const proto::Kernel* one) {
      return one->dtype() == dtype;
    });
    if (!peak || !occurs) continue;
    if (!roofs.empty() && roofs.back().tflops == *peak)
      roofs.back().dtypes += std::string(", ") + dtype;
    else
      roofs.push_back({dtype, *peak});
  }
  return roofs;
}

// Up along the memory's rate, then level.
void DrawRoof(Chart& chart, const Scale& x, const proto::GpuPeaks& peaks, const Roof& roof) {
  const std::string text = fmt::format("{} {:g} TFLOPS", roof.dtypes, roof.tflops);
  if (!peaks.has_memory_gb_per_s() || peaks.memory_gb_per_s() <= 0)
    return chart.Rule(roof.tflops, "roof", text);
  const double tflops_per_intensity = peaks.memory_gb_per_s() * 1e-3;
  const double ridge = roof.tflops / tflops_per_intensity;
  std::vector<Point> line;
  if (ridge > x.low) line.push_back({x.low, x.low * tflops_per_intensity});
  if (ridge > x.low && ridge < x.high) line.push_back({ridge, roof.tflops});
  line.push_back({x.high, std::min(roof.tflops, x.high * tflops_per_intensity)});
  if (line.size() == 1) line.insert(line.begin(), {x.low, roof.tflops});
  chart.Line(line, "roof");
  if (ridge < x.high) chart.Label(x.high, roof.tflops, text);
}

// "compute", "memory": by the shapes, else by the unit that counters show to be full. Empty:
// neither.
std::string BoundOf(const proto::Kernel& kernel) {
  if (!kernel.work().bound().empty()) return kernel.work().bound();
  const std::string& limiter = kernel.counters().limiter();
  if (limiter == LimitName(KernelLimit::kMemory)) return "memory";
  for (const KernelLimit limit : {KernelLimit::kTensor, KernelLimit::kFp32, KernelLimit::kFp64}) {
    if (limiter == LimitName(limit)) return "compute";
  }
  return "";
}

std::string TipOf(const proto::Kernel& kernel, const std::string& name) {
  const proto::KernelWork& work = kernel.work();
  const RooflinePlace place = *PlaceOf(kernel);
  const std::string bound = BoundOf(kernel);
  std::string text = fmt::format("{}: {:.1f} TFLOP/s", name, place.tflops_per_s);
  if (work.has_peak_share())
    text += fmt::format(", {} of the peak", Percent(work.peak_share()));
  else if (kernel.counters().has_peak_share())
    text += fmt::format(", {} of the peak by counters", Percent(kernel.counters().peak_share()));
  text += fmt::format("; {:.1f} FLOP/byte{}", place.flops_per_byte,
                      place.measured_bytes ? " of measured bytes" : "");
  if (!bound.empty()) text += fmt::format(", {}-bound", bound);
  return text + fmt::format("; {} ({} of the kernel time)", FormatTime(kernel.total_ns()),
                            Percent(kernel.share()));
}

struct BoundMark {
  std::string_view bound, mark, title;
};
constexpr BoundMark kBoundMarks[] = {{"compute", "compute-bound", "compute-bound"},
                                     {"memory", "memory-bound", "memory-bound"},
                                     {"", "bound-unknown", "neither, or unknown"}};

std::string MarkOfKernel(const proto::Kernel& kernel) {
  const std::string bound = BoundOf(kernel);
  for (const BoundMark& each : kBoundMarks) {
    if (each.bound == bound) return std::string(each.mark);
  }
  return std::string(std::end(kBoundMarks)[-1].mark);
}

std::vector<ChartKey> LegendOf(const std::vector<const proto::Kernel*>& kernels, bool has_roof) {
  std::vector<ChartKey> legend;
  for (const BoundMark& each : kBoundMarks) {
    if (std::any_of(kernels.begin(), kernels.end(), [&](const proto::Kernel* kernel) {
          return MarkOfKernel(*kernel) == each.mark;
        }))
      legend.push_back({std::string(each.mark), std::string(each.title)});
  }
  if (has_roof) legend.push_back({"key-roof", "published roof"});
  return legend;
}

void WriteNotes(const HtmlReport& to, const std::vector<const proto::Kernel*>& known,
                const proto::DeviceReport* device) {
  double share = 0;
  std::size_t measured = 0;
  for (const proto::Kernel* kernel : known) {
    share += kernel->share();
    measured += PlaceOf(*kernel)->measured_bytes ? 1 : 0;
  }
  const proto::KernelTotals& totals = to.report.run().kernels();
  std::string text = fmt::format(
      "FLOPs are known for {} of {} kernel names, {} of the kernel time; dot size shows kernel "
      "time.",
      FormatCount(static_cast<std::int64_t>(known.size())), FormatCount(totals.distinct_names()),
      Percent(share));
  if (measured < known.size())
    text += fmt::format(" FLOP/byte is an upper bound{}: each matrix is counted as moved once.",
                        measured > 0 ? " where bytes are not measured" : "");
  if (measured > 0)
    text += fmt::format(" Bytes of {} are as the counters of the memory tell.",
                        Plural(static_cast<std::int64_t>(measured), "name"));
  text += device != nullptr ? fmt::format(" Roof: published rates of {}.", device->peaks().title())
                            : " No roof: the published rates of this GPU are not known.";
  if (known.size() > kMaxDots)
    text += fmt::format(" {} with less time are not shown.",
                        FormatCount(static_cast<std::int64_t>(known.size() - kMaxDots)));
  to.out.Leaf("p", text, {{"class", "note"}});
}

}  // namespace

void WriteRoofline(const HtmlReport& to) {
  const std::vector<const proto::Kernel*> known = KnownKernels(to.report.run());
  if (known.empty())
    return to.out.Leaf("p",
                       "No roofline: no kernel has known FLOPs and bytes. They come from recorded "
                       "cuBLAS, cuDNN, and attention calls, and from hardware counters "
                       "(TRACEINJECT_COUNTERS=auto).",
                       {{"class", "note"}});
  const proto::DeviceReport* device = DeviceWithPeaks(to.report);
  const std::vector<Roof> roofs =
      device != nullptr ? RoofsOf(device->peaks(), known) : std::vector<Roof>();
  double least_x = INFINITY, most_x = 0, least_y = INFINITY, most_y = 0;
  for (const proto::Kernel* kernel : known) {
    const RooflinePlace place = *PlaceOf(*kernel);
    least_x = std::min(least_x, place.flops_per_byte);
    most_x = std::max(most_x, place.flops_per_byte);
    least_y = std::min(least_y, place.tflops_per_s);
    most_y = std::max(most_y, place.tflops_per_s);
  }
  const double fastest = most_y;
  for (const Roof& roof : roofs) most_y = std::max(most_y, roof.tflops);
  Axis x{PowersOfTen(least_x, most_x), {}, "arithmetic intensity, FLOP/byte"};
  Axis y{PowersOfTen(least_y, most_y), {}, "TFLOP/s"};
  x.ticks = TicksOf(x.scale, 6, PlainTick);
  y.ticks = TicksOf(y.scale, 6, PlainTick);
  const std::size_t shown = std::min(kMaxDots, known.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(known[i]->name());
  names = ShortKernelNames(names, kDotNameWidth);
  {
    const Scale scale = x.scale;
    Chart chart(to.out,
                {"Roofline: kernel performance against GPU peak",
                 fmt::format("{} at {:.3g} to {:.3g} FLOP/byte reach {:.3g} to {:.3g} TFLOP/s",
                             Plural(static_cast<std::int64_t>(known.size()), "kernel name"),
                             least_x, most_x, least_y, fastest),
                 LegendOf(known, !roofs.empty())},
                std::move(x), std::move(y), 320);
    for (const Roof& roof : roofs) DrawRoof(chart, scale, device->peaks(), roof);
    const auto radius = [&](std::size_t i) { return 3.5 + 14 * std::sqrt(known[i]->share()); };
    const auto place = [&](std::size_t i) {
      const RooflinePlace at = *PlaceOf(*known[i]);
      return Point{at.flops_per_byte, at.tflops_per_s};
    };
    for (std::size_t i = 0; i < shown; ++i)
      chart.Dot(place(i), "dot " + MarkOfKernel(*known[i]), TipOf(*known[i], names[i]), radius(i));
    for (std::size_t i = 0; i < std::min(shown, kNamedDots); ++i)
      chart.Name(place(i), radius(i), ShortenMiddle(names[i], kLabelWidth));
  }
  WriteNotes(to, known, device);
}

}  // namespace traceinject
