// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_products.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/model/calls/calls_on_threads.h"
#include "analyzer/model/kernel_traits.h"

namespace traceinject {

enum class ProductKind : std::uint8_t {
  kMatrices,
  kLinear,             // the second one is stored transposed
  kConvolution,        // input, weights
  kBackward,           // of a convolution: gradient, input, weights
  kOlderBackward,      // input, gradient, weights
  kInputGradient,      // a size, gradient, weights
  kWeightGradient,     // a size, gradient, input
  kAttention,          // queries, keys, values: batch, heads, length, size
  kAttentionBackward,  // the same behind the gradient
  kFlash,              // batch, length, heads, size
  kFlashBackward,
};

// Where arguments of a convolution stand; -1: nowhere.
struct ArgumentPlaces {
  int stride = -1, padding = -1, dilation = -1, transposed = -1, mask = -1;
};

namespace {

bool IsAttention(ProductKind kind) { return kind >= ProductKind::kAttention; }
bool IsBackward(ProductKind kind) {
  return kind == ProductKind::kAttentionBackward || kind == ProductKind::kFlashBackward;
}

constexpr int kTorch = 1;                                 // attention_shape.library
constexpr int kComputeFloat = 68, kComputeFastTf32 = 77;  // cublasComputeType_t

std::int64_t Product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

// Sizes that FLOPs can be counted of.
bool IsPlausible(const GemmShape& shape) {
  constexpr double kMost = 1e18;
  const auto all = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                   static_cast<double>(shape.k) * static_cast<double>(shape.batch);
  return shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.batch > 0 && all < kMost;
}

// [..., m, k] x [..., k, n], with numbers in front for one matrix; as a library sees it that counts
// columns first.
std::optional<GemmShape> OfMatrices(TensorSizes a, TensorSizes b) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const std::int64_t rows = a[a.size() - 2], inner = a.back(), columns = b.back();
  if (b[b.size() - 2] != inner) return std::nullopt;
  const TensorSizes of_a(a.begin(), a.end() - 2), of_b(b.begin(), b.end() - 2);
  const std::int64_t batch = std::max(CountElements(of_a), CountElements(of_b));
  GemmShape shape;
  shape.m = columns;
  shape.k = inner;
  // Of one second matrix all rows are those of one product.
  shape.n = of_b.empty() ? Product(rows, batch) : rows;
  shape.batch = of_b.empty() ? 1 : batch;
  return shape;
}

std::optional<GemmShape> OfLinear(const TensorSizes& input, TensorSizes weights) {
  if (weights.size() != 2) return std::nullopt;
  std::swap(weights[0], weights[1]);
  return OfMatrices(input, weights);
}

// `sliding`: the tensor whose positions the kernel takes in turn: the output, or of a transposed
// convolution the input; `full` the other one.
std::optional<GemmShape> OfConvolution(const TensorSizes& full, const TensorSizes& sliding,
                                       const TensorSizes& weights) {
  const std::size_t dims = weights.size();
  if (dims < 3 || sliding.size() != dims || full.size() != dims || weights[1] <= 0 ||
      full[1] % weights[1] != 0)
    return std::nullopt;
  const std::int64_t groups = full[1] / weights[1];
  if (groups <= 0 || sliding[1] != weights[0] || sliding[0] != full[0] || weights[0] % groups != 0)
    return std::nullopt;
  GemmShape shape;
  shape.m = weights[0] / groups;
  shape.n = Product(sliding[0], CountElements({sliding.begin() + 2, sliding.end()}));
  shape.k = CountElements({weights.begin() + 1, weights.end()});
  shape.batch = groups;
  shape.least_bytes = 0;  // not followed: the type of each is not told
  return shape;
}

// Empty: sizes that do not fit each other.
std::optional<TensorSizes> OutputOf(const TensorSizes& input, const TensorSizes& weights,
                                    const std::vector<std::int64_t>& stride,
                                    const std::vector<std::int64_t>& padding,
                                    const std::vector<std::int64_t>& dilation) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // of an axis, so that sums hold
  const std::size_t dims = weights.size();
  if (dims < 3 || input.size() != dims || stride.empty()) return std::nullopt;
  // One number stands for all axes; one that is not told is the usual one.
  const auto at = [](const std::vector<std::int64_t>& values, std::size_t axis,
                     std::int64_t usual) {
    if (values.empty()) return usual;
    return axis < values.size() ? values[axis] : values.back();
  };
  TensorSizes output = {input[0], weights[0]};
  for (std::size_t axis = 2; axis < dims; ++axis) {
    const std::int64_t step = at(stride, axis - 2, 1), border = at(padding, axis - 2, 0);
    const std::int64_t reach = Product(at(dilation, axis - 2, 1), weights[axis] - 1);
    if (step <= 0 || reach < 0 || std::max({input[axis], border, reach}) > kLongest)
      return std::nullopt;
    const std::int64_t room = input[axis] + 2 * border - reach - 1;
    if (room < 0) return std::nullopt;
    output.push_back(room / step + 1);
  }
  return output;
}

}  // namespace

