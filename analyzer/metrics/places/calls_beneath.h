// SPDX-License-Identifier: Apache-2.0
// What a line does that nearly all of the program's time is at, such as trainer.train(): the calls
// in the libraries beneath it.
#pragma once

#include <string>

#include "analyzer/metrics/places/place_tally.h"
#include "analyzer/model/run.h"

namespace traceinject {

// "train.py:60 in main -> transformers/trainer.py:2450 in _inner_training_loop ->
// accelerate/data_loader.py:566 in __iter__": from the line along the calls that most of its time
// is in, those that have others beside them: the first of these, and the deepest. Empty: no line of
// the program has nearly all of the time, or what it calls is all one. O(stacks * depth).
std::string CallsBeneath(const Rank& rank, const TimeByPlace& time);

}  // namespace traceinject
