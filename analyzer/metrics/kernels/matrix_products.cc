// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/matrix_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/metrics/kernels/data_types.h"
#include "analyzer/model/calls/calls_on_threads.h"

namespace traceinject {
namespace {

void Sort(MatrixProducts& products) {
  std::stable_sort(products.rows.begin(), products.rows.end(),
                   [](const MatrixProductRow& a, const MatrixProductRow& b) {
                     return a.kernel_ns > b.kernel_ns;
                   });
}

// Calls visit(row) for each product of the call whose last row this is.
template <typename Visit>
void ForEachOfCall(const Gemms& gemms, std::uint32_t last, Visit visit) {
  for (std::uint32_t row = FirstOfCall(gemms, last); row <= last; ++row) {
    if (gemms.thread[row] == gemms.thread[last]) visit(row);
  }
}

// Adds up the products that have kernels. A kernel counts for the last row of its call; calls that
// were counted are marked, so that no table as long as the calls has to be kept of them.
class ProductCounter {
 public:
  ProductCounter(const Rank& rank, const LibraryCalls& calls)
      : gemms_(rank.gemms), calls_(calls), rows_(rank.gemm_shapes.size()), linked_(gemms_.size()) {
    for (const GemmShape& shape : rank.gemm_shapes) flops_.push_back(FlopsOf(shape));
  }

  void Add(const GpuOps& ops, OpRange range) {
    for (std::size_t op = range.begin; op < range.end; ++op) {
      const std::uint32_t last = calls_.ProductOf(ops.launch[op]);
      if (last == kNone || ops.kind[op] != OpKind::kKernel) continue;
      MatrixProductRow& row = rows_[gemms_.shape[last]];
      ++row.kernels;
      row.kernel_ns += ops.end[op] - ops.start[op];
      if (!linked_[last]) ForEachOfCall(gemms_, last, [this](std::uint32_t each) { Count(each); });
    }
  }

  MatrixProducts Finish(const Rank& rank) {
    MatrixProducts products;
    for (std::size_t shape = 0; shape < rows_.size(); ++shape) {
      MatrixProductRow& row = rows_[shape];
      if (row.calls == 0) continue;
      row.shape = rank.gemm_shapes[shape];
      row.function = rank.string(row.shape.function);
      products.linked_calls += row.calls;
      products.flops += row.flops;
      products.kernel_ns += row.kernel_ns;
      products.rows.push_back(std::move(row));
    }
    products.calls = products.linked_calls;
    Sort(products);
    return products;
  }
  // The products that have a kernel.
  std::vector<bool>& linked() { return linked_; }

 private:
  void Count(std::uint32_t row) {
    linked_[row] = true;
    MatrixProductRow& to = rows_[gemms_.shape[row]];
    ++to.calls;
    to.flops += flops_[gemms_.shape[row]];
  }

  const Gemms& gemms_;
  const LibraryCalls& calls_;
  std::vector<double> flops_;           // by shape
  std::vector<MatrixProductRow> rows_;  // by shape
  std::vector<bool> linked_;
};

// Those called in the windows of which no device has an operation. `linked`: of which kernels were
// found so far.
std::int64_t CountWithoutKernels(const Rank& rank, const LibraryCalls& calls,
                                 const Intervals& windows, std::vector<bool>& linked) {
  const Gemms& gemms = rank.gemms;
  const auto count = [&] {
    std::int64_t without = 0;
    for (std::size_t row = 0; row < gemms.size(); ++row) {
      without += !linked[row] && Contains(windows, gemms.start[row]) ? 1 : 0;
    }
    return without;
  };
  if (count() == 0) return 0;  // as usual: the rest need not be looked through
  for (const Device& device : rank.devices) {
    for (const std::uint32_t launch : device.ops.launch) {
      const std::uint32_t product = calls.ProductOf(launch);
      if (product == kNone || linked[product]) continue;
      ForEachOfCall(gemms, product, [&](std::uint32_t row) { linked[row] = true; });
    }
  }
  return count();
}

}  // namespace

std::uint32_t FirstOfCall(const Gemms& gemms, std::uint32_t row) {
  std::uint32_t first = row;
  for (std::uint32_t before = row; before > 0 && gemms.start[before - 1] == gemms.start[row];) {
    --before;
    if (gemms.thread[before] == gemms.thread[row]) first = before;
  }
  return first;
}

double FlopsOf(const GemmShape& shape) {
  const DataType* type = FindDataType(shape.type_a);
  return (type != nullptr && type->complex ? 8.0 : 2.0) * static_cast<double>(shape.m) *
         static_cast<double>(shape.n) * static_cast<double>(shape.k) *
         static_cast<double>(shape.batch);
}

std::optional<double> LeastBytesOf(const GemmShape& shape) {
  if (shape.is_convolution())
    return shape.least_bytes > 0 ? std::optional(static_cast<double>(shape.least_bytes))
                                 : std::nullopt;
  const DataType *a = FindDataType(shape.type_a), *b = FindDataType(shape.type_b),
                 *c = FindDataType(shape.type_c);
  if (a == nullptr || b == nullptr || c == nullptr) return std::nullopt;
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k);
  return static_cast<double>(shape.batch) *
         (m * k * a->bytes + k * n * b->bytes + m * n * c->bytes);
}

std::string MatrixTypes(const GemmShape& shape) {
  const std::string a = DataTypeName(shape.type_a);
  if (shape.type_a == shape.type_b && (shape.type_a == shape.type_c || shape.type_c < 0)) return a;
  return fmt::format("{} x {} = {}", a, DataTypeName(shape.type_b), DataTypeName(shape.type_c));
}

MatrixProducts LinkedMatrixProducts(const Rank& rank, const Device& device,
                                    const LibraryCalls& calls, const OpRanges& ranges) {
  ProductCounter counter(rank, calls);
  for (const OpRange& range : ranges) counter.Add(device.ops, range);
  return counter.Finish(rank);
}

MatrixProducts CountMatrixProducts(const Rank& rank, const Device& device,
                                   const LibraryCalls& calls, const OpRanges& ranges,
                                   const Intervals& windows) {
  ProductCounter counter(rank, calls);
  for (const OpRange& range : ranges) counter.Add(device.ops, range);
  MatrixProducts products = counter.Finish(rank);
  if (IsFirstAtWork(rank, device))
    products.calls += CountWithoutKernels(rank, calls, windows, counter.linked());
  return products;
}

MatrixProducts MergeMatrixProducts(const std::vector<MatrixProducts>& parts) {
  MatrixProducts sum;
  const auto key = [](const MatrixProductRow& row) {
    const GemmShape& s = row.shape;
    return std::tuple(row.function, s.m, s.n, s.k, s.batch, s.trans_a, s.trans_b, s.type_a,
                      s.type_b, s.type_c, s.compute_type, s.least_bytes);
  };
  std::map<decltype(key(std::declval<MatrixProductRow>())), MatrixProductRow> rows;
  for (const MatrixProducts& part : parts) {
    sum.calls += part.calls;
    sum.linked_calls += part.linked_calls;
    sum.flops += part.flops;
    sum.kernel_ns += part.kernel_ns;
    for (const MatrixProductRow& row : part.rows) {
      const auto [entry, is_new] = rows.try_emplace(key(row), row);
      if (is_new) continue;
      MatrixProductRow& to = entry->second;
      to.calls += row.calls;
      to.kernels += row.kernels;
      to.flops += row.flops;
      to.kernel_ns += row.kernel_ns;
    }
  }
  for (auto& [unused, row] : rows) sum.rows.push_back(std::move(row));
  Sort(sum);
  return sum;
}

}  // namespace traceinject
