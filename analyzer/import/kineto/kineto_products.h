// SPDX-License-Identifier: Apache-2.0
// GEMMs, convolutions and attention of a PyTorch trace with record_shapes=True, from the inputs of
// its operators: as calls of Rank::gemms and Rank::attentions, so that all that is said of such
// calls is said of them.
//
// Of operators that lie in each other (aten::linear calls aten::addmm) the innermost counts, of
// attention the outermost. A convolution is the GEMM that it equals: m output channels of a group,
// n output positions, k inputs of each, one product a group; its backward is one such product for
// the gradient of its input and one for that of its weights. How many positions an output has
// follows from stride and padding ("Concrete Inputs"), or from the gradient that the node of
// autograd with the same sequence number got; where neither is told, nothing is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/import/kineto/kineto_event.h"
#include "analyzer/import/kineto/operator_inputs.h"
#include "analyzer/model/run.h"

namespace traceinject {

class KinetoProducts {
 public:
  // Takes note of an operator, which has this row of Rank::profiled. Most are of no interest.
  void Add(const KinetoEvent& event, std::uint32_t row);

  // Adds the calls, each with the times of its operator. Before the rows of Rank::profiled are
  // sorted. O(n log n).
  void Place(Rank& rank) const;

 private:
  friend class ProductPlacer;

  // What is known of an operator, from the table of their names.
  struct Kind;
  struct Asked {
    const Kind* kind = nullptr;
    std::vector<TensorSizes> inputs;  // of each the first tensor
    int cuda_type = -1;               // of its first matrix
    // Of a convolution; empty: not told.
    std::vector<std::int64_t> stride, padding, dilation;
    std::optional<bool> transposed;
    bool for_input = false, for_weights = false;  // gradients that its backward is asked for
    int causal = -1;                              // of attention
  };
  struct Noted {
    std::uint32_t row = 0;
    std::uint32_t asked = 0;  // index: many operators are asked for the same
    std::int64_t sequence = -1;
  };

  static const Kind* FindKind(std::string_view name);
  static void TakeConcrete(const std::vector<std::string_view>& concrete, Asked& asked);
  static Asked Parse(const Kind& kind, const KinetoEvent& event);

  std::vector<Noted> noted_;
  std::vector<Asked> asked_;
  std::unordered_map<std::string, std::uint32_t> asked_by_text_;
  // What a node of the backward of a convolution got, by its sequence number; empty: several.
  std::map<std::int64_t, std::optional<TensorSizes>> gradients_;
};

// Of products in fp32: whether their kernels compute TF32, by their names. After JoinLaunches, with
// rows sorted. O(api + products + operations).
void FindTf32Products(Rank& rank);

}  // namespace traceinject
