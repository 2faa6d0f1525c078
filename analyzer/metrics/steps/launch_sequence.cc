// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/launch_sequence.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
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
                                      false, true};
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
    return OfWhole(3, graph, optimizer);
  }
  Tokens OfProgram(std::uint32_t text) { return OfWhole(4, text, false); }

 private:
  Tokens OfWhole(int kind, std::uint64_t id, bool optimizer) {
    const LaunchSequence::Token token{0, optimizer, false, true, true};
    return {names_.Of({kind, id, 0, 0}, sequence_.names, token),
            shapes_.Of({kind, id, 0, 0}, sequence_.shapes, token)};
  }

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

// The executions of compiled programs that the recording names.
class ProgramExecutions {
 public:
  explicit ProgramExecutions(const Rank& rank) : rank_(rank) {
    const NvtxRanges& nvtx = rank.nvtx;
    std::vector<signed char> names(rank.strings.size(), -1);  // -1: not looked at yet
    for (std::uint32_t row = 0; row < nvtx.size(); ++row) {
      const std::uint32_t text = nvtx.text[row];
      if (nvtx.kind[row] == NvtxKind::kMark || text == kNone) continue;
      if (names[text] < 0) names[text] = rank.strings[text].starts_with(kXlaProgram) ? 1 : 0;
      if (names[text] == 1) rows_.push_back(row);
    }
    std::sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(nvtx.thread[a], nvtx.start[a]) < std::pair(nvtx.thread[b], nvtx.start[b]);
    });
  }

  // Row of the range in which a call was made; kNone: in none.
  std::uint32_t Of(std::uint32_t call) const {
    const NvtxRanges& nvtx = rank_.nvtx;
    const std::pair at(rank_.api.thread[call], rank_.api.start[call]);
    const auto after = std::upper_bound(
        rows_.begin(), rows_.end(), at, [&](const auto& wanted, std::uint32_t row) {
          return wanted < std::pair(nvtx.thread[row], nvtx.start[row]);
        });
    if (after == rows_.begin()) return kNone;
    const std::uint32_t row = *(after - 1);
    return nvtx.thread[row] == at.first && nvtx.end[row] > at.second ? row : kNone;
  }

 private:
  // What XLA calls the range around the launches of a program, before its name.
  static constexpr std::string_view kXlaProgram = "XlaModule:#";

  const Rank& rank_;
  std::vector<std::uint32_t> rows_;  // of Rank::nvtx; by thread and start
};

class SequenceBuilder {
 public:
  SequenceBuilder(const Rank& rank, const GpuOps& ops)
      : rank_(rank), ops_(ops), tokenizer_(rank, ops, sequence_), programs_(rank) {
    any_launch_ = std::any_of(ops.launch.begin(), ops.launch.end(),
                              [](std::uint32_t launch) { return launch != kNone; });
    latest_ = ops.size() == 0 ? 0 : ops.start.front();
    if (!rank.api.start.empty()) latest_ = std::min(latest_, rank.api.start.front());
  }

  LaunchSequence Build() {
    const std::vector<std::uint32_t> ordered = ByLaunch(ops_, rank_.api.size());
    for (auto* column : {&sequence_.name, &sequence_.shape}) column->reserve(ordered.size());
    sequence_.launched.Own().reserve(ordered.size());
    for (std::size_t i = 0; i < ordered.size();) {
      const std::size_t next = EndOfElement(ordered, i);
      const std::span<const std::uint32_t> rows(ordered.data() + i, next - i);
      Pass(rows);
      const std::uint32_t launch = ops_.launch[rows.front()];
      const std::uint32_t program = launch == kNone ? kNone : programs_.Of(launch);
      // What another thread launches meanwhile does not end a program.
      if (program == kNone || program != program_) Append(rows, program);
      length_ += LengthOf(rows);
      if (program != kNone) program_ = program;
      i = next;
    }
    sequence_.length_before.Own().push_back(length_);
    return std::move(sequence_);
  }

