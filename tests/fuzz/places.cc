// SPDX-License-Identifier: Apache-2.0
// Tells libFuzzer which places of code an input reached, as g++ lets the code tell. libFuzzer knows
// how clang has it counted: a counter for each place, registered ahead. Here a place's counter
// follows from its address; two places that share one look like one. Linked with
// --wrap=__sanitizer_cov_trace_pc, since libFuzzer has a function of that name that does nothing.
#include <array>
#include <cstddef>
#include <cstdint>

extern "C" {
// Of libFuzzer.
void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);
void __sanitizer_cov_pcs_init(const std::uintptr_t* begin, const std::uintptr_t* end);
// What instrumented code calls.
void __wrap___sanitizer_cov_trace_pc();
void __sanitizer_cov_trace_cmpf(float left, float right);
void __sanitizer_cov_trace_cmpd(double left, double right);
}

namespace {

constexpr int kBits = 17;
constexpr std::size_t kCounters = std::size_t{1} << kBits;
std::array<std::uint8_t, kCounters> g_counters;
// An address and flags for each.
std::array<std::uintptr_t, 2 * kCounters> g_places;

[[maybe_unused]] const bool g_registered = [] {
  for (std::size_t i = 0; i < kCounters; ++i) g_places[2 * i] = i + 1;
  __sanitizer_cov_8bit_counters_init(g_counters.data(), g_counters.data() + kCounters);
  __sanitizer_cov_pcs_init(g_places.data(), g_places.data() + g_places.size());
  return true;
}();

}  // namespace

void __wrap___sanitizer_cov_trace_pc() {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& counter =
      g_counters[static_cast<std::uint32_t>(address) * 2654435769u >> (32 - kBits)];
  if (++counter == 0) counter = 255;  // threads may count at once, and lose some
}

// libFuzzer has no use for these.
void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