struct KinetoProducts::Kind {
  std::string_view name;
  ProductKind kind = ProductKind::kMatrices;
  std::size_t first = 0;       // of its inputs, the first tensor that counts
  ArgumentPlaces places = {};  // of a convolution, and of its backward
  int causal = -1;             // of attention: the argument that tells
};

const KinetoProducts::Kind* KinetoProducts::FindKind(std::string_view name) {
  using enum ProductKind;
  static const Kind kKinds[] = {
      {"aten::mm", kMatrices},
      {"aten::addmm", kMatrices, 1},
      {"aten::bmm", kMatrices},
      {"aten::baddbmm", kMatrices, 1},
      {"aten::mv", kMatrices},
      {"aten::addmv", kMatrices, 1},
      {"aten::_addmm_activation", kMatrices, 1},
      {"aten::_scaled_mm", kMatrices},
      {"aten::_int_mm", kMatrices},
      {"aten::matmul", kMatrices},
      {"aten::linear", kLinear},
      {"aten::conv1d", kConvolution, 0, {3, 4, 5, -1}},
      {"aten::conv2d", kConvolution, 0, {3, 4, 5, -1}},
      {"aten::conv3d", kConvolution, 0, {3, 4, 5, -1}},
      {"aten::convolution", kConvolution, 0, {3, 4, 5, 6}},
      {"aten::_convolution", kConvolution, 0, {3, 4, 5, 6}},
      {"aten::cudnn_convolution", kConvolution, 0, {3, 2, 4, -1}},
      {"aten::cudnn_convolution_relu", kConvolution, 0, {3, 4, 5, -1}},
      {"aten::cudnn_convolution_add_relu", kConvolution, 0, {5, 6, 7, -1}},
      {"aten::_conv_depthwise2d", kConvolution, 0, {4, 5, 6, -1}},
      {"aten::conv_depthwise3d", kConvolution, 0, {4, 5, 6, -1}},
      {"aten::_slow_conv2d_forward", kConvolution, 0, {4, 5, -1, -1}},
      {"aten::slow_conv3d_forward", kConvolution, 0, {4, 5, -1, -1}},
      {"aten::cudnn_convolution_transpose", kConvolution},
      {"aten::convolution_backward", kBackward, 0, {4, 5, 6, 7, 10}},
      {"aten::cudnn_convolution_backward", kOlderBackward},
      {"aten::cudnn_convolution_backward_input", kInputGradient},
      {"aten::cudnn_convolution_backward_weight", kWeightGradient},
      {"aten::_scaled_dot_product_flash_attention", kAttention, 0, {}, 4},
      {"aten::_scaled_dot_product_efficient_attention", kAttention, 0, {}, 6},
      {"aten::_scaled_dot_product_cudnn_attention", kAttention, 0, {}, 6},
      {"aten::_scaled_dot_product_flash_attention_backward", kAttentionBackward, 1},
      {"aten::_scaled_dot_product_efficient_attention_backward", kAttentionBackward, 1},
      {"aten::_scaled_dot_product_cudnn_attention_backward", kAttentionBackward, 1},
      {"aten::_flash_attention_forward", kFlash},
      {"aten::_efficient_attention_forward", kFlash},
      {"aten::_flash_attention_backward", kFlashBackward, 1},
      {"aten::_efficient_attention_backward", kFlashBackward, 1},
  };
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const Kind*> by_name;
    for (const Kind& kind : kKinds) by_name.emplace(kind.name, &kind);
    return by_name;
  }();
  if (!name.starts_with("aten::")) return nullptr;
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

