// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/step_flops.h"

#include <fmt/format.h>

#include <map>

#include "analyzer/metrics/kernels/attention.h"
#include "analyzer/metrics/kernels/data_types.h"
#include "analyzer/metrics/kernels/matrix_products.h"

namespace traceinject {
namespace {

// cublasComputeType_t, cublas_api.h of CUDA 12 and 13.
constexpr int kComputeFloat = 68, kComputePedanticFloat = 69, kComputeFastHalf = 74,
              kComputeFastBfloat16 = 75, kComputeFastTf32 = 77;
constexpr int kDataFloat = 0;  // cudaDataType

std::optional<PeakDtype> RateOf(int type) {
  const DataType* known = FindDataType(type);
  return known == nullptr ? std::nullopt : known->rate;
}

// Operations by the rate that limits them.
class ByRate {
 public:
  void Add(std::optional<PeakDtype> dtype, double flops) {
    if (flops <= 0) return;
    total_ += flops;
    dtype ? by_dtype_[*dtype] += flops : unknown_ += flops;
  }
  double total() const { return total_; }

  // Seconds that they take at the peak rates; empty: a rate is not known, and `reason` says which.
  std::optional<double> IdealSeconds(const Device& device, std::string* reason) const {
    const GpuSpec* spec = FindGpuSpec(device.name);
    if (spec == nullptr) {
      *reason = UnknownPeakText(device.name);
      return std::nullopt;
    }
    if (unknown_ > 0) {
      *reason =
          "the recording does not show which rate limits some of them (fp32 with or without TF32)";
      return std::nullopt;
    }
    double seconds = 0;
    for (const auto& [dtype, flops] : by_dtype_) {
      const std::optional<double> peak = PeakTflops(*spec, dtype);
      if (!peak) {
        *reason =
            fmt::format("no {} peak rate is published for {}", PeakDtypeName(dtype), spec->title);
        return std::nullopt;
      }
      seconds += flops / (*peak * 1e12);
    }
    return seconds;
  }

 private:
  std::map<PeakDtype, double> by_dtype_;
  double total_ = 0, unknown_ = 0;
};

ByRate Count(const Rank& rank, const Device& device, const LibraryCalls& calls,
             const OpRanges& ranges) {
  ByRate flops;
  for (const MatrixProductRow& row : LinkedMatrixProducts(rank, device, calls, ranges).rows)
    flops.Add(PeakDtypeOf(row.shape, row.function), row.flops);
  for (const auto& [type, of_type] : LinkedAttention(rank, device, calls, ranges).flops_by_type)
    flops.Add(RateOf(type), of_type);
  return flops;
}

}  // namespace

std::optional<PeakDtype> PeakDtypeOf(const GemmShape& shape, std::string_view function) {
  const auto a = RateOf(shape.type_a), b = RateOf(shape.type_b);
  if (a && (a == b || shape.type_b < 0)) return a;
  if (shape.type_a != kDataFloat || (shape.type_b >= 0 && shape.type_b != kDataFloat))
    return std::nullopt;
  switch (shape.compute_type) {
    case kComputeFloat:
      // Of PyTorch's operators the names of their kernels told (kineto_products.h).
      if (function != "cublasLtMatmul" && !IsOperator(function)) return std::nullopt;
      return PeakDtype::kFp32;
    case kComputePedanticFloat:
      return PeakDtype::kFp32;
    case kComputeFastTf32:
      return PeakDtype::kTf32;
    case kComputeFastHalf:
      return PeakDtype::kFp16;
    case kComputeFastBfloat16:
      return PeakDtype::kBf16;
    default:
      return std::nullopt;
  }
}

std::optional<StepFlops> FlopsOfSteps(const Rank& rank, const Device& device,
                                      const LibraryCalls& calls, const Steps& steps) {
  if (rank.gemms.size() + rank.attentions.size() == 0) return std::nullopt;
  const auto count = static_cast<double>(steps.count_judged());
  if (steps.source == StepSource::kWindow || count == 0) return std::nullopt;
  const Intervals judged = steps.judged_times();
  const ByRate all = Count(rank, device, calls, StartingIn(device.ops, judged));
  const auto time_ns = static_cast<double>(Length(judged));
  StepFlops found;
  found.flops = all.total() / count;
  found.step_ns = time_ns / count;
  const auto ideal = all.IdealSeconds(device, &found.reason);
  if (!ideal || all.total() == 0) return found;
  const double share = *ideal * 1e9 / time_ns;
  if (share > 1) {
    found.reason = fmt::format("{:.1f} % of the peak is impossible", 100 * share);
  } else {
    found.peak_share = share;
  }
  return found;
}

std::optional<StepFlops> SumOfDevices(const std::vector<std::optional<StepFlops>>& devices) {
  if (devices.empty()) return std::nullopt;
  StepFlops sum;
  sum.peak_share = 0;
  const auto count = static_cast<double>(devices.size());
  for (const std::optional<StepFlops>& device : devices) {
    if (!device) return std::nullopt;
    sum.flops += device->flops;
    sum.step_ns += device->step_ns / count;
    if (sum.reason.empty()) sum.reason = device->reason;
    if (!device->peak_share) sum.peak_share.reset();
    if (sum.peak_share) *sum.peak_share += *device->peak_share / count;
  }
  return sum;
}

}  // namespace traceinject
