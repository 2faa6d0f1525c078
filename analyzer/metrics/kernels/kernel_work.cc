// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernel_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/metrics/kernels/data_types.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/metrics/kernels/step_flops.h"
#include "analyzer/model/kernel_traits.h"

namespace traceinject {
namespace {

constexpr int kFastTf32 = 77;  // CUBLAS_COMPUTE_32F_FAST_TF32
constexpr int kUnknownType = -1, kFloat = 0;

// What one call asks for.
struct CallWork {
  double flops = 0;
  std::optional<double> bytes = 0;
  std::string dtype;  // empty: the call does not report it
  std::optional<PeakDtype> rate = std::nullopt;
  bool name_tells = false;  // which rate limits it: the call leaves it open
  bool tf32_allowed = false;
};

void Add(std::optional<double>& sum, const std::optional<double>& part) {
  if (sum && part) {
    *sum += *part;
  } else {
    sum.reset();
  }
}

CallWork WorkOf(const GemmShape& shape, std::string_view function) {
  CallWork work;
  work.flops = FlopsOf(shape);
  work.bytes = LeastBytesOf(shape);
  work.rate = PeakDtypeOf(shape, function);
  work.name_tells = !work.rate && (shape.type_a == kFloat || shape.type_a == kUnknownType);
  work.tf32_allowed = shape.compute_type == kFastTf32;
  if (work.rate) {
    work.dtype = PeakDtypeName(*work.rate);
  } else if (!work.name_tells && shape.type_a == shape.type_b) {
    work.dtype = DataTypeName(shape.type_a);
  }
  return work;
}

// Pairs of a query and a key that have to be computed; empty: not known.
std::optional<double> Pairs(const AttentionShape& shape) {
  const auto queries = static_cast<double>(shape.query_length);
  const auto keys = static_cast<double>(shape.key_length);
  if (shape.causal == 0) return queries * keys;
  // Of other lengths, libraries differ in which corner the mask begins.
  if (shape.causal != 1 || shape.query_length != shape.key_length) return std::nullopt;
  return queries * (queries + 1) / 2;
}

// Forward: queries, keys and values are read, the result is written. Backward: these three and the
// gradient of the result are read, three gradients are written.
std::optional<double> LeastBytesOf(const AttentionShape& shape, bool backward) {
  const DataType* type = FindDataType(shape.type);
  if (type == nullptr || shape.kv_heads < 0) return std::nullopt;
  const auto b = static_cast<double>(shape.batch), h = static_cast<double>(shape.heads),
             kv = static_cast<double>(shape.kv_heads), q = static_cast<double>(shape.query_length),
             k = static_cast<double>(shape.key_length), d = static_cast<double>(shape.head_size),
             v = static_cast<double>(shape.value_head_size);
  const double inputs = h * q * d + kv * k * (d + v);
  return type->bytes * b * ((backward ? 2 : 1) * inputs + h * q * v);
}

// A convolution is one, too.
bool IsProduct(KernelClass kernel_class) {
  return kernel_class == KernelClass::kGemm || kernel_class == KernelClass::kConv;
}

// Empty: lengths or mask are not known.
std::optional<CallWork> WorkOf(const AttentionShape& shape, bool backward) {
  for (const std::int64_t size : {shape.batch, shape.heads, shape.query_length, shape.key_length,
                                  shape.head_size, shape.value_head_size}) {
    if (size < 0) return std::nullopt;
  }
  const auto pairs = Pairs(shape);
  if (!pairs) return std::nullopt;
  const auto d = static_cast<double>(shape.head_size),
             v = static_cast<double>(shape.value_head_size);
  CallWork work;
  work.flops = 2 * static_cast<double>(shape.batch) * static_cast<double>(shape.heads) * *pairs *
               (backward ? 3 * d + 2 * v : d + v);
  work.bytes = LeastBytesOf(shape, backward);
  const DataType* type = FindDataType(shape.type);
  if (type != nullptr) work.rate = type->rate;
  work.name_tells = shape.type == kFloat || shape.type == kUnknownType;
  if (work.rate) work.dtype = PeakDtypeName(*work.rate);
  return work;
}

// A rate that the call leaves open, by the name: fp32 only where the kernel uses no tensor cores,
// which have ways to compute fp32 that are neither TF32 nor at the rate of the ordinary cores.
std::optional<PeakDtype> RateByName(const KernelTraits& traits) {
  if (traits.dtype == "fp32" && traits.tensor_cores.value_or(true)) return std::nullopt;
  return PeakDtypeFromName(traits.dtype);
}

// Of one call.
KernelWork WorkOfCall(const CallWork& call, const GpuSpec* spec, const KernelTraits& traits) {
  KernelWork one;
  one.flops = call.flops;
  one.bytes = call.bytes;
  one.tf32_allowed = call.tf32_allowed;
  one.dtype = call.dtype;
  one.peak_ns.reset();
  one.reached_ns.reset();
  one.memory_ns.reset();
  one.ideal_ns.reset();
  one.above_ideal_ns.reset();
  std::optional<PeakDtype> rate = call.rate;
  if (!rate && call.name_tells) rate = RateByName(traits);
  if (rate && one.dtype.empty()) one.dtype = PeakDtypeName(*rate);
  const auto peak = spec != nullptr && rate ? PeakTflops(*spec, *rate) : std::nullopt;
  if (peak) {
    one.peak_ns = call.flops / (*peak * 1000);
    one.reached_ns = *one.peak_ns / ReachedShare(*spec, *rate);
  }
  if (spec != nullptr && spec->memory_gb_per_s > 0 && call.bytes)
    one.memory_ns = *call.bytes / spec->memory_gb_per_s;
  if (one.peak_ns && one.memory_ns)
    one.ideal_ns = std::max(*one.reached_ns, *one.memory_ns / kReachedMemoryShare);
  return one;
}

// All products of the call between the two rows, as one.
CallWork WorkOfRows(const Rank& rank, std::uint32_t first, std::uint32_t last) {
  const Gemms& gemms = rank.gemms;
  const auto work_of = [&](std::uint32_t row) {
    const GemmShape& shape = rank.gemm_shapes[gemms.shape[row]];
    return WorkOf(shape, rank.string(shape.function));
  };
  CallWork sum = work_of(first);
  for (std::uint32_t row = first + 1; row <= last; ++row) {
    if (gemms.thread[row] != gemms.thread[last]) continue;
    const CallWork one = work_of(row);
    sum.flops += one.flops;
    Add(sum.bytes, one.bytes);
    if (sum.rate != one.rate) sum.rate.reset();
    if (sum.dtype != one.dtype) sum.dtype.clear();
  }
  return sum;
}

class Measurement {
 public:
  Measurement(const Rank& rank, const Device& device)
      : rank_(rank), device_(device), spec_(FindGpuSpec(device.name)) {
    for (const KernelShape& shape : rank.shapes) {
      const auto [entry, is_new] = names_.try_emplace(shape.name);
      if (is_new) {
        const std::string_view name = rank.string(shape.name);
        entry->second = {TraitsOf(name, shape.kernel_class), IsHelperKernel(name)};
      }
      is_helper_.push_back(entry->second.helper);
    }
    for (const GemmShape& shape : rank.gemm_shapes)
      products_.push_back({WorkOf(shape, rank.string(shape.function)), {}});
    for (const AttentionShape& shape : rank.attention_shapes) {
      for (const bool backward : {false, true})
        attentions_.push_back({WorkOf(shape, backward), {}});
    }
  }

