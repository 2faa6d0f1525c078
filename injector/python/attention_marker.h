// SPDX-License-Identifier: Apache-2.0
// Makes the calls of scaled_dot_product_attention and marks those that are the rule: plain tensors
// on a GPU, of sizes that hooks.py met before. All others are left to report() there, which takes
// several times as long: in a step that is bound by launches, each line of Python that runs once in
// a while costs several times what it costs in a loop.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// Called from Python with one argument, a tuple (see Tool in the .cc); returns a callable that
// takes what the original takes, and returns or raises what that does.
PyObject* MakeAttentionMarker(const Interpreter& python, PyObject* const* arguments,
                              std::ptrdiff_t count);

}  // namespace traceinject
