// SPDX-License-Identifier: Apache-2.0
// The environment variables by which CUDA, NVTX and NCCL find an injection library.
//
// Only CUDA's stands in the environment, since how a driver reads it is not known. What asks for
// the others does so with getenv (read in their sources), and is answered in this process alone: a
// child that is started without LD_PRELOAD finds none of them, and NCCL there looks for its plug-in
// and writes its log as if we did not exist. Of CUDA's variable such a child notices nothing: the
// driver loads us there, and we stay out (State::kOutside).
#pragma once

#include <string>

namespace traceinject {

// All that the constructor does: names our own file for CUDA, without overwriting what another tool
// set, decides what is offered to NVTX and NCCL, and notes where threads of ours will run.
// False: this process is not to be recorded.
bool PublishLibrary();

// What the variable `name` is to be for the code at `caller`, where the environment has `set`,
// which may be null; null: nothing else than that.
const char* OfferedVariable(const char* name, const char* set, const void* caller);

// The C library's getenv, or that of a library preloaded after this one.
using GetEnv = char*(const char*);
GetEnv* NextGetEnv();

// The library that CUDA loads instead of us; empty when it is ours or none.
std::string ForeignInjection();

// The profiler plug-in that NCCL in this process loads by itself, and which is left to it; empty:
// there is none, or NCCL did not ask yet.
std::string ForeignNcclPlugin();

}  // namespace traceinject
