// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/launch_sequence.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace traceinject {
namespace {

constexpr std::uint8_t kHostToDevice = 1;  // CUpti_ActivityMemcpyKind

// Gives out dense numbers to what is told apart by `Key`.
template <typename Key>
class Numbers {
 public:
  std::uint32_t Of(const Key& key, std::vector<LaunchSequence::Token>& table,
                   const LaunchSequence::Token& token) {
    const auto [entry, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(table.size()));
    if (is_new) table.push_back(token);
    return entry->second;
  }

 private:
  std::map<Key, std::uint32_t> numbers_;
};

// Key of a token: what kind it is, and what tells it from others of its kind.
using Key = std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t>;

struct Tokens {
  std::uint32_t name = kNone, shape = kNone;
};

// The tokens of operations; those of a kernel's shape, of a transfer or of a graph are worked out
// once.
class Tokenizer {
 public:
  Tokenizer(const Rank& rank, const GpuOps& ops, LaunchSequence& sequence)
      : rank_(rank), ops_(ops), sequence_(sequence), of_shape_(rank.shapes.size()) {}

  Tokens OfKernel(std::uint32_t row) {
    const std::uint32_t detail = ops_.detail[row];
    Tokens& known = of_shape_[detail];
    if (known.name != kNone) return known;
    const KernelShape& shape = rank_.shapes[detail];
    const LaunchSequence::Token token{0, shape.kernel_class == KernelClass::kOptimizer, false,
                                      false};
    const auto grid = [&](int axis) { return static_cast<std::uint64_t>(shape.grid[axis]); };
    known.name = names_.Of({0, shape.name, 0, 0}, sequence_.names, token);
    known.shape =
        shapes_.Of({0, shape.name, grid(0), grid(1) << 32U | grid(2)}, sequence_.shapes, token);
    return known;
  }
  Tokens OfTransfer(std::uint32_t row) {
    const Transfer& transfer = rank_.transfers[ops_.detail[row]];
    const bool copy = ops_.kind[row] == OpKind::kMemcpy;
    const LaunchSequence::Token token{0, false, copy && transfer.kind == kHostToDevice, false};
    const std::uint64_t kinds = std::uint64_t{transfer.kind} << 16U |
                                std::uint64_t{transfer.src_kind} << 8U | transfer.dst_kind;
    return {names_.Of({copy ? 1 : 2, kinds, 0, 0}, sequence_.names, token),
            shapes_.Of({copy ? 1 : 2, kinds, static_cast<std::uint64_t>(transfer.bytes), 0},
                       sequence_.shapes, token)};
  }
  Tokens OfGraph(std::uint32_t row, bool optimizer) {
    const std::uint64_t graph = rank_.graph_nodes[ops_.graph_node[row]].graph_id;
    const LaunchSequence::Token token{0, optimizer, false, true};
    return {names_.Of({3, graph, 0, 0}, sequence_.names, token),
            shapes_.Of({3, graph, 0, 0}, sequence_.shapes, token)};
  }

