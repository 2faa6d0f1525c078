// SPDX-License-Identifier: Apache-2.0
// Libraries that the program already loaded. We link none of CUDA's libraries: a symbol is looked
// up in the very object that the program uses. RTLD_NEXT does not do for that: it finds nothing in
// libraries that were opened with RTLD_LOCAL, as PyTorch does.
#pragma once

#include <string>

namespace traceinject {

// Path of a loaded object whose file name begins with `prefix` ("libcupti.so"); empty when there is
// none.
std::string FindLoaded(const char* prefix);

// dlopen handle of an object that is loaded already; null otherwise. Never loads anything.
void* OpenLoaded(const char* prefix);

}  // namespace traceinject
