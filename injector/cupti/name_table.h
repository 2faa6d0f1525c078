// SPDX-License-Identifier: Apache-2.0
// Stable copies of the kernel names in activity records. CUPTI owns the names and may free them
// once the buffer-completed callback has returned, so they are copied there, by content; the copy's
// address then identifies the name.
#pragma once

#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace traceinject {

class NameTable {
 public:
  // An equal string that lives as long as the process. Equal contents give equal pointers.
  // Amortised O(length); cheap when the same pointer with the same contents comes again. Throws
  // std::bad_alloc.
  const char* Intern(const char* name);

 private:
  std::mutex mutex_;
  std::unordered_map<const char*, const char*> by_address_;
  std::unordered_set<std::string_view> names_;  // views of copies that are never freed
};

}  // namespace traceinject
