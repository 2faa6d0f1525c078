// SPDX-License-Identifier: Apache-2.0
// For tests: reads an execution trace of Chakra by the schema as it is published, apart from ours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "public_chakra.pb.h"

namespace traceinject {

struct ReadChakra {
  public_chakra::Head head;
  std::vector<public_chakra::Vertex> nodes;

  // Of an attribute of any kind of whole number; empty: there is none.
  static std::optional<std::int64_t> Number(const public_chakra::Vertex& node,
                                            const std::string& attribute);
  static std::string Text(const public_chakra::Vertex& node, const std::string& attribute);
  // The first node of that name; a test fails where there is none.
  const public_chakra::Vertex& Named(const std::string& name) const;
};

// A failure of the test where the file does not end behind a message.
ReadChakra ReadChakraFile(const std::string& path);

}  // namespace traceinject