void KinetoProducts::TakeConcrete(const std::vector<std::string_view>& concrete, Asked& asked) {
  const auto text = [&](int place) {
    return place >= 0 && static_cast<std::size_t>(place) < concrete.size()
               ? concrete[static_cast<std::size_t>(place)]
               : std::string_view();
  };
  const ArgumentPlaces& places = asked.kind->places;
  // padding="same" and the like have no numbers: then nothing is known of the output.
  asked.padding = ParseNumbers(text(places.padding));
  if (!asked.padding.empty()) asked.stride = ParseNumbers(text(places.stride));
  asked.dilation = ParseNumbers(text(places.dilation));
  if (!text(places.transposed).empty()) asked.transposed = text(places.transposed) == "True";
  const std::string_view mask = text(places.mask);
  asked.for_input = mask.starts_with("[True");
  const std::size_t second = mask.find(',');
  asked.for_weights = second != std::string_view::npos && mask.substr(second).starts_with(", True");
  if (!text(asked.kind->causal).empty()) asked.causal = text(asked.kind->causal) == "True" ? 1 : 0;
}

void KinetoProducts::Add(const KinetoEvent& event, std::uint32_t row) {
  if (event.input_shapes.empty()) return;
  const bool is_node = event.sequence && event.forward_thread.value_or(0) > 0 &&
                       event.name.find("onvolutionBackward") != std::string_view::npos;
  if (is_node) {
    const std::vector<OperatorInput> inputs = ParseInputDims(event.input_shapes);
    if (inputs.empty() || inputs.front().front().size() < 3) return;
    const auto [known, is_new] = gradients_.try_emplace(*event.sequence, inputs.front().front());
    if (!is_new && known->second != inputs.front().front()) known->second.reset();
    return;
  }
  const Kind* const kind = FindKind(event.name);
  if (kind == nullptr) return;
  std::string text(kind->name);
  for (const std::string_view part : {event.input_shapes, event.input_types, event.concrete_inputs})
    text.append("\n").append(part);
  const auto [known, is_new] =
      asked_by_text_.try_emplace(std::move(text), static_cast<std::uint32_t>(asked_.size()));
  if (is_new) asked_.push_back(Parse(*kind, event));
  noted_.push_back({row, known->second, event.sequence.value_or(-1)});
}

KinetoProducts::Asked KinetoProducts::Parse(const Kind& kind, const KinetoEvent& event) {
  Asked asked;
  asked.kind = &kind;
  for (OperatorInput& input : ParseInputDims(event.input_shapes))
    asked.inputs.push_back(std::move(input.front()));
  const std::vector<std::string_view> types = ParseTexts(event.input_types);
  for (std::size_t i = kind.first; i < types.size() && asked.cuda_type < 0; ++i) {
    const TensorType* const type = FindTensorType(types[i]);
    if (type != nullptr && i < asked.inputs.size() && !asked.inputs[i].empty())
      asked.cuda_type = type->cuda_type;
  }
  TakeConcrete(ParseTexts(event.concrete_inputs), asked);
  return asked;
}

// Turns what was noted into calls.
class ProductPlacer {
 public:
  using Asked = KinetoProducts::Asked;

  ProductPlacer(const KinetoProducts& products, Rank& rank)
      : products_(products), profiled_(rank.profiled), rank_(rank) {}