  KernelWorks Measure(const LibraryCalls& calls, const OpRanges& ranges) {
    const GpuOps& ops = device_.ops;
    std::vector<KernelOfCall> of_products, of_attention;
    std::size_t operations = 0;
    for (const OpRange& range : ranges) operations += range.end - range.begin;
    // As a rule one of each computes.
    of_products.reserve(std::min(rank_.gemms.size(), operations));
    of_attention.reserve(std::min(rank_.attentions.size(), operations));
    const auto add = [&](std::uint32_t op) {
      if (ops.kind[op] != OpKind::kKernel || ops.launch[op] == kNone) return;
      const std::uint32_t product = calls.ProductOf(ops.launch[op]);
      if (product != kNone) {
        if (Computes(op, IsProduct(ops.kernel_class[op]))) of_products.emplace_back(product, op);
        return;
      }
      const std::uint32_t call = calls.attentions().Of(ops.launch[op], ops.kernel_class[op]);
      if (call != kNone && Computes(op, AttentionLinks::IsAttention(ops.kernel_class[op])))
        of_attention.emplace_back(call, op);
    };
    for (const OpRange& range : ranges) {
      for (auto op = static_cast<std::uint32_t>(range.begin); op < range.end; ++op) add(op);
    }
    ForEachCall(of_products, [this](std::uint32_t call, const Kernels& by) {
      const std::uint32_t first = FirstOfCall(rank_.gemms, call);
      if (first == call) return AddCall(products_[rank_.gemms.shape[call]], by);
      CallsOfShape group{WorkOfRows(rank_, first, call), {}};
      AddCall(group, by);
    });
    ForEachCall(of_attention, [this](std::uint32_t call, const Kernels& by) {
      const std::size_t backward = rank_.attentions.backward[call] != 0 ? 1 : 0;
      AddCall(attentions_[2 * rank_.attentions.shape[call] + backward], by);
    });
    return std::move(works_);
  }

