// SPDX-License-Identifier: Apache-2.0
// Where dlopen would find a library, without loading it.
#pragma once

#include <limits.h>

#include <cstddef>

namespace traceinject {

// Looks for `name`, which has no folder, as dlopen does for the object that has the code at
// `caller`: among what is loaded, in its run path, LD_LIBRARY_PATH, the loader's cache and the
// default folders. `path`, of PATH_MAX bytes, gets where it is, of one in the cache just the name.
bool FindInstalledLibrary(const char* name, const void* caller, char* path);

// Whether an object of the process but that with the code at `own`, and the program itself, defines
// ncclProfiler_v1 to _v7: a profiler that NCCL takes from its net plug-in if it finds no other.
// `path` gets that object's.
bool FindLoadedNcclProfiler(const void* own, char* path);

// Whether the file, of a library that is not loaded yet, has the name of such a symbol in it.
bool HasNcclProfiler(const char* path);

// Whether the text of /etc/ld.so.cache names the library; `name` as above. For tests.
bool IsInLoaderCache(const char* cache, std::size_t bytes, const char* name);

}  // namespace traceinject
