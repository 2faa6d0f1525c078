// SPDX-License-Identifier: Apache-2.0
// How the program takes memory from the system.
#pragma once

namespace traceinject {

// Passes over a long recording each allocate columns of its length and free them. The C library
// would give these back to the system each time, and the next pass would touch new pages of 4 KB
// one by one: 670,000 page faults for a report on 10 million kernels. Here freed memory is kept,
// and pages are of 2 MB where the system has these for who asks, as most distributions set it.
// Memory in use does not grow by it. Call it before the first thread; what the system refuses is
// left as it is.
void SetUpHeap();

}  // namespace traceinject