  // Operators of one thread, from the outside to the inside.
  void Place() {
    std::vector<std::uint32_t> order(products_.noted_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [this](std::uint32_t a, std::uint32_t b) { return Key(a) < Key(b); });
    around_.assign(order.size(), kNone);
    holds_.assign(order.size(), false);
    std::vector<std::uint32_t> open;
    for (const std::uint32_t at : order) {
      while (!open.empty() && !Contains(open.back(), at)) open.pop_back();
      if (!open.empty()) {
        around_[at] = open.back();
        holds_[open.back()] = true;
      }
      open.push_back(at);
    }
    for (const std::uint32_t at : order) {
      if (IsAttention(One(at).kind->kind)) {
        if (!LiesInAttention(at)) AddAttention(at);
      } else if (!holds_[at]) {
        AddProducts(at);
      }
    }
  }

 private:
  std::uint32_t RowOf(std::uint32_t at) const { return products_.noted_[at].row; }
  const Asked& One(std::uint32_t at) const { return products_.asked_[products_.noted_[at].asked]; }
  std::tuple<std::uint32_t, TimeNs, TimeNs, std::uint32_t> Key(std::uint32_t at) const {
    const std::uint32_t row = RowOf(at);
    return {profiled_.thread[row], profiled_.start[row], -profiled_.end[row], row};
  }
  bool Contains(std::uint32_t outer, std::uint32_t inner) const {
    const std::uint32_t a = RowOf(outer), b = RowOf(inner);
    return profiled_.thread[a] == profiled_.thread[b] && profiled_.end[b] <= profiled_.end[a] &&
           profiled_.start[b] < profiled_.end[a];
  }
  bool LiesInAttention(std::uint32_t at) const {
    for (std::uint32_t outer = around_[at]; outer != kNone; outer = around_[outer]) {
      if (IsAttention(One(outer).kind->kind)) return true;
    }
    return false;
  }

  // Of a convolution, in which others lie that tell more or less of it.
  std::optional<TensorSizes> OutputOf(std::uint32_t at) const {
    for (std::uint32_t one = at; one != kNone; one = around_[one]) {
      const Asked& asked = One(one);
      if (asked.kind->kind != ProductKind::kConvolution || asked.inputs.size() < 2) break;
      if (auto output = traceinject::OutputOf(asked.inputs[0], asked.inputs[1], asked.stride,
                                              asked.padding, asked.dilation))
        return output;
      const std::int64_t sequence = products_.noted_[one].sequence;
      const auto gradient = products_.gradients_.find(sequence);
      if (sequence >= 0 && gradient != products_.gradients_.end() && gradient->second)
        return gradient->second;
    }
    return std::nullopt;
  }
  bool IsTransposed(std::uint32_t at) const {
    for (std::uint32_t one = at; one != kNone; one = around_[one]) {
      if (One(one).transposed) return *One(one).transposed;
      if (One(one).kind->name.ends_with("_transpose")) return true;
    }
    return false;
  }

  std::optional<GemmShape> ForwardConvolution(std::uint32_t at) const {
    const Asked& asked = One(at);
    if (asked.inputs.size() < 2) return std::nullopt;
    const std::optional<TensorSizes> output = OutputOf(at);
    if (!IsTransposed(at))
      return output ? OfConvolution(asked.inputs[0], *output, asked.inputs[1]) : std::nullopt;
    // Of the output of a transposed one the channels alone count, which the weights tell.
    TensorSizes full = asked.inputs[0];
    if (full.size() < 2 || asked.inputs[1].size() < 2 || asked.inputs[1][0] <= 0)
      return std::nullopt;
    full[1] = output && output->size() > 1 ? (*output)[1] : asked.inputs[1][1];
    return OfConvolution(full, asked.inputs[0], asked.inputs[1]);
  }

