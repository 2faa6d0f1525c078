// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_event.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/import/source/decimal.h"
#include "analyzer/import/source/json_pieces.h"

namespace traceinject {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(JsonPieces::kPadding >= simdjson::SIMDJSON_PADDING);

struct Category {
  std::string_view name;
  KinetoKind kind;
};

// Both generations of names. Old traces have no category for annotations: they are operators.
constexpr Category kCategories[] = {
    // Most events first.
    {"cpu_op", KinetoKind::kOperator},
    {"python_function", KinetoKind::kPythonFunction},
    {"kernel", KinetoKind::kKernel},
    {"Kernel", KinetoKind::kKernel},
    {"gpu_memcpy", KinetoKind::kMemcpy},
    {"Memcpy", KinetoKind::kMemcpy},
    {"gpu_memset", KinetoKind::kMemset},
    {"Memset", KinetoKind::kMemset},
    {"cuda_runtime", KinetoKind::kApi},
    {"Runtime", KinetoKind::kApi},
    {"cuda_driver", KinetoKind::kApi},
    {"Driver", KinetoKind::kApi},
    {"user_annotation", KinetoKind::kAnnotation},
    {"Operator", KinetoKind::kOperator},
    {"Trace", KinetoKind::kSpan},
};

KinetoKind KindOf(std::string_view category) {
  for (const Category& row : kCategories) {
    if (row.name == category) return row.kind;
  }
  return KinetoKind::kSkipped;
}

bool IsAnnotationAmongOperators(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("enumerate(DataLoader)#") ||
         name.starts_with("Optimizer.");
}

// The text of a number or a word, or of a string without its quotes; empty for lists and objects.
std::string_view Token(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  const std::size_t last = token.find_last_not_of(" \t\r\n,");
  token = last == std::string_view::npos ? std::string_view{} : token.substr(0, last + 1);
  if (token.size() >= 2 && token.front() == '"') {
    token.remove_prefix(1);
    token = token.substr(0, token.find('"'));
  }
  return token;
}

// Whole numbers, with or without quotes, and with or without decimals of 0.
std::optional<std::int64_t> Integer(ondemand::value& value) { return ParseDecimal(Token(value)); }
// Microseconds to nanoseconds.
std::optional<TimeNs> Time(ondemand::value& value) { return ParseDecimal(Token(value), 3); }

std::int32_t Narrow32(std::int64_t value) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

bool Extent(ondemand::value& value, std::array<std::int32_t, 3>& extent) {
  ondemand::array list;
  if (value.get(list) != simdjson::SUCCESS) return false;
  std::size_t axis = 0;
  for (auto element : list) {
    ondemand::value number;
    if (std::move(element).get(number) != simdjson::SUCCESS) return false;
    if (axis < extent.size()) extent[axis++] = Narrow32(Integer(number).value_or(0));
  }
  return true;
}

// Old traces write the thread as text, and that of a GPU row as "stream 7".
std::optional<std::int64_t> ThreadNumber(ondemand::value& value) {
  std::string_view token = Token(value);
  constexpr std::string_view kStream = "stream ";
  if (token.starts_with(kStream)) token.remove_prefix(kStream.size());
  return ParseDecimal(token);
}

struct IntegerField {
  std::string_view key;
  std::optional<std::int64_t> KinetoEvent::*member;
};
constexpr IntegerField kIntegers[] = {
    {"correlation", &KinetoEvent::correlation},
    {"device", &KinetoEvent::device},
    {"inDevice", &KinetoEvent::device},
    {"context", &KinetoEvent::context},
    {"inContext", &KinetoEvent::context},
    {"stream", &KinetoEvent::stream},
    {"bytes", &KinetoEvent::bytes},
    {"registers per thread", &KinetoEvent::registers},
    {"shared memory", &KinetoEvent::shared_bytes},
    {"fromDevice", &KinetoEvent::from_device},
    {"toDevice", &KinetoEvent::to_device},
    {"graph id", &KinetoEvent::graph_id},
    {"graph node id", &KinetoEvent::graph_node_id},
};

// Of operators and Python functions, of which there are most.
constexpr IntegerField kHostIntegers[] = {
    {"Sequence number", &KinetoEvent::sequence},
    {"Fwd thread id", &KinetoEvent::forward_thread},
    {"Python id", &KinetoEvent::python_id},
    {"Python parent id", &KinetoEvent::python_parent},
};

// That the functions for arguments below ask for by name.
constexpr std::string_view kOtherArguments[] = {
    "grid", "block", "name", "Input Dims", "Input type", "Concrete Inputs", "Call stack"};

struct CollectiveNumber {
  std::string_view key;
  std::optional<std::int64_t> KinetoCollective::*member;
};
constexpr CollectiveNumber kCollectiveNumbers[] = {
    {"In msg nelems", &KinetoCollective::in_elements},
    {"Out msg nelems", &KinetoCollective::out_elements},
    {"Group size", &KinetoCollective::group_size},
    {"Src Rank", &KinetoCollective::source},
    {"Dst Rank", &KinetoCollective::destination},
    {"Rank", &KinetoCollective::rank},
};

struct CollectiveText {
  std::string_view key;
  std::string_view KinetoCollective::*member;
};
constexpr CollectiveText kCollectiveTexts[] = {
    {"Collective name", &KinetoCollective::name},
    {"dtype", &KinetoCollective::dtype},
    {"Process Group Name", &KinetoCollective::group_name},
    {"Process Group Ranks", &KinetoCollective::group_ranks},
};

// By their first letters and lengths: most arguments are of no use, and are told apart at once.
class KeyFilter {
 public:
  template <typename... Tables>
  explicit constexpr KeyFilter(const Tables&... tables) {
    (AddAll(tables), ...);
    for (const std::string_view key : kOtherArguments) Add(key);
  }
  bool MayHold(std::string_view key) const {
    return !key.empty() && key.size() < 32 &&
           (lengths_[static_cast<unsigned char>(key.front())] >> key.size() & 1) != 0;
  }

