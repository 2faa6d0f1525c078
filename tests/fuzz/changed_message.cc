// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/changed_message.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace traceinject {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::int64_t SomeInteger(InputBytes& input) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kIntegers[] = {
      0,      1, -1, -2, 2, kLeast, -(kLeast + 1), std::int64_t{1} << 61, std::int64_t{1} << 31,
      1 << 20};
  const std::size_t choice = input.Below(std::size(kIntegers) + 2);
  if (choice < std::size(kIntegers)) return kIntegers[choice];
  const int bytes = choice == std::size(kIntegers) ? 2 : 6;
  return static_cast<std::int64_t>(input.Number(bytes));
}

double SomeNumber(InputBytes& input) {
  static constexpr double kNumbers[] = {0,
                                        1,
                                        -1,
                                        0.5,
                                        -0.5,
                                        1e300,
                                        std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
  return kNumbers[input.Below(std::size(kNumbers))];
}

// `Put`: called with the value as the field's type has it.
template <typename Put>
void PutSome(InputBytes& input, const FieldDescriptor* field, const Put& put) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(static_cast<std::int32_t>(SomeInteger(input)));
    case FieldDescriptor::CPPTYPE_INT64:
      return put(SomeInteger(input));
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(static_cast<std::uint32_t>(SomeInteger(input)));
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(static_cast<std::uint64_t>(SomeInteger(input)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put(SomeNumber(input));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put(static_cast<float>(SomeNumber(input)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return put(input.Byte() % 2 == 0);
    case FieldDescriptor::CPPTYPE_STRING:
      return put(std::string(input.Take(input.Byte() % 32)));
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return;
  }
}

struct SetField {
  Message* message;
  const FieldDescriptor* field;

  const Reflection& how() const { return *message->GetReflection(); }
  void operator()(std::int32_t value) const { how().SetInt32(message, field, value); }
  void operator()(std::int64_t value) const { how().SetInt64(message, field, value); }
  void operator()(std::uint32_t value) const { how().SetUInt32(message, field, value); }
  void operator()(std::uint64_t value) const { how().SetUInt64(message, field, value); }
  void operator()(double value) const { how().SetDouble(message, field, value); }
  void operator()(float value) const { how().SetFloat(message, field, value); }
  void operator()(bool value) const { how().SetBool(message, field, value); }
  void operator()(const std::string& value) const { how().SetString(message, field, value); }
};

struct SetEntry {
  Message* message;
  const FieldDescriptor* field;
  int at;

  const Reflection& how() const { return *message->GetReflection(); }
  void operator()(std::int32_t value) const { how().SetRepeatedInt32(message, field, at, value); }
  void operator()(std::int64_t value) const { how().SetRepeatedInt64(message, field, at, value); }
  void operator()(std::uint32_t value) const { how().SetRepeatedUInt32(message, field, at, value); }
  void operator()(std::uint64_t value) const { how().SetRepeatedUInt64(message, field, at, value); }
  void operator()(double value) const { how().SetRepeatedDouble(message, field, at, value); }
  void operator()(float value) const { how().SetRepeatedFloat(message, field, at, value); }
  void operator()(bool value) const { how().SetRepeatedBool(message, field, at, value); }
  void operator()(const std::string& value) const {
    how().SetRepeatedString(message, field, at, value);
  }
};

struct AddEntry {
  Message* message;
  const FieldDescriptor* field;

  const Reflection& how() const { return *message->GetReflection(); }
  void operator()(std::int32_t value) const { how().AddInt32(message, field, value); }
  void operator()(std::int64_t value) const { how().AddInt64(message, field, value); }
  void operator()(std::uint32_t value) const { how().AddUInt32(message, field, value); }
  void operator()(std::uint64_t value) const { how().AddUInt64(message, field, value); }
  void operator()(double value) const { how().AddDouble(message, field, value); }
  void operator()(float value) const { how().AddFloat(message, field, value); }
  void operator()(bool value) const { how().AddBool(message, field, value); }
  void operator()(const std::string& value) const { how().AddString(message, field, value); }
};

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

void ChangeRepeated(InputBytes& input, Message* message, const FieldDescriptor* field) {
  const Reflection& how = *message->GetReflection();
  const int size = how.FieldSize(*message, field);
  const std::uint8_t choice = input.Byte() % 8;
  if (choice == 0 && size > 0) return how.RemoveLast(message, field);
  if (choice == 1 && !IsMessage(field)) return PutSome(input, field, AddEntry{message, field});
  if (size == 0) return;
  const auto at = static_cast<int>(input.Below(static_cast<std::size_t>(size)));
  if (choice == 2) return how.SwapElements(message, field, at, size - 1);
  if (!IsMessage(field)) return PutSome(input, field, SetEntry{message, field, at});
  if (choice != 1) return ChangeField(input, how.MutableRepeatedMessage(message, field, at));
  Message* const added = how.AddMessage(message, field);
  added->CopyFrom(how.GetRepeatedMessage(*message, field, at));
}

}  // namespace

void ChangeField(InputBytes& input, Message* message) {
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  const Reflection& how = *message->GetReflection();
  const std::uint8_t choice = input.Byte();
  std::vector<const FieldDescriptor*> fields;
  how.ListFields(*message, &fields);
  if (choice % 4 == 3 || fields.empty()) {  // one that is not there, too
    fields.clear();
    for (int i = 0; i < type.field_count(); ++i) fields.push_back(type.field(i));
  }
  if (fields.empty()) return;
  const FieldDescriptor* const field = fields[input.Below(fields.size())];
  if (choice >= 240) return how.ClearField(message, field);
  if (field->is_repeated()) return ChangeRepeated(input, message, field);
  if (IsMessage(field)) return ChangeField(input, how.MutableMessage(message, field));
  PutSome(input, field, SetField{message, field});
}

}  // namespace traceinject
