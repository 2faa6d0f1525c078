// SPDX-License-Identifier: Apache-2.0
// What modules of PyTorch are called in the modules that call them: "transformer.h.3", as
// named_modules() tells. From the `_modules` of the caller, in memory, without a look by Python.
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "injector/rows/dictionary.h"
#include "injector/stacks/attribute_reader.h"

namespace traceinject {

class ModuleNames {
 public:
  struct Name {
    std::string text;      // empty: it cannot be read
    bool is_part = false;  // of the caller; else the text is its class
    std::int64_t read_ns = 0;
  };

  // Of the module at `object`, called by the one at `caller` (0: by none), both of the process
  // `number`. The reference holds until the next call. Names are looked up again after some
  // seconds: addresses are used again. O(modules between and beside the two) then.
  const Name& Of(const AttributeReader& reader, std::uint64_t number, std::uint64_t caller,
                 std::uint64_t object);

 private:
  Name Read(const AttributeReader& reader, std::uint64_t caller, std::uint64_t object);
  std::uint64_t ModulesOf(const AttributeReader& reader, std::uint64_t module);

  std::unordered_map<IntegerKey<3>, Name, BytesHash<IntegerKey<3>>> names_;
  std::uint64_t modules_key_ = 0;  // the str "_modules" where it was last
};

}  // namespace traceinject
