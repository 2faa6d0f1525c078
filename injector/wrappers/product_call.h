// SPDX-License-Identifier: Apache-2.0
// What wrappers of calls share that ask for matrix products: time, thread and shape are noted once
// the call is made.
//
// Libraries call each other, and functions of their own that are wrapped: only the outermost call
// of a thread counts.
#pragma once

#include <cstdint>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/own_cost.h"
#include "injector/base/ring.h"
#include "injector/base/safe_point.h"
#include "injector/base/sources.h"
#include "injector/stacks/own_stack.h"

namespace traceinject {

inline constexpr std::int16_t kUnknownType = -1;

inline thread_local constinit int t_product_depth = 0;  // of wrapped calls on this thread

// What one call computed: batch x (m x k times k x n).
struct ProductOfCall {
  const char* function;
  std::int64_t m, n, k, batch;
  int trans_a, trans_b;             // cublasOperation_t
  int type_a, type_b, type_c;       // cudaDataType
  int compute_type = kUnknownType;  // cublasComputeType_t
  std::int64_t least_bytes = -1;    // as in gemm_shape of run_db.sql; -1: of matrices
};

class ProductEmitter {
 public:
  ProductEmitter(std::int64_t start_ns, std::int64_t end_ns)
      : start_ns_(start_ns), end_ns_(end_ns) {}

  void operator()(const ProductOfCall& product) const {
    Ring* ring = g_rings.OfThisThread();
    auto* event =
        ring == nullptr ? nullptr : static_cast<GemmEvent*>(ring->Reserve(sizeof(GemmEvent)));
    if (event == nullptr) return g_counters.AddLost(Health::kGemmSeen, Health::kGemmDropped);
    event->header = {sizeof(GemmEvent), static_cast<std::uint16_t>(EventType::kGemm), 0, start_ns_};
    event->end_ns = end_ns_;
    event->function = product.function;
    event->m = product.m;
    event->n = product.n;
    event->k = product.k;
    event->batch = product.batch;
    event->type_a = static_cast<std::int16_t>(product.type_a);
    event->type_b = static_cast<std::int16_t>(product.type_b);
    event->type_c = static_cast<std::int16_t>(product.type_c);
    event->compute_type = static_cast<std::int16_t>(product.compute_type);
    event->trans_a = static_cast<std::int32_t>(product.trans_a);
    event->trans_b = static_cast<std::int32_t>(product.trans_b);
    event->least_bytes = product.least_bytes;
    ring->Publish(&g_wake);
  }

 private:
  std::int64_t start_ns_, end_ns_;
};

// Makes the call; describes it to a ProductEmitter if it is an outermost one that succeeded.
template <typename Describe, typename Call>
int WithProduct(Describe describe, Call call) {
  if (t_product_depth > 0) return call();
  g_safe_point.Pass();
  if (!Delivers(Source::kGemm)) return call();
  OwnCost cost(Health::kGemmOwnNs);
  ++t_product_depth;
  const bool is_place_due = t_launch_turn.IsDue() && t_launch_turn.Begin();
  g_rings.Prefetch();
  const std::int64_t start = NowNs();
  cost.Leave();
  const int result = call();
  cost.Enter();
  const std::int64_t end = NowNs();
  --t_product_depth;
  if (result == 0) describe(ProductEmitter(start, end));
  if (is_place_due) t_launch_turn.TakeStack(start, end);
  return result;
}

}  // namespace traceinject
