// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/formats/json.h"

#include <google/protobuf/util/json_util.h>

namespace traceinject {

Result<std::string> WriteJson(const google::protobuf::Message& report) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(report, &text, options);
  if (!status.ok()) {
    return Error{"cannot write the report as JSON: " + status.ToString() +
                 "; --format pb keeps the text as recorded"};
  }
  return text;
}

}  // namespace traceinject