 private:
  struct Name {
    KernelTraits traits;
    bool helper = false;
  };
  using KernelOfCall = std::pair<std::uint32_t, std::uint32_t>;  // row of the call, operation

  // Those of one call that compute, all of one name.
  struct Kernels {
    std::uint32_t name = kNone;
    std::int64_t count = 0;
    TimeNs took_ns = 0;
  };
  struct WorkOfName {
    std::uint32_t name = kNone;
    KernelWork one;             // of one call
    KernelWork* sum = nullptr;  // in works_
  };
  // What each call of one shape asks for; empty: it is not known. `by_name`: what that is for
  // kernels of a name, but for their number and the time that they took.
  struct CallsOfShape {
    std::optional<CallWork> work;
    std::vector<WorkOfName> by_name;
  };

  std::uint32_t NameOf(std::uint32_t op) const { return rank_.shapes[device_.ops.detail[op]].name; }
  bool Computes(std::uint32_t op, bool right_class) const {
    return right_class && !is_helper_[device_.ops.detail[op]];
  }

  // Calls visit(call, kernels) for each call of which one name computes.
  template <typename Visit>
  void ForEachCall(std::vector<KernelOfCall>& kernels, Visit visit) {
    // As a rule they stand in order.
    if (!std::is_sorted(kernels.begin(), kernels.end())) std::sort(kernels.begin(), kernels.end());
    for (std::size_t first = 0; first < kernels.size();) {
      std::size_t end = first;
      Kernels of_call{NameOf(kernels[first].second)};
      bool one_name = true;
      for (; end < kernels.size() && kernels[end].first == kernels[first].first; ++end) {
        const std::uint32_t op = kernels[end].second;
        ++of_call.count;
        of_call.took_ns += device_.ops.end[op] - device_.ops.start[op];
        one_name &= NameOf(op) == of_call.name;
      }
      if (one_name) visit(kernels[first].first, of_call);
      first = end;
    }
  }

  KernelWork ForName(const CallWork& call, std::uint32_t name) const {
    return WorkOfCall(call, spec_, names_.at(name).traits);
  }

  // One call of the shape.
  void AddCall(CallsOfShape& shape, const Kernels& by) {
    if (!shape.work) return;
    auto known = std::find_if(shape.by_name.begin(), shape.by_name.end(),
                              [&](const WorkOfName& each) { return each.name == by.name; });
    if (known == shape.by_name.end()) {
      known =
          shape.by_name.insert(known, {by.name, ForName(*shape.work, by.name), &works_[by.name]});
    }
    KernelWork& one = known->one;
    one.kernels = by.count;
    one.known_ns = by.took_ns;
    if (one.ideal_ns)
      one.above_ideal_ns = std::max(0.0, static_cast<double>(by.took_ns) - *one.ideal_ns);
    *known->sum += one;
  }

