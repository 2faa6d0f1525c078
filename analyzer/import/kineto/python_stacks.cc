// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/python_stacks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace traceinject {
namespace {

constexpr std::string_view kBuiltIn = "<built-in>", kModule = "<nn.Module>";
constexpr std::string_view kModulePrefix = "nn.Module: ";

// Something that begins on a thread. Of those that begin together, what may be around another comes
// first.
struct Moment {
  enum class Kind : std::uint8_t { kFunction, kOperator, kCall, kLook };
  TimeNs time = 0, end = 0;
  Kind kind = Kind::kLook;
  std::uint32_t row = 0;  // of functions, Rank::profiled, Rank::api

  bool operator<(const Moment& other) const {
    return std::tuple(time, kind, -end, row) <
           std::tuple(other.time, other.kind, -other.end, other.row);
  }
};

// "<built-in method choice of numpy.random.mtrand.RandomState object at 0x7f42>": what is called.
std::string_view NameOfBuiltIn(std::string_view name) {
  if (name.starts_with('<') && name.ends_with('>')) name = name.substr(1, name.size() - 2);
  name = name.substr(0, name.find(" at 0x"));
  for (const std::string_view prefix : {"built-in method ", "built-in function "}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return name.substr(0, name.find(' '));
  }
  return name;
}

class StackTable {
 public:
  explicit StackTable(Rank& rank) : rank_(rank) {
    for (std::uint32_t id = 0; id < rank.strings.size(); ++id) texts_.emplace(rank.strings[id], id);
  }

  // Of a function, by its name in Rank::strings.
  std::uint32_t Of(std::uint32_t caller, std::uint32_t name) {
    const auto [entry, is_new] =
        places_.try_emplace(name, static_cast<std::uint32_t>(rank_.places.size()));
    if (is_new) {
      const std::string text = rank_.strings[name];  // the list may move
      AddPlace(ParsePythonName(text), true);
    }
    return StackOf(caller, entry->second);
  }

  // Of all frames of an operator's stack.
  std::uint32_t Of(std::string_view frames) {
    std::uint32_t stack = kNone;
    while (!frames.empty()) {
      const std::size_t last = frames.rfind(';');
      const std::string_view frame = frames.substr(last == std::string_view::npos ? 0 : last + 1);
      frames = frames.substr(0, last == std::string_view::npos ? 0 : last);
      const auto [entry, is_new] =
          frames_.try_emplace(std::string(frame), static_cast<std::uint32_t>(rank_.places.size()));
      if (is_new) AddPlace(ParsePythonName(frame), false);
      stack = StackOf(stack, entry->second);
    }
    return stack;
  }

 private:
  std::uint32_t StackOf(std::uint32_t caller, std::uint32_t place) {
    const auto [entry, is_new] = stacks_.try_emplace(
        std::uint64_t{caller} << 32 | place, static_cast<std::uint32_t>(rank_.stacks.size()));
    if (is_new) rank_.stacks.push_back({caller, place});
    return entry->second;
  }

  void AddPlace(const PythonName& name, bool is_first_line) {
    const std::uint32_t function = TextOf(name.function), file = TextOf(name.file);
    rank_.places.push_back({function, file, name.line, is_first_line ? name.line : 0});
  }
  std::uint32_t TextOf(std::string_view text) {
    const auto [entry, is_new] =
        texts_.try_emplace(std::string(text), static_cast<std::uint32_t>(rank_.strings.size()));
    if (is_new) rank_.strings.emplace_back(text);
    return entry->second;
  }

  Rank& rank_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // of functions, by name
  std::unordered_map<std::string, std::uint32_t> frames_;    // of operators' stacks
  std::unordered_map<std::uint64_t, std::uint32_t> stacks_;  // by caller and place
};

class StackFinder {
 public:
  StackFinder(const PythonSource& source, Rank& rank)
      : functions_(source.functions),
        rank_(rank),
        stacks_(rank),
        moments_(rank.threads.size()),
        own_stack_(rank.profiled.size(), kNone) {
    if (!functions_.empty()) return;
    std::vector<std::uint32_t> stacks;
    for (const std::string& frames : source.call_stacks) stacks.push_back(stacks_.Of(frames));
    for (const OperatorStack& one : source.operators) own_stack_[one.row] = stacks[one.stack];
  }

