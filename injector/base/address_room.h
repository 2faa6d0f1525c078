// SPDX-License-Identifier: Apache-2.0
// A limit of the address space (RLIMIT_AS, `ulimit -v`) counts what is mapped, used or not: what
// the recorder takes the program lacks.
#pragma once

#include <cstdint>
#include <limits>

namespace traceinject {

inline constexpr std::int64_t kNoAddressLimit = std::numeric_limits<std::int64_t>::max();

// What the process may still map, in bytes; kNoAddressLimit: as much as it likes, or nobody knows.
std::int64_t AddressRoomBytes();

}  // namespace traceinject
