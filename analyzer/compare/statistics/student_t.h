// SPDX-License-Identifier: Apache-2.0
// Student's t distribution, for intervals and tests of means.
#pragma once

namespace traceinject {

// The probability of a value further from 0 than |t|. Degrees of freedom need not be whole; > 0.
double TwoSidedP(double t, double degrees);

// The t that values lie beyond on either side with probability p. 0 < p < 1.
double TwoSidedT(double p, double degrees);

}  // namespace traceinject
