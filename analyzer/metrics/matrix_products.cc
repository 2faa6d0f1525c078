// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/matrix_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/metrics/data_types.h"
#include "analyzer/model/calls_on_threads.h"

namespace traceinject {
namespace {

struct Found {
  std::int64_t kernels = 0;
  TimeNs kernel_ns = 0;
};

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

// Which kernels of the ranges belong to which call, by the last row of the call.
std::vector<Found> KernelsOfCalls(const Rank& rank, const GpuOps& ops, const LibraryCalls& calls,
                                  const OpRanges& ranges) {
  std::vector<Found> found(rank.gemms.size());
  for (const OpRange& range : ranges) {
    for (std::size_t op = range.begin; op < range.end; ++op) {
      const std::uint32_t product = calls.ProductOf(ops.launch[op]);
      if (product == kNone || ops.kind[op] != OpKind::kKernel) continue;
      ++found[product].kernels;
      found[product].kernel_ns += ops.end[op] - ops.start[op];
    }
  }
  return found;
}

MatrixProducts ByShape(const Rank& rank, const std::vector<Found>& found) {
  const Gemms& gemms = rank.gemms;
  std::vector<double> flops;  // by shape
  for (const GemmShape& shape : rank.gemm_shapes) flops.push_back(FlopsOf(shape));
  std::vector<MatrixProductRow> rows(flops.size());  // by shape
  for (std::uint32_t last = 0; last < found.size(); ++last) {
    if (found[last].kernels == 0) continue;
    ForEachOfCall(gemms, last, [&](std::uint32_t row) {
      MatrixProductRow& to = rows[gemms.shape[row]];
      ++to.calls;
      to.flops += flops[gemms.shape[row]];
      if (row != last) return;
      to.kernels += found[last].kernels;
      to.kernel_ns += found[last].kernel_ns;
    });
  }
  MatrixProducts products;
  for (std::size_t shape = 0; shape < rows.size(); ++shape) {
    MatrixProductRow& row = rows[shape];
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

// Those called in the window of which no device has an operation. `found`: what one device has.
std::int64_t CountWithoutKernels(const Rank& rank, const LibraryCalls& calls,
                                 const std::vector<Found>& found, Interval window) {
  const Gemms& gemms = rank.gemms;
  std::vector<bool> linked(gemms.size(), false);
  const auto link = [&](std::uint32_t row) { linked[row] = true; };
  for (std::uint32_t last = 0; last < found.size(); ++last) {
    if (found[last].kernels > 0) ForEachOfCall(gemms, last, link);
  }
  const auto count = [&] {
    std::int64_t without = 0;
    for (std::size_t row = 0; row < gemms.size(); ++row) {
      const bool inside = gemms.start[row] >= window.start && gemms.start[row] < window.end;
      without += !linked[row] && inside ? 1 : 0;
    }
    return without;
  };
  if (count() == 0) return 0;  // as usual: the rest need not be looked through
  for (const Device& device : rank.devices) {
    for (const std::uint32_t launch : device.ops.launch) {
      const std::uint32_t product = calls.ProductOf(launch);
      if (product != kNone && !linked[product]) ForEachOfCall(gemms, product, link);
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
  if (shape.type_a == shape.type_b && shape.type_a == shape.type_c) return a;
  return fmt::format("{} x {} = {}", a, DataTypeName(shape.type_b), DataTypeName(shape.type_c));
}

MatrixProducts LinkedMatrixProducts(const Rank& rank, const Device& device,
                                    const LibraryCalls& calls, const OpRanges& ranges) {
  return ByShape(rank, KernelsOfCalls(rank, device.ops, calls, ranges));
}

MatrixProducts CountMatrixProducts(const Rank& rank, const Device& device,
                                   const LibraryCalls& calls, OpRange range, Interval window) {
  const std::vector<Found> found = KernelsOfCalls(rank, device.ops, calls, {range});
  MatrixProducts products = ByShape(rank, found);
  if (IsFirstAtWork(rank, device))
    products.calls += CountWithoutKernels(rank, calls, found, window);
  return products;
}

MatrixProducts MergeMatrixProducts(const std::vector<MatrixProducts>& parts) {
  MatrixProducts sum;
  const auto key = [](const MatrixProductRow& row) {
    const GemmShape& s = row.shape;
    return std::tuple(row.function, s.m, s.n, s.k, s.batch, s.trans_a, s.trans_b, s.type_a,
                      s.type_b, s.type_c, s.compute_type);
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
