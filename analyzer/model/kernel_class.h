// SPDX-License-Identifier: Apache-2.0
// What a kernel does, told from its name. Rules and their origin: kernel_class.cc. Unknown names
// are kOther, never guessed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

// Class of a demangled kernel name. O(length of the name x rules), a few microseconds to some tens:
// classify each distinct name once. Never kMemcpy or kMemset for a real kernel name unless the name
// says so.
KernelClass ClassifyKernel(std::string_view demangled_name);

// The name without return type decoration, template arguments and parameters, as the rules see it
// first: "void at::native::(anonymous namespace)::f<int>(float*)" -> "void at::native::f".
std::string StripKernelName(std::string_view demangled_name);

// For reports and files: "comm", "attn_fwd", ... Stable, never translated.
std::string_view KernelClassName(KernelClass kernel_class);
// For people: "communication", "attention forward", ...
std::string_view KernelClassTitle(KernelClass kernel_class);
// Inverse of KernelClassName; empty for an unknown word.
std::optional<KernelClass> KernelClassFromName(std::string_view name);
// All classes, in the order of the enumeration.
std::span<const KernelClass> AllKernelClasses();

}  // namespace traceinject