 private:
  bool IsGraph(std::uint32_t row) const {
    return ops_.launch[row] != kNone && ops_.graph_node[row] != kNone;
  }
  std::size_t EndOfElement(const std::vector<std::uint32_t>& ordered, std::size_t i) const {
    const std::uint32_t row = ordered[i];
    std::size_t next = i + 1;
    if (!IsGraph(row)) return next;
    while (next < ordered.size() && ops_.launch[ordered[next]] == ops_.launch[row]) ++next;
    return next;
  }

  void Pass(std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) {
      const TimeNs length = ops_.end[row] - ops_.start[row];
      sequence_.busy_ns += length;
      if (ops_.kernel_class[row] == KernelClass::kComm) sequence_.communication_ns += length;
    }
    // The host's clock counts where it is known at all.
    const std::uint32_t launch = ops_.launch[rows.front()];
    if (launch != kNone)
      latest_ = std::max(latest_, rank_.api.start[launch]);
    else if (!any_launch_)
      latest_ = std::max(latest_, ops_.start[rows.front()]);
  }
  TimeNs LengthOf(std::span<const std::uint32_t> rows) const {
    TimeNs length = 0;
    for (const std::uint32_t row : rows) length += ops_.end[row] - ops_.start[row];
    return length;
  }

  void Append(std::span<const std::uint32_t> rows, std::uint32_t program) {
    const Tokens tokens = TokensOf(rows, program);
    sequence_.name.push_back(tokens.name);
    sequence_.shape.push_back(tokens.shape);
    sequence_.launched.Own().push_back(latest_);
    sequence_.first_op.Own().push_back(rows.front());
    sequence_.length_before.Own().push_back(length_);
    ++sequence_.names[tokens.name].count;
    ++sequence_.shapes[tokens.shape].count;
  }
  Tokens TokensOf(std::span<const std::uint32_t> rows, std::uint32_t program) {
    if (program != kNone) return tokenizer_.OfProgram(rank_.nvtx.text[program]);
    const std::uint32_t row = rows.front();
    if (IsGraph(row)) {
      const bool optimizer = std::any_of(rows.begin(), rows.end(), [&](std::uint32_t node) {
        return ops_.kernel_class[node] == KernelClass::kOptimizer;
      });
      return tokenizer_.OfGraph(row, optimizer);
    }
    return ops_.kind[row] == OpKind::kKernel ? tokenizer_.OfKernel(row)
                                             : tokenizer_.OfTransfer(row);
  }

  const Rank& rank_;
  const GpuOps& ops_;
  LaunchSequence sequence_;
  Tokenizer tokenizer_;
  ProgramExecutions programs_;
  bool any_launch_ = false;
  TimeNs latest_ = 0;
  TimeNs length_ = 0;              // of all operations so far
  std::uint32_t program_ = kNone;  // the last that was begun
};

constexpr std::uint8_t kDeviceToHost = 2;  // CUpti_ActivityMemcpyKind

// When waits of the host for the device began, on any thread, in order.
std::vector<TimeNs> WaitsOf(const Rank& rank) {
  std::vector<TimeNs> waits;
  for (std::size_t row = 0; row < rank.api.size(); ++row) {
    if (rank.api_names[rank.api.name[row]].api_class == ApiClass::kSynchronize)
      waits.push_back(rank.api.start[row]);
  }
  return waits;
}

// Whether a copy is the condition of a loop that the device runs and the host decides on.
bool IsCondition(const Rank& rank, const GpuOps& ops, std::uint32_t row) {
  if (ops.kind[row] != OpKind::kMemcpy) return false;
  const Transfer& transfer = rank.transfers[ops.detail[row]];
  return transfer.kind == kDeviceToHost && transfer.bytes == 1;
}

