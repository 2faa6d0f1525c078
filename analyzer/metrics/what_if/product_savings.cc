// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/product_savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/kernels/data_types.h"
#include "analyzer/metrics/kernels/kernel_signs.h"
#include "analyzer/metrics/kernels/kernel_work.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

// A type pays only if its peak is so much higher.
constexpr double kWorthwhile = 1.5;
// Numbers a side of the blocks that a kernel computes of a result, about.
constexpr std::int64_t kTile = 128;
// With a side below this even one block is mostly empty.
constexpr std::int64_t kSlim = 64;
// Blocks for less than this part of the multiprocessors: not even splitting k fills them well.
constexpr std::int64_t kFewBlocks = 4;
constexpr std::int64_t kRowBytes = 16;  // that rows are a multiple of where they are aligned

enum class Fault : std::uint8_t { kNone, kUnaligned, kOlder, kSmall };
constexpr std::array<std::string_view, 4> kFaultTexts = {
    "", "rows that are not a multiple of 16 bytes", "kernels built for an older GPU",
    "sizes too small for this GPU"};

// Of one shape of a kernel.
struct Kernel {
  std::uint32_t name = kNone;
  bool product = false, convolution = false;
  bool ordinary_fp32 = false;  // without tensor cores
  bool tf32 = false;           // computes fp32 on them
  bool unaligned = false, older = false;
  KernelTraits traits;

  bool relevant() const { return product || ordinary_fp32; }
};

std::int64_t RowMultiple(int type) {
  const DataType* known = FindDataType(type);
  return known == nullptr || known->bytes <= 0
             ? 1
             : std::max<std::int64_t>(
                   1, static_cast<std::int64_t>(static_cast<double>(kRowBytes) / known->bytes));
}

// The sizes along which rows lie in memory (column-major, as cuBLAS sees them).
std::vector<std::int64_t> RowSizes(const GemmShape& shape) {
  std::vector<std::int64_t> sizes = {shape.m};
  if (shape.trans_a || !shape.trans_b) sizes.push_back(shape.k);
  if (shape.trans_b) sizes.push_back(shape.n);
  return sizes;
}

// Those that are unaligned.
std::vector<std::int64_t> OddSizes(const GemmShape& shape) {
  const std::int64_t multiple = RowMultiple(shape.type_a);
  std::vector<std::int64_t> sizes = RowSizes(shape);
  std::erase_if(sizes, [&](std::int64_t size) { return size % multiple == 0; });
  return sizes;
}

std::int64_t Tiles(std::int64_t size) { return (size + kTile - 1) / kTile; }

// What the caller could have asked for otherwise.
Fault FaultOf(const Kernel& kernel, const GemmShape& shape, const Device& device) {
  const bool tensor_cores = kernel.traits.tensor_cores.value_or(false);
  if (tensor_cores && (kernel.unaligned || !OddSizes(shape).empty())) return Fault::kUnaligned;
  if (kernel.older) return Fault::kOlder;
  const bool slim = shape.batch == 1 && std::min(shape.m, shape.n) < kSlim;
  const double blocks = static_cast<double>(Tiles(shape.m)) * static_cast<double>(Tiles(shape.n)) *
                        static_cast<double>(std::max<std::int64_t>(shape.batch, 1));
  const bool few = device.sm_count && kFewBlocks * blocks < *device.sm_count;
  return slim || few ? Fault::kSmall : Fault::kNone;
}

// From one size to the next that suits all kernels.
std::int64_t Padded(std::int64_t size) {
  const std::int64_t multiple = size >= 512 ? 64 : 8;
  return (size + multiple - 1) / multiple * multiple;
}

class ProductSearch {
 public:
  ProductSearch(const Rank& rank, const Device& device, const LibraryCalls& calls)
      : rank_(rank), device_(device), calls_(calls), spec_(FindGpuSpec(device.name)) {
    for (const KernelShape& shape : rank.shapes) kernels_.push_back(KernelOf(shape));
    if (spec_ != nullptr) ChooseType();
  }

