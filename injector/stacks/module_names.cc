// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/module_names.h"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

constexpr std::int64_t kNameHoldsNs = 5'000'000'000;
constexpr std::size_t kMaxNames = 100'000;
// Containers that are not called, such as lists of layers, stand between a module and its caller.
constexpr std::size_t kMaxDepth = 4, kMaxModulesRead = 4096;

struct Holder {
  std::uint64_t module;
  std::size_t depth;
  std::string path;
};

}  // namespace

// The dict of a module's own modules; 0: it has none.
std::uint64_t ModuleNames::ModulesOf(const AttributeReader& reader, std::uint64_t module) {
  const std::vector<AttributeReader::Entry> attributes = reader.Attributes(module);
  for (const AttributeReader::Entry& attribute : attributes) {
    if (attribute.key == modules_key_) return attribute.value;
  }
  for (const AttributeReader::Entry& attribute : attributes) {
    if (reader.Text(attribute.key) != "_modules") continue;
    modules_key_ = attribute.key;
    return attribute.value;
  }
  return 0;
}

// Those that the caller has, then those that these have, and so on.
ModuleNames::Name ModuleNames::Read(const AttributeReader& reader, std::uint64_t caller,
                                    std::uint64_t object) {
  std::deque<Holder> holders;
  if (caller != 0) holders.push_back({caller, 1, {}});
  for (std::size_t read = 0; !holders.empty() && read < kMaxModulesRead; holders.pop_front()) {
    const Holder& holder = holders.front();
    for (const AttributeReader::Entry& part : reader.Items(ModulesOf(reader, holder.module))) {
      if (++read > kMaxModulesRead) break;
      if (part.value != object && holder.depth == kMaxDepth) continue;
      std::string path = holder.path + reader.Text(part.key);
      if (part.value == object) return {std::move(path), true};
      holders.push_back({part.value, holder.depth + 1, std::move(path) + "."});
    }
  }
  return {reader.TypeName(reader.Type(object)), false};
}

const ModuleNames::Name& ModuleNames::Of(const AttributeReader& reader, std::uint64_t number,
                                         std::uint64_t caller, std::uint64_t object) {
  const std::int64_t now = NowNs();
  if (names_.size() > kMaxNames) names_.clear();
  Name& name = names_[{number, caller, object}];
  if (name.read_ns == 0 || now - name.read_ns > kNameHoldsNs) {
    name = Read(reader, caller, object);
    name.read_ns = now;
  }
  return name;
}

}  // namespace traceinject