 private:
  const Rank& rank_;
  const GpuOps& ops_;
  LaunchSequence& sequence_;
  std::vector<Tokens> of_shape_;
  Numbers<Key> names_, shapes_;
};

// Rows of operations by the row of their launch call, and by start on the device within one call:
// sorted by counting, as calls are numbered.
std::vector<std::uint32_t> ByLaunch(const GpuOps& ops, std::size_t calls) {
  const std::size_t n = ops.size();
  std::vector<std::uint32_t> key(n);  // call + 1; 0: before any call
  std::uint32_t last = 0;
  for (std::size_t row = 0; row < n; ++row) {
    const std::uint32_t launch = ops.launch[row];
    if (launch != kNone) last = launch + 1;
    key[row] = last;
  }
  std::vector<std::uint32_t> place(calls + 2);
  for (const std::uint32_t k : key) ++place[k + 1];
  for (std::size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
  std::vector<std::uint32_t> rows(n);
  for (std::size_t row = 0; row < n; ++row)
    rows[place[key[row]]++] = static_cast<std::uint32_t>(row);
  return rows;
}

// Spreads neighboring numbers over all bits (the finalizer of MurmurHash3).
std::uint64_t Mixed(std::uint64_t value) {
  value = (value ^ value >> 33U) * 0xFF51AFD7ED558CCDULL;
  value = (value ^ value >> 33U) * 0xC4CEB9FE1A85EC53ULL;
  return value ^ value >> 33U;
}

// Replaces elements by those of `length` elements from each on; at the end they are fewer.
void AddContext(std::size_t length, std::vector<std::uint32_t>& elements,
                std::vector<LaunchSequence::Token>& table) {
  constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15ULL;
  std::uint64_t power = 1, hash = 0;  // of the elements from one on, a polynomial in the base
  for (std::size_t i = 0; i < length; ++i) power *= kBase;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  const std::vector<std::uint32_t> plain = std::exchange(elements, {});
  const std::vector<LaunchSequence::Token> known = std::exchange(table, {});
  elements.resize(plain.size());
  for (std::size_t i = plain.size(); i-- > 0;) {
    hash = hash * kBase + Mixed(plain[i] + 1);
    if (i + length < plain.size()) hash -= power * Mixed(plain[i + length] + 1);
    const auto [entry, is_new] =
        numbers.try_emplace(hash, static_cast<std::uint32_t>(table.size()));
    if (is_new) {
      table.push_back(known[plain[i]]);
      table.back().count = 0;
    }
    elements[i] = entry->second;
    ++table[entry->second].count;
  }
}

}  // namespace

LaunchSequence SequenceOf(const Rank& rank, const GpuOps& ops) {
  LaunchSequence sequence;
  Tokenizer tokenizer(rank, ops, sequence);
  const std::vector<std::uint32_t> ordered = ByLaunch(ops, rank.api.size());
  const std::size_t n = ops.size();
  for (auto* column : {&sequence.name, &sequence.shape, &sequence.first_op}) column->reserve(n);
  sequence.launched.reserve(n);
  const bool any_launch = std::any_of(ops.launch.begin(), ops.launch.end(),
                                      [](std::uint32_t launch) { return launch != kNone; });
  TimeNs latest = n == 0 ? 0 : ops.start.front();
  if (!rank.api.start.empty()) latest = std::min(latest, rank.api.start.front());
  for (std::size_t i = 0; i < n;) {
    const std::uint32_t row = ordered[i];
    const std::uint32_t launch = ops.launch[row];
    std::size_t next = i + 1;
    Tokens tokens;
    if (launch != kNone && ops.graph_node[row] != kNone) {
      bool optimizer = false;
      for (next = i; next < n && ops.launch[ordered[next]] == launch; ++next)
        optimizer |= ops.kernel_class[ordered[next]] == KernelClass::kOptimizer;
      tokens = tokenizer.OfGraph(row, optimizer);
    } else {
      tokens =
          ops.kind[row] == OpKind::kKernel ? tokenizer.OfKernel(row) : tokenizer.OfTransfer(row);
    }
    for (std::size_t k = i; k < next; ++k) {
      const TimeNs length = ops.end[ordered[k]] - ops.start[ordered[k]];
      sequence.busy_ns += length;
      if (ops.kernel_class[ordered[k]] == KernelClass::kComm) sequence.communication_ns += length;
    }
    // The host's clock counts where it is known at all.
    if (launch != kNone)
      latest = std::max(latest, rank.api.start[launch]);
    else if (!any_launch)
      latest = std::max(latest, ops.start[row]);
    sequence.name.push_back(tokens.name);
    sequence.shape.push_back(tokens.shape);
    sequence.launched.push_back(latest);
    sequence.first_op.push_back(row);
    ++sequence.names[tokens.name].count;
    ++sequence.shapes[tokens.shape].count;
    i = next;
  }
  return sequence;
}

LaunchSequence WithContext(const LaunchSequence& sequence, std::size_t length) {
  LaunchSequence longer = sequence;
  AddContext(length, longer.name, longer.names);
  AddContext(length, longer.shape, longer.shapes);
  return longer;
}

}  // namespace traceinject