  ProductSavings Find(OpRange range) {
    NoteTf32(range);
    if (spec_ == nullptr || !MayFind()) return {};
    const GpuOps& ops = device_.ops;
    for (auto op = static_cast<std::uint32_t>(range.begin); op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel) continue;
      const Kernel& kernel = kernels_[ops.detail[op]];
      if (!kernel.relevant()) continue;
      const std::uint32_t product = calls_.ProductOf(ops.launch[op]);
      product == kNone ? AddUnsized(op, kernel) : AddProduct(op, kernel, product);
    }
    if (!low_.lengths.empty()) TellPrecision();
    if (!inefficient_.lengths.empty()) TellInefficient();
    return {std::move(low_), std::move(inefficient_)};
  }

 private:
  // The products of one shape by kernels of one name.
  struct Known {
    const GemmShape* shape = nullptr;
    std::string dtype;
    std::optional<double> low_ns;   // in the other type
    std::optional<double> good_ns;  // of a good shape
    Fault fault = Fault::kNone;
    double reached_ns = 0;                       // one, at what the best ones reach
    double count = 0, took_ns = 0, lost_ns = 0;  // of those with a fault
  };

  Kernel KernelOf(const KernelShape& shape) const {
    const std::string_view name = rank_.string(shape.name);
    Kernel kernel;
    kernel.name = shape.name;
    const bool helper = IsHelperKernel(name);
    kernel.product = shape.kernel_class == KernelClass::kGemm && !helper;
    kernel.convolution = shape.kernel_class == KernelClass::kConv && !helper;
    if (!kernel.product && !kernel.convolution) return kernel;
    kernel.traits = TraitsOf(name, shape.kernel_class);
    kernel.ordinary_fp32 =
        kernel.traits.dtype == "fp32" && MultipliesOnOrdinaryCores(name, kernel.traits);
    // Of cuBLAS' nvjet kernels only those for fp32 name no type.
    kernel.tf32 =
        kernel.traits.dtype == "tf32" || (kernel.traits.dtype.empty() && MatchesAny(name, "nvjet"));
    kernel.unaligned = LoadsUnalignedRows(name);
    // Libraries use these for TF32 on new GPUs too: nothing that a caller could change.
    kernel.older = IsBuiltForOlderGpu(kernel.traits, device_) && !kernel.tf32;
    return kernel;
  }

  // Of these operations: a program can allow TF32 for a part of its run.
  void NoteTf32(OpRange range) {
    for (std::size_t op = range.begin; op < range.end; ++op) {
      if (device_.ops.kind[op] != OpKind::kKernel) continue;
      const Kernel& kernel = kernels_[device_.ops.detail[op]];
      if (!kernel.tf32) continue;
      tf32_products_ |= kernel.product;
      tf32_convolutions_ |= kernel.convolution;
    }
  }

  // Without sizes only precision is left.
  bool MayFind() const {
    return rank_.gemms.size() > 0 ||
           std::any_of(kernels_.begin(), kernels_.end(),
                       [this](const Kernel& k) { return LowersPrecision(k); });
  }

  void ChooseType() {
    const auto fp32 = PeakTflops(*spec_, PeakDtype::kFp32);
    for (const PeakDtype type : {PeakDtype::kTf32, PeakDtype::kBf16, PeakDtype::kFp16}) {
      const auto peak = PeakTflops(*spec_, type);
      if (!peak || (fp32 && *peak < kWorthwhile * *fp32)) continue;
      type_ = type;
      type_gain_ = std::min(kMaxGain, fp32 ? *peak / *fp32 : kMaxGain);
      return;
    }
  }

  // Whether another type would have been used, had the program allowed it.
  bool LowersPrecision(const Kernel& kernel) const {
    if (!kernel.ordinary_fp32 || !type_) return false;
    if (*type_ != PeakDtype::kTf32) return true;
    return kernel.product ? !tf32_products_ : !tf32_convolutions_;
  }

  TimeNs TookNs(std::uint32_t op) const { return device_.ops.end[op] - device_.ops.start[op]; }

  // Returns what that saves.
  double Shorten(std::vector<OpLength>& lengths, std::uint32_t op, double to_ns) {
    const auto took = static_cast<double>(TookNs(op));
    if (to_ns >= took) return 0;
    lengths.push_back({op, static_cast<TimeNs>(std::llround(to_ns))});
    return took - to_ns;
  }

  void AddUnsized(std::uint32_t op, const Kernel& kernel) {
    if (!LowersPrecision(kernel)) return;
    Shorten(low_.lengths, op, static_cast<double>(TookNs(op)) / type_gain_);
    has_unsized_ = true;
  }

  void AddProduct(std::uint32_t op, const Kernel& kernel, std::uint32_t product) {
    const std::uint32_t shape = rank_.gemms.shape[product];
    const auto [entry, is_new] =
        known_.try_emplace(std::uint64_t{shape} << 32 | kernel.name, Known{});
    Known& known = entry->second;
    const GemmShape& asked = rank_.gemm_shapes[shape];
    // The sizes of the product that a convolution amounts to are not rows in memory.
    if (asked.is_convolution()) return AddUnsized(op, kernel);
    if (is_new && FirstOfCall(rank_.gemms, product) == product) known = KnownOf(asked, kernel);
    // What it moves is not known.
    if (known.shape == nullptr && IsOperator(rank_.string(asked.function)))
      return AddUnsized(op, kernel);
    if (known.low_ns) Shorten(low_.lengths, op, *known.low_ns);
    if (!known.good_ns) return;
    known.lost_ns += Shorten(inefficient_.lengths, op, *known.good_ns);
    known.took_ns += static_cast<double>(TookNs(op));
    ++known.count;
  }

  Known KnownOf(const GemmShape& shape, const Kernel& kernel) const {
    Known known;
    const KernelWork work = WorkOfProduct(rank_, spec_, shape, kernel.traits);
    if (!work.ideal_ns) return known;
    known.shape = &shape;
    known.dtype = work.dtype;
    known.reached_ns = *work.reached_ns;
    const double memory_ns = *work.memory_ns / kReachedMemoryShare;
    if (work.dtype == "fp32" && !work.tf32_allowed && LowersPrecision(kernel))
      known.low_ns = std::max({work.flops / (type_tflops() * 1000), memory_ns, kMinProductNs});
    known.fault = FaultOf(kernel, shape, device_);
    if (known.fault != Fault::kNone)
      known.good_ns = std::max({known.reached_ns / kUsualShare, memory_ns, kMinProductNs});
    return known;
  }

  // That products of the other type are taken to reach.
  double type_tflops() const {
    return *PeakTflops(*spec_, *type_) * ReachedShare(*spec_, *type_) * kUsualShare;
  }

  void TellPrecision() {
    const std::string_view type = PeakDtypeName(*type_);
    low_.label = "low_precision_unused";
    low_.what = "fp32 GEMMs and convolutions without tensor cores";
    low_.instead = fmt::format("in {} they would take", type);
    low_.facts.push_back(fmt::format(
        "assumed: {:.0f} TFLOP/s in {} ({:.0f} % of the peak), or {:.0f} % of the memory "
        "bandwidth where that takes longer{}",
        type_tflops(), type, 100 * type_tflops() / *PeakTflops(*spec_, *type_),
        100 * kReachedMemoryShare,
        has_unsized_ ? fmt::format("; kernels of unknown size run {:.1f} times as fast", type_gain_)
                     : ""));
    if (*type_ == PeakDtype::kTf32) {
      low_.facts.emplace_back("TF32 is not enabled: no kernel in this time uses it");
    } else {
      low_.facts.push_back(
          fmt::format("TF32 would gain nothing: {} has no faster rate for it", spec_->title));
    }
  }

  void TellInefficient() {
    std::array<double, kFaultTexts.size()> lost{};
    std::map<std::int64_t, double> odd;  // sizes, with what their products lose
    const Known* worst = nullptr;
    for (const auto& [key, known] : known_) {
      if (known.lost_ns <= 0) continue;
      lost[static_cast<std::size_t>(known.fault)] += known.lost_ns;
      if (worst == nullptr || Precedes(known, *worst)) worst = &known;
      if (known.fault != Fault::kUnaligned) continue;
      for (const std::int64_t size : OddSizes(*known.shape)) odd[size] += known.lost_ns;
    }
    if (worst == nullptr) return;
    inefficient_.label = "inefficient_gemm";
    inefficient_.what = "GEMMs with " + Faults(lost);
    inefficient_.instead = "at typical efficiency they would take";
    const GemmShape& shape = *worst->shape;
    inefficient_.facts.push_back(fmt::format(
        "most time is lost in m x n x k = {} x {} x {}{} ({}): {:.0f} % of what the best GEMMs "
        "reach",
        shape.m, shape.n, shape.k, shape.batch > 1 ? fmt::format(", {} at once", shape.batch) : "",
        worst->dtype, 100 * worst->reached_ns * worst->count / worst->took_ns));
    inefficient_.facts.push_back(
        fmt::format("assumed: {:.0f} % of what the best GEMMs reach, or {:.0f} % of the memory "
                    "bandwidth where that takes longer",
                    100 * kUsualShare, 100 * kReachedMemoryShare));
    AdvisePadding(odd);
  }

  // Whether more is lost in one; of equal losses in the one of smaller sizes.
  static bool Precedes(const Known& a, const Known& b) {
    const auto sizes = [](const Known& known) {
      return std::tuple(known.shape->m, known.shape->n, known.shape->k, known.shape->batch);
    };
    return a.lost_ns != b.lost_ns ? a.lost_ns > b.lost_ns : sizes(a) < sizes(b);
  }

  // Those that a tenth or more is lost by, the most first.
  static std::string Faults(const std::array<double, kFaultTexts.size()>& lost) {
    const double all = std::accumulate(lost.begin(), lost.end(), 0.0);
    std::vector<std::pair<double, std::string_view>> parts;
    for (std::size_t i = 0; i < lost.size(); ++i) {
      if (lost[i] >= 0.1 * all) parts.emplace_back(lost[i], kFaultTexts[i]);
    }
    std::sort(parts.begin(), parts.end(), std::greater<>());
    std::string text;
    for (const auto& [part, fault] : parts) text += (text.empty() ? "" : ", ") + std::string(fault);
    return text;
  }

  void AdvisePadding(const std::map<std::int64_t, double>& odd) {
    constexpr std::size_t kMax = 4;
    std::vector<std::pair<double, std::int64_t>> sizes;
    for (const auto& [size, lost] : odd) sizes.emplace_back(lost, size);
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    if (sizes.size() > kMax) sizes.resize(kMax);
    std::string change;
    for (const auto& [lost, size] : sizes)
      change += fmt::format("{}{} -> {}", change.empty() ? "pad " : ", ", size, Padded(size));
    if (!change.empty())
      inefficient_.advice.push_back(
          {"layer, vocabulary and head sizes", change, documents::kMatrixProducts});
  }

  const Rank& rank_;
  const Device& device_;
  const LibraryCalls& calls_;
  const GpuSpec* spec_;
  std::vector<Kernel> kernels_;                             // by kernel shape
  bool tf32_products_ = false, tf32_convolutions_ = false;  // of any kernel of the process
  std::optional<PeakDtype> type_;  // instead of fp32; empty: nothing is faster
  double type_gain_ = 1;           // of kernels of unknown size
  bool has_unsized_ = false;
  std::unordered_map<std::uint64_t, Known> known_;  // by shape of the product and name
  KernelSaving low_, inefficient_;
};

}  // namespace

ProductSavings FindProductSavings(const Rank& rank, const Device& device, const LibraryCalls& calls,
                                  OpRange range) {
  return ProductSearch(rank, device, calls).Find(range);
}

}  // namespace traceinject