 private:
  template <typename Table>
  constexpr void AddAll(const Table& table) {
    for (const auto& row : table) Add(row.key);
  }
  constexpr void Add(std::string_view key) {
    lengths_[static_cast<unsigned char>(key.front())] |= std::uint32_t{1} << key.size();
  }

  std::array<std::uint32_t, 256> lengths_{};
};
constexpr KeyFilter kArguments(kIntegers, kHostIntegers, kCollectiveNumbers, kCollectiveTexts);

template <typename Table>
auto FindKey(const Table& table, std::string_view key) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto& row) { return row.key == key; });
}

// The list of ranks was a list once, and is text now.
bool CollectiveField(std::string_view key, ondemand::value& value, KinetoCollective& to) {
  if (const auto row = FindKey(kCollectiveNumbers, key); row != std::end(kCollectiveNumbers)) {
    to.*row->member = Integer(value);
    return true;
  }
  const auto row = FindKey(kCollectiveTexts, key);
  if (row == std::end(kCollectiveTexts)) return true;
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  if (type == ondemand::json_type::string)
    return value.get_string().get(to.*row->member) == simdjson::SUCCESS;
  if (type == ondemand::json_type::array) {
    ondemand::array list;
    return value.get(list) == simdjson::SUCCESS &&
           list.raw_json().get(to.*row->member) == simdjson::SUCCESS;
  }
  to.*row->member = Token(value);
  return true;
}

// Anything but a list is passed over.
bool RawList(ondemand::value& value, std::string_view& text) {
  ondemand::array list;
  if (value.get(list) != simdjson::SUCCESS) return true;
  return list.raw_json().get(text) == simdjson::SUCCESS;
}

bool ArgumentField(std::string_view key, ondemand::value& value, KinetoEvent& event) {
  if (const auto row = FindKey(kIntegers, key); row != std::end(kIntegers)) {
    if (const auto number = Integer(value)) event.*row->member = number;
    return true;
  }
  if (key == "grid") return Extent(value, event.grid);
  if (key == "block") return Extent(value, event.block);
  if (key == "name") return value.get_string().get(event.label) == simdjson::SUCCESS;
  return CollectiveField(key, value, event.collective);
}

bool HostArgumentField(std::string_view key, ondemand::value& value, KinetoEvent& event) {
  if (key == "Input Dims") return RawList(value, event.input_shapes);
  if (key == "Input type") return RawList(value, event.input_types);
  if (key == "Concrete Inputs") return RawList(value, event.concrete_inputs);
  if (key == "Call stack") return value.get_string().get(event.call_stack) == simdjson::SUCCESS;
  if (const auto row = FindKey(kHostIntegers, key); row != std::end(kHostIntegers)) {
    event.*row->member = Integer(value);
    return true;
  }
  return CollectiveField(key, value, event.collective);
}

