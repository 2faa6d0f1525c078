// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_event.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
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
  while (!token.empty() && (IsJsonSpace(token.back()) || token.back() == ','))
    token.remove_suffix(1);
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

// Old traces write the thread as text, and that of a GPU row as "stream 7".
std::optional<std::int64_t> ThreadNumber(ondemand::value& value) {
  std::string_view token = Token(value);
  constexpr std::string_view kStream = "stream ";
  if (token.starts_with(kStream)) token.remove_prefix(kStream.size());
  return ParseDecimal(token);
}

// Functions that read an argument. False: it is of a wrong type.

template <auto member>
bool ReadInteger(ondemand::value& value, KinetoEvent& event) {
  if (const auto number = Integer(value)) event.*member = number;
  return true;
}

template <auto member>
bool ReadText(ondemand::value& value, KinetoEvent& event) {
  return value.get_string().get(event.*member) == simdjson::SUCCESS;
}

// Anything but a list is passed over.
template <auto member>
bool ReadList(ondemand::value& value, KinetoEvent& event) {
  ondemand::array list;
  if (value.get(list) != simdjson::SUCCESS) return true;
  return list.raw_json().get(event.*member) == simdjson::SUCCESS;
}

template <auto member>
bool ReadExtent(ondemand::value& value, KinetoEvent& event) {
  ondemand::array list;
  if (value.get(list) != simdjson::SUCCESS) return false;
  auto& extent = event.*member;
  std::size_t axis = 0;
  for (auto element : list) {
    ondemand::value number;
    if (std::move(element).get(number) != simdjson::SUCCESS) return false;
    if (axis < extent.size()) extent[axis++] = Narrow32(Integer(number).value_or(0));
  }
  return true;
}

template <auto member>
bool ReadCollectiveInteger(ondemand::value& value, KinetoEvent& event) {
  event.collective.*member = Integer(value);
  return true;
}

// The list of ranks was a list once, and is text now.
template <auto member>
bool ReadCollectiveText(ondemand::value& value, KinetoEvent& event) {
  std::string_view& text = event.collective.*member;
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  if (type == ondemand::json_type::string) return value.get_string().get(text) == simdjson::SUCCESS;
  if (type == ondemand::json_type::array) {
    ondemand::array list;
    return value.get(list) == simdjson::SUCCESS && list.raw_json().get(text) == simdjson::SUCCESS;
  }
  text = Token(value);
  return true;
}

// What is read of "args"; most of what stands there is not.
struct Argument {
  enum class Of : std::uint8_t { kHost, kRest, kAll };  // Heading::IsOfHost

  std::string_view key;
  Of of;
  bool (*read)(ondemand::value& value, KinetoEvent& event);

