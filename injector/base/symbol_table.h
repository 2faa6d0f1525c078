// SPDX-License-Identifier: Apache-2.0
// What a loaded object defines for others, read from its own table: where the dynamic linker's
// functions may be those of somebody else, or may not be called.
#pragma once

#include <link.h>

namespace traceinject {

// In a visit of dl_iterate_phdr: where the object has `name`; null: it does not define it.
void* FindDefined(const dl_phdr_info& object, const char* name);

// Whether one of its parts is at the address.
bool HoldsAddress(const dl_phdr_info& object, const void* address);

}  // namespace traceinject