  // Either product of the backward is as large as that of the forward.
  static std::optional<GemmShape> BackwardConvolution(const Asked& asked, std::size_t gradient,
                                                      std::size_t input, std::size_t weights) {
    if (asked.inputs.size() <= std::max({gradient, input, weights})) return std::nullopt;
    const TensorSizes& of_output = asked.inputs[gradient];
    const TensorSizes& of_input = asked.inputs[input];
    return asked.transposed.value_or(false)
               ? OfConvolution(of_output, of_input, asked.inputs[weights])
               : OfConvolution(of_input, of_output, asked.inputs[weights]);
  }

  void AddProducts(std::uint32_t at) {
    const Asked& asked = One(at);
    const auto input = [&](std::size_t i) {
      i += asked.kind->first;
      return i < asked.inputs.size() ? asked.inputs[i] : TensorSizes();
    };
    switch (asked.kind->kind) {
      case ProductKind::kMatrices:
        return AddProduct(at, OfMatrices(input(0), input(1)));
      case ProductKind::kLinear:
        return AddProduct(at, OfLinear(input(0), input(1)));
      case ProductKind::kConvolution:
        return AddProduct(at, ForwardConvolution(at));
      case ProductKind::kBackward: {
        const auto shape = BackwardConvolution(asked, 0, 1, 2);
        // Where it is not told which gradients are asked for, one is for certain.
        AddProduct(at, shape);
        if (asked.for_input && asked.for_weights) AddProduct(at, shape);
        return;
      }
      case ProductKind::kOlderBackward:
        return AddProduct(at, BackwardConvolution(asked, 1, 0, 2));
      case ProductKind::kInputGradient:
      case ProductKind::kWeightGradient:
        if (around_[at] != kNone && One(around_[at]).kind->kind == ProductKind::kOlderBackward)
          AddProduct(at, BackwardConvolution(One(around_[at]), 1, 0, 2));
        return;
      default:
        return;
    }
  }

  void AddProduct(std::uint32_t at, std::optional<GemmShape> shape) {
    const Asked& asked = One(at);
    const std::uint32_t row = RowOf(at);
    if (!shape || !IsPlausible(*shape)) return;
    shape->type_a = shape->type_b = asked.cuda_type;
    const bool is_matrix =
        asked.kind->kind == ProductKind::kMatrices || asked.kind->kind == ProductKind::kLinear;
    if (is_matrix && asked.kind->name != "aten::_scaled_mm" && asked.kind->name != "aten::_int_mm")
      shape->type_c = asked.cuda_type;
    shape->function = profiled_.name.at(row);
    Gemms& gemms = rank_.gemms;
    gemms.start.push_back(profiled_.start[row]);
    gemms.end.push_back(profiled_.end[row]);
    gemms.thread.push_back(profiled_.thread[row]);
    gemms.shape.push_back(ShapeOf(*shape));
  }

  std::uint32_t ShapeOf(const GemmShape& shape) {
    const std::array<std::int64_t, 7> key = {shape.function, shape.m,      shape.n,     shape.k,
                                             shape.batch,    shape.type_a, shape.type_c};
    const auto [known, is_new] =
        shapes_.try_emplace(key, static_cast<std::uint32_t>(rank_.gemm_shapes.size()));
    if (is_new) rank_.gemm_shapes.push_back(shape);
    return known->second;
  }

