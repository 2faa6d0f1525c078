// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace traceinject {

std::string Demangle(std::string_view name) {
  std::string plain(name);
  // The demangler recurses: a name of many thousand letters is no kernel's and might exhaust the
  // stack.
  constexpr std::size_t kLongestName = 16 * 1024;
  if (!name.starts_with("_Z") || name.size() > kLongestName) return plain;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : plain;
}

}  // namespace traceinject
