// SPDX-License-Identifier: Apache-2.0
// Runs levers.py in the program's interpreter when the program is about to import torch: an audit
// hook (PEP 578), which may be added before Python is initialized, sees each import before it is
// made.
#pragma once

#include <vector>

#include "injector/options/try_list.h"

namespace traceinject {

// Once. Of a program whose Python is not there yet when it starts, or that has none, the levers are
// told as not pulled. What levers.py raises ends here.
void OfferLevers(std::vector<TryWish> wishes);

}  // namespace traceinject
