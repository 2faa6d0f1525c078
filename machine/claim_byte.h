// SPDX-License-Identifier: Apache-2.0
// How a recording shows that its writer lives.
#pragma once

#include <sys/types.h>

namespace traceinject {

// The byte that a claim locks (injector/store/claim.h). SQLite locks 512 bytes from 0x40000000 on
// (os.h in its source), but ends its locks by unlocking the whole file: the guarded fcntl
// (injector/store/guarded_io.h) spares what begins here. A lock may lie beyond the end of a file.
inline constexpr off_t kClaimByte = 0x4000000000000000;

}  // namespace traceinject