bool Arguments(ondemand::value& value, bool of_host, KinetoEvent& event) {
  ondemand::object object;
  if (value.get(object) != simdjson::SUCCESS) return false;
  for (auto each : object) {
    ondemand::field field;
    if (std::move(each).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (!kArguments.MayHold(key)) continue;
    const bool fits = of_host ? HostArgumentField(key, field.value(), event)
                              : ArgumentField(key, field.value(), event);
    if (!fits) return false;
  }
  return true;
}

// What the fields "ph", "cat" and "name" say together. Whichever comes last decides.
struct Heading {
  std::string_view phase, category;
  std::optional<KinetoKind> kind;  // by the category

  // Whether the event is known to be of no use, so that the rest of it need not be read.
  bool IsUseless() const {
    if (!phase.empty() && phase != "X" && phase != "M") return true;
    return phase == "X" && kind == KinetoKind::kSkipped;
  }
  // Known where the category comes before the arguments, as it does.
  bool IsOfHost() const {
    return kind == KinetoKind::kOperator || kind == KinetoKind::kPythonFunction ||
           kind == KinetoKind::kAnnotation;
  }
  KinetoKind Kind(std::string_view name) const {
    if (phase == "M") {
      if (name == "thread_name") return KinetoKind::kThreadName;
      return name == "process_name" ? KinetoKind::kProcessName : KinetoKind::kSkipped;
    }
    if (phase != "X" || !kind) return KinetoKind::kSkipped;
    const bool annotates =
        kind == KinetoKind::kOperator && category == "Operator" && IsAnnotationAmongOperators(name);
    return annotates ? KinetoKind::kAnnotation : *kind;
  }
};

// False: the field is of a wrong type.
bool TopField(std::string_view key, ondemand::value& value, Heading& heading, KinetoEvent& event) {
  if (key == "ph") return value.get_string().get(heading.phase) == simdjson::SUCCESS;
  if (key == "cat") {
    if (value.get_string().get(heading.category) != simdjson::SUCCESS) return false;
    heading.kind = KindOf(heading.category);
    return true;
  }
  if (key == "name") return value.get_string().get(event.name) == simdjson::SUCCESS;
  if (key == "ts") event.start = Time(value);
  if (key == "dur") event.dur = Time(value);
  if (key == "pid") event.pid = Integer(value);
  if (key == "tid") event.tid = ThreadNumber(value);
  return key != "args" || Arguments(value, heading.IsOfHost(), event);
}

// Of an arrow, an instant or another of no use, as profilers write it, the phase first: nothing
// else of it has to be looked at.
bool BeginsAsUseless(std::string_view text) {
  const auto take = [&text](std::string_view expected) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
    const bool there = text.starts_with(expected);
    if (there) text.remove_prefix(expected.size());
    return there;
  };
  if (!take("{") || !take("\"ph\"") || !take(":") || !take("\"")) return false;
  return text.size() > 1 && text[1] == '"' && text[0] != 'X' && text[0] != 'M';
}

}  // namespace

struct KinetoEventParser::State {
  ondemand::parser parser;
};

KinetoEventParser::KinetoEventParser() : state_(std::make_unique<State>()) {}
KinetoEventParser::~KinetoEventParser() = default;

KinetoEvent KinetoEventParser::Parse(std::string_view text) {
  if (BeginsAsUseless(text)) return {};
  KinetoEvent event;
  KinetoEvent broken;
  broken.kind = KinetoKind::kBroken;
  ondemand::document document;
  if (state_->parser.iterate(text.data(), text.size(), text.size() + JsonPieces::kPadding)
          .get(document) != simdjson::SUCCESS)
    return broken;
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return broken;
  Heading heading;
  for (auto each : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(each).get(field) != simdjson::SUCCESS) return broken;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return broken;
    if (!TopField(key, field.value(), heading, event)) return broken;
    if (heading.IsUseless()) return KinetoEvent();
  }
  event.kind = heading.Kind(event.name);
  return event;
}

}  // namespace traceinject