  void Find() {
    for (std::uint32_t i = 0; i < functions_.size(); ++i)
      AddRange(Moment::Kind::kFunction, functions_[i].row, i);
    if (!functions_.empty()) AddLooks();
    const ProfiledRanges& ranges = rank_.profiled;
    for (std::uint32_t row = 0; row < ranges.size(); ++row) {
      if (ranges.kind[row] == ProfiledKind::kOperator &&
          (ranges.sequence[row] >= 0 || own_stack_[row] != kNone))
        AddRange(Moment::Kind::kOperator, row, row);
    }
    for (std::uint32_t row = 0; row < rank_.api.size(); ++row) {
      if (KindOfCall(row))
        moments_[rank_.api.thread[row]].push_back(
            {rank_.api.start[row], rank_.api.start[row], Moment::Kind::kCall, row});
    }
    for (std::uint32_t thread = 0; thread < moments_.size(); ++thread) Walk(thread);
    for (const Backward& one : backwards_) AddBackward(one);
    if (!functions_.empty())
      rank_.facts.push_back({"stacks", "period_ns", std::to_string(period_), ""});
  }

 private:
  // What is open on the thread.
  struct OpenFunction {
    TimeNs start = 0, end = 0;
    std::int64_t id = -1;
    std::uint32_t stack = kNone;
  };
  struct OpenBackward {
    TimeNs start = 0, end = 0;
    std::int64_t sequence = -1;
  };
  struct Forward {
    TimeNs start = 0;
    std::uint32_t stack = kNone;
  };
  // A call in a backward operator.
  struct Backward {
    std::uint32_t call = 0;
    OpenBackward around;
  };

  void AddRange(Moment::Kind kind, std::uint32_t row, std::uint32_t of) {
    const ProfiledRanges& ranges = rank_.profiled;
    moments_[ranges.thread[row]].push_back({ranges.start[row], ranges.end[row], kind, of});
  }

  // At moments that follow no rhythm of the program.
  void AddLooks() {
    std::vector<Interval> spans;
    double all = 0;  // of many threads more than fits a time
    for (const std::vector<Moment>& functions : moments_) {
      Interval span{kOpen, -kOpen};
      for (const Moment& one : functions)
        span = {std::min(span.start, one.time), std::max(span.end, one.end)};
      spans.push_back(span);
      if (span.end > span.start) all += static_cast<double>(span.end - span.start);
    }
    period_ = std::max(kLookPeriodNs, static_cast<TimeNs>(all / kMaxLooks));
    for (std::size_t thread = 0; thread < spans.size(); ++thread) {
      double part = 0;
      constexpr double kGolden = 0.6180339887498949;
      for (TimeNs at = spans[thread].start; at < spans[thread].end; at += period_) {
        part += part + kGolden < 1 ? kGolden : kGolden - 1;
        const TimeNs time = at + static_cast<TimeNs>(part * static_cast<double>(period_));
        moments_[thread].push_back({time, time, Moment::Kind::kLook, 0});
      }
    }
  }

  // Empty: the call neither launches nor waits.
  std::optional<StackKind> KindOfCall(std::uint32_t row) const {
    if (rank_.api.correlation[row] == 0) return std::nullopt;
    const ApiName& name = rank_.api_names[rank_.api.name[row]];
    switch (name.api_class) {
      case ApiClass::kSynchronize:
      case ApiClass::kAllocate:
        return StackKind::kCall;
      case ApiClass::kCopy:
        return name.name.find("Async") == std::string::npos ? StackKind::kCall : StackKind::kLaunch;
      case ApiClass::kLaunch:
      case ApiClass::kMemset:
      case ApiClass::kGraphLaunch:
        return StackKind::kLaunch;
      case ApiClass::kEvent:
      case ApiClass::kOther:
        break;
    }
    return std::nullopt;
  }

  void Walk(std::uint32_t thread) {
    std::vector<Moment>& moments = moments_[thread];
    std::sort(moments.begin(), moments.end());
    functions_open_.clear();
    backwards_open_.clear();
    for (const Moment& one : moments) {
      // What began as the other ended is not in it.
      while (!functions_open_.empty() && functions_open_.back().end <= one.time)
        functions_open_.pop_back();
      while (!backwards_open_.empty() && backwards_open_.back().end <= one.time)
        backwards_open_.pop_back();
      Take(one, thread);
    }
    moments = {};
  }