// Merges what `ends` says belongs together: the first element after each stretch.
LaunchSequence Merged(const LaunchSequence& sequence, const std::vector<std::size_t>& ends) {
  LaunchSequence merged;
  merged.busy_ns = sequence.busy_ns;
  merged.communication_ns = sequence.communication_ns;
  Numbers<std::uint64_t> names, shapes;
  std::size_t i = 0;
  for (const std::size_t end : ends) {
    LaunchSequence::Token token{0, false, false, true};
    std::uint64_t name = 0, shape = 0;
    merged.launched.Own().push_back(sequence.launched[i]);
    merged.first_op.Own().push_back(sequence.first_op[i]);
    merged.length_before.Own().push_back(sequence.length_before[i]);
    for (; i < end; ++i) {
      const LaunchSequence::Token& part = sequence.names[sequence.name[i]];
      token.optimizer |= part.optimizer;
      token.upload |= part.upload;
      token.kernel |= part.kernel;
      name = Mixed(name + sequence.name[i] + 1);
      shape = Mixed(shape + sequence.shape[i] + 1);
    }
    merged.name.push_back(names.Of(name, merged.names, token));
    merged.shape.push_back(shapes.Of(shape, merged.shapes, token));
    ++merged.names[merged.name.back()].count;
    ++merged.shapes[merged.shape.back()].count;
  }
  merged.length_before.Own().push_back(sequence.length_before[i]);
  return merged;
}

template <typename T>
void EraseFirst(std::size_t count, std::vector<T>& column) {
  column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(count));
}
template <typename T>
void EraseFirst(std::size_t count, PackedColumn<T>& column) {
  PackedColumn<T> rest;
  rest.Append(column, count, column.size() - count);
  column = std::move(rest);
}

}  // namespace

LaunchSequence SequenceOf(const Rank& rank, const GpuOps& ops) {
  return SequenceBuilder(rank, ops).Build();
}

LaunchSequence WithContext(const LaunchSequence& sequence, std::size_t length) {
  LaunchSequence longer = sequence;
  AddContext(length, longer.name, longer.names);
  AddContext(length, longer.shape, longer.shapes);
  return longer;
}

LaunchSequence BetweenWaits(const Rank& rank, const GpuOps& ops, const LaunchSequence& sequence) {
  const std::vector<TimeNs> waits = WaitsOf(rank);
  std::vector<std::size_t> ends;
  auto wait = waits.begin();
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const TimeNs next = i + 1 < sequence.size() ? sequence.launched[i + 1] : kOpen;
    while (wait != waits.end() && *wait < sequence.launched[i]) ++wait;
    const bool waits_here =
        wait != waits.end() && *wait < next && !IsCondition(rank, ops, sequence.first_op[i]);
    if (waits_here || i + 1 == sequence.size()) ends.push_back(i + 1);
  }
  return Merged(sequence, ends);
}

LaunchSequence WithoutStartUp(const LaunchSequence& sequence, StartUpBy by) {
  if (sequence.size() == 0) return sequence;
  std::vector<std::size_t> last(sequence.names.size());
  for (std::size_t i = 0; i < sequence.size(); ++i) last[sequence.name[i]] = i;
  const TimeNs first = sequence.launched.front();
  const TimeNs late = first + (sequence.launched.back() - first) / 3 * 2;
  std::size_t begin = 0;
  for (const std::size_t at : last) {
    const bool early =
        by == StartUpBy::kTime ? sequence.launched[at] < late : 3 * at < 2 * sequence.size();
    if (early) begin = std::max(begin, at + 1);
  }
  LaunchSequence rest = sequence;
  EraseFirst(begin, rest.name);
  EraseFirst(begin, rest.shape);
  EraseFirst(begin, rest.launched.Own());
  EraseFirst(begin, rest.first_op.Own());
  EraseFirst(begin, rest.length_before.Own());
  for (auto* table : {&rest.names, &rest.shapes}) {
    for (LaunchSequence::Token& token : *table) token.count = 0;
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    ++rest.names[rest.name[i]].count;
    ++rest.shapes[rest.shape[i]].count;
  }
  return rest;
}

}  // namespace traceinject
