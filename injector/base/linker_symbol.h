// SPDX-License-Identifier: Apache-2.0
// The C library's dlsym(): others that are preloaded put theirs in its place, which answers as is
// good for programs.
#pragma once

namespace traceinject {

// As dlsym() for a call from this library, which is what RTLD_NEXT is relative to. Does not
// allocate where the symbol is found: allocators call what we wrap when they are first used.
void* FindSymbol(void* handle, const char* name);

}  // namespace traceinject
