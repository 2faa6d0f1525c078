// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/testing/chakra_reader.h"

#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace traceinject {

std::optional<std::int64_t> ReadChakra::Number(const public_chakra::Vertex& node,
                                               const std::string& attribute) {
  for (const public_chakra::Attr& each : node.attr()) {
    if (each.name() != attribute) continue;
    switch (each.value_case()) {
      case public_chakra::Attr::kInt32Val:
        return each.int32_val();
      case public_chakra::Attr::kInt64Val:
        return each.int64_val();
      case public_chakra::Attr::kUint64Val:
        return static_cast<std::int64_t>(each.uint64_val());
      case public_chakra::Attr::kBoolVal:
        return each.bool_val() ? 1 : 0;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string ReadChakra::Text(const public_chakra::Vertex& node, const std::string& attribute) {
  for (const public_chakra::Attr& each : node.attr()) {
    if (each.name() == attribute) return each.string_val();
  }
  return "";
}

const public_chakra::Vertex& ReadChakra::Named(const std::string& name) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(),
                   [&](const public_chakra::Vertex& node) { return node.name() == name; });
  if (found == nodes.end()) throw std::runtime_error("no node " + name);
  return *found;
}

ReadChakra ReadChakraFile(const std::string& path) {
  using google::protobuf::util::ParseDelimitedFromZeroCopyStream;
  ReadChakra read;
  std::ifstream file(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&file);
  bool at_end = false;
  EXPECT_TRUE(ParseDelimitedFromZeroCopyStream(&read.head, &stream, &at_end)) << path;
  while (ParseDelimitedFromZeroCopyStream(&read.nodes.emplace_back(), &stream, &at_end)) {
  }
  read.nodes.pop_back();
  EXPECT_TRUE(at_end) << path;
  return read;
}

}  // namespace traceinject
