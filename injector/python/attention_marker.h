// SPDX-License-Identifier: Apache-2.0
// Marks the calls of scaled_dot_product_attention, a function of C (call_slot.h says how they are
// seen). Those that are the rule are marked here: plain tensors on a GPU, of sizes that hooks.py
// met before. All others are left to report() there, which takes several times as long: in a step
// that is bound by launches, each line of Python that runs once in a while costs several times what
// it costs in a loop.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// Called from Python with the builtin and a tuple (see Tool in the .cc). Returns whether its calls
// are marked from now on, or were already.
PyObject* WatchAttention(const Interpreter& python, PyObject* const* arguments,
                         std::ptrdiff_t count);

}  // namespace traceinject