  bool IsOf(bool host) const { return of == Of::kAll || (of == Of::kHost) == host; }
};
using Of = Argument::Of;
constexpr Argument kArguments[] = {
    {"correlation", Of::kRest, ReadInteger<&KinetoEvent::correlation>},
    {"device", Of::kRest, ReadInteger<&KinetoEvent::device>},
    {"inDevice", Of::kRest, ReadInteger<&KinetoEvent::device>},
    {"context", Of::kRest, ReadInteger<&KinetoEvent::context>},
    {"inContext", Of::kRest, ReadInteger<&KinetoEvent::context>},
    {"stream", Of::kRest, ReadInteger<&KinetoEvent::stream>},
    {"bytes", Of::kRest, ReadInteger<&KinetoEvent::bytes>},
    {"registers per thread", Of::kRest, ReadInteger<&KinetoEvent::registers>},
    {"shared memory", Of::kRest, ReadInteger<&KinetoEvent::shared_bytes>},
    {"fromDevice", Of::kRest, ReadInteger<&KinetoEvent::from_device>},
    {"toDevice", Of::kRest, ReadInteger<&KinetoEvent::to_device>},
    {"graph id", Of::kRest, ReadInteger<&KinetoEvent::graph_id>},
    {"graph node id", Of::kRest, ReadInteger<&KinetoEvent::graph_node_id>},
    {"grid", Of::kRest, ReadExtent<&KinetoEvent::grid>},
    {"block", Of::kRest, ReadExtent<&KinetoEvent::block>},
    {"name", Of::kRest, ReadText<&KinetoEvent::label>},
    {"Sequence number", Of::kHost, ReadInteger<&KinetoEvent::sequence>},
    {"Fwd thread id", Of::kHost, ReadInteger<&KinetoEvent::forward_thread>},
    {"Python id", Of::kHost, ReadInteger<&KinetoEvent::python_id>},
    {"Python parent id", Of::kHost, ReadInteger<&KinetoEvent::python_parent>},
    {"Input Dims", Of::kHost, ReadList<&KinetoEvent::input_shapes>},
    {"Input type", Of::kHost, ReadList<&KinetoEvent::input_types>},
    {"Concrete Inputs", Of::kHost, ReadList<&KinetoEvent::concrete_inputs>},
    {"Call stack", Of::kHost, ReadText<&KinetoEvent::call_stack>},
    {"In msg nelems", Of::kAll, ReadCollectiveInteger<&KinetoCollective::in_elements>},
    {"Out msg nelems", Of::kAll, ReadCollectiveInteger<&KinetoCollective::out_elements>},
    {"Group size", Of::kAll, ReadCollectiveInteger<&KinetoCollective::group_size>},
    {"Src Rank", Of::kAll, ReadCollectiveInteger<&KinetoCollective::source>},
    {"Dst Rank", Of::kAll, ReadCollectiveInteger<&KinetoCollective::destination>},
    {"Rank", Of::kAll, ReadCollectiveInteger<&KinetoCollective::rank>},
    {"Collective name", Of::kAll, ReadCollectiveText<&KinetoCollective::name>},
    {"dtype", Of::kAll, ReadCollectiveText<&KinetoCollective::dtype>},
    {"Process Group Name", Of::kAll, ReadCollectiveText<&KinetoCollective::group_name>},
    {"Process Group Ranks", Of::kAll, ReadCollectiveText<&KinetoCollective::group_ranks>},
};

// Finds the row of a key by one look and one comparison: its length, first and last letter tell it
// from all other rows, and what to multiply them with is found when this is compiled.
class ArgumentIndex {
 public:
  constexpr ArgumentIndex() {
    while (!Fill()) ++factor_;
  }

  const Argument* Find(std::string_view key) const {
    if (key.empty()) return nullptr;
    const std::uint8_t row = rows_[SlotOf(key)];
    return row != kNoRow && kArguments[row].key == key ? &kArguments[row] : nullptr;
  }

 private:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::uint8_t kNoRow = 0xFF;

  constexpr std::size_t SlotOf(std::string_view key) const {
    const auto first = static_cast<unsigned char>(key.front());
    const auto last = static_cast<unsigned char>(key.back());
    return ((key.size() * factor_ + first) * factor_ + last) % kSlots;
  }
  // False: two have one slot.
  constexpr bool Fill() {
    rows_.fill(kNoRow);
    for (std::size_t row = 0; row < std::size(kArguments); ++row) {
      std::uint8_t& slot = rows_[SlotOf(kArguments[row].key)];
      if (slot != kNoRow) return false;
      slot = static_cast<std::uint8_t>(row);
    }
    return true;
  }

  std::size_t factor_ = 1;
  std::array<std::uint8_t, kSlots> rows_{};
};
constexpr ArgumentIndex kArgumentIndex;