  const Rank& rank_;
  const Device& device_;
  const GpuSpec* spec_;
  std::unordered_map<std::uint32_t, Name> names_;
  std::vector<bool> is_helper_;           // by kernel shape
  std::vector<CallsOfShape> products_;    // by shape
  std::vector<CallsOfShape> attentions_;  // by shape, forward and backward
  KernelWorks works_;
};

}  // namespace

KernelWork WorkOfProduct(const Rank& rank, const GpuSpec* spec, const GemmShape& shape,
                         const KernelTraits& traits) {
  return WorkOfCall(WorkOf(shape, rank.string(shape.function)), spec, traits);
}

KernelWork WorkOfProductCall(const Rank& rank, const GpuSpec* spec, std::uint32_t call,
                             const KernelTraits& traits) {
  return WorkOfCall(WorkOfRows(rank, FirstOfCall(rank.gemms, call), call), spec, traits);
}

KernelWork WorkOfAttentionCall(const Rank& rank, const GpuSpec* spec, std::uint32_t call,
                               const KernelTraits& traits) {
  const Attentions& attentions = rank.attentions;
  const auto work =
      WorkOf(rank.attention_shapes[attentions.shape[call]], attentions.backward[call] != 0);
  return work ? WorkOfCall(*work, spec, traits) : KernelWork();
}

KernelWork& KernelWork::operator+=(const KernelWork& other) {
  if (other.kernels == 0) return *this;
  if (kernels == 0) {
    dtype = other.dtype;
  } else if (dtype != other.dtype) {
    dtype.clear();
  }
  kernels += other.kernels;
  known_ns += other.known_ns;
  flops += other.flops;
  Add(bytes, other.bytes);
  Add(peak_ns, other.peak_ns);
  Add(reached_ns, other.reached_ns);
  Add(memory_ns, other.memory_ns);
  Add(ideal_ns, other.ideal_ns);
  Add(above_ideal_ns, other.above_ideal_ns);
  tf32_allowed |= other.tf32_allowed;
  return *this;
}

std::optional<double> KernelWork::tflops_per_s() const {
  if (known_ns <= 0) return std::nullopt;
  return flops / static_cast<double>(known_ns) / 1000;
}

std::optional<double> KernelWork::peak_share() const {
  if (known_ns <= 0 || !peak_ns || !refusal().empty()) return std::nullopt;
  return *peak_ns / static_cast<double>(known_ns);
}

std::optional<double> KernelWork::reached_share() const {
  if (!peak_share() || !reached_ns) return std::nullopt;
  return *reached_ns / static_cast<double>(known_ns);
}

std::string KernelWork::refusal() const {
  if (kernels == 0) return "";
  if (known_ns <= 0) return "no measurable time";
  if (!peak_ns) return "the peak rate of this type on this GPU is not known";
  const double share = *peak_ns / static_cast<double>(known_ns);
  return share > 1 ? fmt::format("{:.1f} % of the peak is impossible", 100 * share) : "";
}

std::optional<double> KernelWork::intensity() const {
  if (kernels == 0 || bytes.value_or(0) <= 0) return std::nullopt;
  return flops / *bytes;
}

std::optional<bool> KernelWork::compute_bound() const {
  if (kernels == 0 || !peak_ns || !memory_ns) return std::nullopt;
  return *peak_ns >= *memory_ns;
}

std::optional<double> KernelWork::time_above_ideal_ns() const {
  if (!peak_share()) return std::nullopt;
  return above_ideal_ns;
}

KernelWorks MeasureKernelWork(const Rank& rank, const Device& device, const LibraryCalls& calls,
                              const OpRanges& ranges) {
  if (rank.gemms.size() + rank.attentions.size() == 0) return {};
  return Measurement(rank, device).Measure(calls, ranges);
}

}  // namespace traceinject
