// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/name_table.h"

#include <cstring>
#include <new>

namespace traceinject {

const char* NameTable::Intern(const char* name) {
  if (name == nullptr) name = "";
  std::lock_guard lock(mutex_);
  // The address is only a hint: after a module was unloaded it may hold another name.
  if (auto hint = by_address_.find(name);
      hint != by_address_.end() && std::strcmp(hint->second, name) == 0)
    return hint->second;
  auto known = names_.find(name);
  if (known == names_.end()) {
    char* copy = strdup(name);
    if (copy == nullptr) throw std::bad_alloc();
    known = names_.insert(copy).first;
  }
  by_address_.insert_or_assign(name, known->data());
  return known->data();
}

}  // namespace traceinject
