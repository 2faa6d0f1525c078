// SPDX-License-Identifier: Apache-2.0
// Marks the calls of scaled_dot_product_attention that are the rule: plain tensors on a GPU, of
// sizes that hooks.py met before. It does what report() there does for all others, at a fraction of
// the cost: in a step that is bound by launches, each line of Python that runs once in a while
// costs several times what it costs in a loop.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// Called from Python with one argument, a tuple (see Tools in the .cc); returns a callable
//   mark(start_ns, result, args, kwargs) -> bool
// which is false, and has done nothing, where the call is not of this kind.
PyObject* MakeAttentionMarker(const Interpreter& python, PyObject* const* arguments,
                              std::ptrdiff_t count);

}  // namespace traceinject