bool Arguments(ondemand::value& value, bool of_host, KinetoEvent& event) {
  ondemand::object object;
  if (value.get(object) != simdjson::SUCCESS) return false;
  for (auto each : object) {
    ondemand::field field;
    if (std::move(each).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    const Argument* const argument = kArgumentIndex.Find(key);
    if (argument == nullptr || !argument->IsOf(of_host)) continue;
    if (!argument->read(field.value(), event)) return false;
  }
  return true;
}

// What the fields "ph", "cat" and "name" say together. Whichever comes last decides.
struct Heading {
  char phase = 0;  // 0: not known yet
  std::string_view category;
  std::optional<KinetoKind> kind;  // by the category

  // Whether the event is known to be of no use, so that the rest of it need not be read.
  bool IsUseless() const {
    if (phase != 0 && phase != 'X' && phase != 'M') return true;
    return phase == 'X' && kind == KinetoKind::kSkipped;
  }
  // Known where the category comes before the arguments, as it does.
  bool IsOfHost() const {
    return kind == KinetoKind::kOperator || kind == KinetoKind::kPythonFunction ||
           kind == KinetoKind::kAnnotation;
  }
  KinetoKind Kind(std::string_view name) const {
    if (phase == 'M') {
      if (name == "thread_name") return KinetoKind::kThreadName;
      return name == "process_name" ? KinetoKind::kProcessName : KinetoKind::kSkipped;
    }
    if (phase != 'X' || !kind) return KinetoKind::kSkipped;
    const bool annotates =
        kind == KinetoKind::kOperator && category == "Operator" && IsAnnotationAmongOperators(name);
    return annotates ? KinetoKind::kAnnotation : *kind;
  }
};

// A letter; of other text one that is of no use.
bool ReadPhase(ondemand::value& value, Heading& heading) {
  std::string_view phase;
  if (value.get_string().get(phase) != simdjson::SUCCESS) return false;
  heading.phase = phase.size() == 1 ? phase.front() : phase.empty() ? '\0' : '?';
  return true;
}

bool ReadCategory(ondemand::value& value, Heading& heading) {
  if (value.get_string().get(heading.category) != simdjson::SUCCESS) return false;
  heading.kind = KindOf(heading.category);
  return true;
}

// A short text as a number, so that many can be told apart at once; 0: it is empty or longer.
constexpr std::uint64_t Pack(std::string_view text) {
  if (text.size() > 7) return 0;
  std::uint64_t word = 0;
  for (const char letter : text) word = word << 8 | static_cast<unsigned char>(letter);
  return word << 8 | text.size();
}

// False: the field is of a wrong type.
bool TopField(std::string_view key, ondemand::value& value, Heading& heading, KinetoEvent& event) {
  switch (Pack(key)) {
    case Pack("ph"):
      return ReadPhase(value, heading);
    case Pack("cat"):
      return ReadCategory(value, heading);
    case Pack("name"):
      return value.get_string().get(event.name) == simdjson::SUCCESS;
    case Pack("args"):
      return Arguments(value, heading.IsOfHost(), event);
    case Pack("ts"):
      event.start = Time(value);
      return true;
    case Pack("dur"):
      event.dur = Time(value);
      return true;
    case Pack("pid"):
      event.pid = Integer(value);
      return true;
    case Pack("tid"):
      event.tid = ThreadNumber(value);
      return true;
    default:
      return true;
  }
}

// Of an arrow, an instant or another of no use, as profilers write it, the phase first: nothing
// else of it has to be looked at.
bool BeginsAsUseless(std::string_view text) {
  const auto take = [&text]<std::size_t size>(const char(&expected)[size]) {
    while (!text.empty() && IsJsonSpace(text.front())) text.remove_prefix(1);
    constexpr std::size_t kLength = size - 1;
    const bool there = text.size() >= kLength && std::memcmp(text.data(), expected, kLength) == 0;
    if (there) text.remove_prefix(kLength);
    return there;
  };
  if (!take("{") || !take("\"ph\"") || !take(":") || !take("\"")) return false;
  return text.size() > 1 && text[1] == '"' && text[0] != 'X' && text[0] != 'M';
}

}  // namespace

struct KinetoEventParser::State {
  KinetoKind Fill(std::string_view text, KinetoEvent& event);

  ondemand::parser parser;
};

// What it is; the fields are those up to where that was known.
KinetoKind KinetoEventParser::State::Fill(std::string_view text, KinetoEvent& event) {
  if (BeginsAsUseless(text)) return KinetoKind::kSkipped;
  ondemand::document document;
  if (parser.iterate(text.data(), text.size(), text.size() + JsonPieces::kPadding).get(document) !=
      simdjson::SUCCESS)
    return KinetoKind::kBroken;
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return KinetoKind::kBroken;
  Heading heading;
  for (auto each : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(each).get(field) != simdjson::SUCCESS) return KinetoKind::kBroken;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return KinetoKind::kBroken;
    if (!TopField(key, field.value(), heading, event)) return KinetoKind::kBroken;
    if (heading.IsUseless()) return KinetoKind::kSkipped;
  }
  return heading.Kind(event.name);
}

KinetoEventParser::KinetoEventParser() : state_(std::make_unique<State>()) {}
KinetoEventParser::~KinetoEventParser() = default;

KinetoEvent KinetoEventParser::Parse(std::string_view text) {
  KinetoEvent event;
  event.kind = state_->Fill(text, event);
  return event;
}

}  // namespace traceinject