  void AddAttention(std::uint32_t at) {
    const Asked& asked = One(at);
    const std::uint32_t row = RowOf(at);
    const ProductKind kind = asked.kind->kind;
    const std::size_t first = asked.kind->first;
    if (asked.inputs.size() < first + 3) return;
    const TensorSizes &queries = asked.inputs[first], &keys = asked.inputs[first + 1],
                      &values = asked.inputs[first + 2];
    if (queries.size() != 4 || keys.size() != 4 || values.size() != 4) return;
    const bool heads_last = kind == ProductKind::kFlash || kind == ProductKind::kFlashBackward;
    const std::size_t heads = heads_last ? 2 : 1, length = heads_last ? 1 : 2;
    AttentionShape shape;
    shape.library = kTorch;
    shape.batch = queries[0];
    shape.heads = queries[heads];
    shape.kv_heads = keys[heads];
    shape.query_length = queries[length];
    shape.key_length = keys[length];
    shape.head_size = queries[3];
    shape.value_head_size = values[3];
    shape.type = asked.cuda_type;
    shape.causal = asked.causal;
    const std::array<std::int64_t, 9> key = {
        shape.batch,           shape.heads,      shape.kv_heads,
        shape.query_length,    shape.key_length, shape.head_size,
        shape.value_head_size, shape.type,       shape.causal};
    const auto [known, is_new] = attention_shapes_.try_emplace(
        key, static_cast<std::uint32_t>(rank_.attention_shapes.size()));
    if (is_new) rank_.attention_shapes.push_back(shape);
    Attentions& attentions = rank_.attentions;
    attentions.start.push_back(profiled_.start[row]);
    attentions.end.push_back(profiled_.end[row]);
    attentions.thread.push_back(profiled_.thread[row]);
    attentions.shape.push_back(known->second);
    attentions.backward.push_back(IsBackward(kind) ? 1 : 0);
    attentions.gradient.push_back(-1);
  }

  const KinetoProducts& products_;
  const ProfiledRanges& profiled_;
  Rank& rank_;
  std::vector<std::uint32_t> around_;  // by place in noted_: the one around it; kNone
  std::vector<bool> holds_;            // another one lies in it
  std::map<std::array<std::int64_t, 7>, std::uint32_t> shapes_;
  std::map<std::array<std::int64_t, 9>, std::uint32_t> attention_shapes_;
};

void KinetoProducts::Place(Rank& rank) const { ProductPlacer(*this, rank).Place(); }

void FindTf32Products(Rank& rank) {
  constexpr int kFloat = 0;  // cudaDataType
  Gemms& gemms = rank.gemms;
  if (gemms.size() == 0) return;
  const std::vector<std::uint32_t> around = CallAround(rank, gemms.start, gemms.end, gemms.thread);
  std::vector<int> of_kernel;  // by kernel shape: the type of computing; 0: its name tells none
  for (const KernelShape& shape : rank.shapes) {
    const std::string_view dtype = TraitsOf(rank.string(shape.name), shape.kernel_class).dtype;
    of_kernel.push_back(dtype == "tf32" ? kComputeFastTf32 : dtype == "fp32" ? kComputeFloat : 0);
  }
  // By shape and type of computing: what was one shape may be two.
  std::map<std::pair<std::uint32_t, int>, std::uint32_t> split;
  for (const Device& device : rank.devices) {
    const GpuOps& ops = device.ops;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      const std::uint32_t launch = ops.launch[op];
      if (ops.kind[op] != OpKind::kKernel || launch == kNone || around[launch] == kNone) continue;
      const bool multiplies =
          ops.kernel_class[op] == KernelClass::kGemm || ops.kernel_class[op] == KernelClass::kConv;
      const int computes = multiplies ? of_kernel[ops.detail[op]] : 0;
      const std::uint32_t shape = gemms.shape[around[launch]];
      if (computes == 0 || rank.gemm_shapes[shape].type_a != kFloat ||
          rank.gemm_shapes[shape].compute_type >= 0)
        continue;
      const auto [known, is_new] =
          split.try_emplace({shape, computes}, static_cast<std::uint32_t>(rank.gemm_shapes.size()));
      if (is_new) {
        rank.gemm_shapes.push_back(rank.gemm_shapes[shape]);
        rank.gemm_shapes.back().compute_type = computes;
      }
      // Of both products of a backward the kernels are those of the last.
      const TimeNs start = gemms.start[around[launch]];
      for (std::uint32_t row = around[launch];
           row != kNone && gemms.start[row] == start && gemms.shape[row] == shape;
           row = row == 0 ? kNone : row - 1)
        gemms.shape[row] = known->second;
    }
  }
}

}  // namespace traceinject
