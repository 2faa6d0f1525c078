// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/printable.h"

#include <vector>

namespace traceinject {
namespace {

void MakeFieldPrintable(google::protobuf::Message& message,
                        const google::protobuf::FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const int count = field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
  for (int i = 0; i < count; ++i) {
    if (field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      MakePrintable(field.is_repeated() ? *reflection.MutableRepeatedMessage(&message, &field, i)
                                        : *reflection.MutableMessage(&message, &field));
    } else if (field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
      if (field.is_repeated()) {
        reflection.SetRepeatedString(&message, &field, i,
                                     Printable(reflection.GetRepeatedString(message, &field, i)));
      } else {
        reflection.SetString(&message, &field, Printable(reflection.GetString(message, &field)));
      }
    }
  }
}

}  // namespace

void MakePrintable(google::protobuf::Message& message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) MakeFieldPrintable(message, *field);
}

}  // namespace traceinject
