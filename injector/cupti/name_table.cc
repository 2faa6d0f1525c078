// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/name_table.h"

#include <cstring>

namespace traceinject {

const char* NameTable::Intern(const char* name) {
  if (name == nullptr) name = "";
  std::lock_guard lock(mutex_);
  // The address is only a hint: after a module was unloaded it may hold another name.
  auto [hint, fresh] = by_address_.try_emplace(name, nullptr);
  if (!fresh && std::strcmp(hint->second, name) == 0) return hint->second;
  auto known = names_.find(name);
  if (known == names_.end()) known = names_.insert(strdup(name)).first;
  hint->second = known->data();
  return hint->second;
}

}  // namespace traceinject