  void Take(const Moment& one, std::uint32_t thread) {
    switch (one.kind) {
      case Moment::Kind::kFunction:
        return Enter(one);
      case Moment::Kind::kOperator:
        return TakeOperator(one);
      case Moment::Kind::kCall:
        return TakeCall(one.row);
      case Moment::Kind::kLook:
        if (Now() != kNone) AddSample(one.time, thread, Now(), StackKind::kTimed, 0);
        return;
    }
  }

  std::uint32_t Now() const {
    return functions_open_.empty() ? kNone : functions_open_.back().stack;
  }

  void Enter(const Moment& one) {
    const PythonCall& function = functions_[one.row];
    const auto is_parent = [&](const OpenFunction& open) { return open.id == function.parent; };
    if (function.parent >= 0 &&
        std::any_of(functions_open_.begin(), functions_open_.end(), is_parent)) {
      while (!is_parent(functions_open_.back())) functions_open_.pop_back();
    }
    const std::uint32_t stack = stacks_.Of(Now(), rank_.profiled.name[function.row]);
    functions_open_.push_back({one.time, one.end, function.id, stack});
  }

  void TakeOperator(const Moment& one) {
    if (own_stack_[one.row] != kNone)
      functions_open_.push_back({one.time, one.end, -1, own_stack_[one.row]});
    const std::int64_t sequence = rank_.profiled.sequence[one.row];
    if (sequence < 0) return;
    if (rank_.profiled.forward_thread[one.row] > 0)
      backwards_open_.push_back({one.time, one.end, sequence});
    else if (Now() != kNone)
      forwards_[sequence].push_back({one.time, Now()});
  }

  void TakeCall(std::uint32_t row) {
    const bool in_backward =
        !backwards_open_.empty() &&
        (functions_open_.empty() || functions_open_.back().start < backwards_open_.back().start);
    if (in_backward) return backwards_.push_back({row, backwards_open_.back()});
    if (Now() != kNone) AddCall(row, Now());
  }

  void AddBackward(const Backward& one) {
    const auto found = forwards_.find(one.around.sequence);
    if (found == forwards_.end()) return;
    const Forward* last = nullptr;
    for (const Forward& forward : found->second) {
      if (forward.start < one.around.start && (last == nullptr || forward.start >= last->start))
        last = &forward;
    }
    if (last != nullptr) AddCall(one.call, last->stack);
  }

  void AddCall(std::uint32_t row, std::uint32_t stack) {
    AddSample(rank_.api.start[row], rank_.api.thread[row], stack, *KindOfCall(row),
              rank_.api.correlation[row]);
  }

  void AddSample(TimeNs time, std::uint32_t thread, std::uint32_t stack, StackKind kind,
                 std::uint64_t correlation) {
    StackSamples& samples = rank_.stack_samples;
    samples.time.push_back(time);
    samples.thread.push_back(thread);
    samples.stack.push_back(stack);
    samples.kind.push_back(kind);
    samples.correlation.push_back(correlation);
    samples.repeats.push_back(0);
    samples.span.push_back(0);
  }

  const std::vector<PythonCall>& functions_;
  Rank& rank_;
  StackTable stacks_;
  std::vector<std::vector<Moment>> moments_;  // by thread
  std::vector<std::uint32_t> own_stack_;      // of operators that tell it, by row of Rank::profiled
  TimeNs period_ = kLookPeriodNs;
  std::vector<OpenFunction> functions_open_;
  std::vector<OpenBackward> backwards_open_;
  std::unordered_map<std::int64_t, std::vector<Forward>> forwards_;  // by sequence number
  std::vector<Backward> backwards_;
};

}  // namespace

PythonName ParsePythonName(std::string_view name) {
  constexpr std::string_view kBehindLine = "): ";
  if (name.starts_with(kModulePrefix)) return {kModule, name.substr(kModulePrefix.size())};
  const std::size_t behind = name.rfind(kBehindLine);
  const std::size_t open = behind == std::string_view::npos ? behind : name.rfind('(', behind);
  if (open == std::string_view::npos) return {kBuiltIn, NameOfBuiltIn(name)};
  PythonName parsed{name.substr(0, open), name.substr(behind + kBehindLine.size())};
  std::from_chars(name.data() + open + 1, name.data() + behind, parsed.line);
  parsed.line = std::max(0, parsed.line);
  return parsed;
}

void AddPythonStacks(const PythonSource& source, Rank& rank) {
  if (!source.functions.empty() || !source.operators.empty()) StackFinder(source, rank).Find();
}

}  // namespace traceinject
