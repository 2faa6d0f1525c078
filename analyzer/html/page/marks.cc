// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/page/marks.h"

namespace traceinject {

std::string MarkOf(std::string_view part) {
  std::string mark;
  for (const char letter : part) {
    if (letter >= 'a' && letter <= 'z')
      mark += letter;
    else if (!mark.empty() && mark.back() != '-')
      mark += '-';
  }
  return mark;
}

bool IsSeen(double part, double whole) {
  constexpr double kMinShare = 0.005;
  return part > 0 && part >= kMinShare * whole;
}

}  // namespace traceinject
