// SPDX-License-Identifier: Apache-2.0
#include "injector/tries/processors.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "injector/tries/tried.h"

namespace traceinject {
namespace {

// The number that the text begins with, which it loses.
std::optional<int> TakeNumber(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= CPU_SETSIZE) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool TakeCharacter(std::string_view& text, char character) {
  const bool is_next = !text.empty() && text.front() == character;
  if (is_next) text.remove_prefix(1);
  return is_next;
}

int LocalRank() {
  const char* const text = getenv("LOCAL_RANK");
  return text == nullptr ? 0 : std::max(0, atoi(text));
}

}  // namespace

std::optional<cpu_set_t> ParseProcessors(std::string_view list) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  do {
    const std::optional<int> first = TakeNumber(list);
    const std::optional<int> last = TakeCharacter(list, '-') ? TakeNumber(list) : first;
    if (!first || !last || *last < *first) return std::nullopt;
    for (int processor = *first; processor <= *last; ++processor)
      CPU_SET(static_cast<std::size_t>(processor), &processors);
  } while (TakeCharacter(list, ','));
  return list.empty() ? std::optional(processors) : std::nullopt;
}

std::string_view ListOfRank(std::string_view lists, int local_rank) {
  const auto count = std::count(lists.begin(), lists.end(), '/') + 1;
  for (std::ptrdiff_t left = local_rank % count; left > 0; --left)
    lists.remove_prefix(lists.find('/') + 1);
  return lists.substr(0, lists.find('/'));
}

void BindToProcessors(const TryWish& wish) {
  const std::string list(ListOfRank(wish.value, LocalRank()));
  const std::optional<cpu_set_t> processors = ParseProcessors(list);
  if (!processors) return TellTried(wish.lever, 0, list + ": expected a list such as 0-7,16");
  if (sched_setaffinity(0, sizeof *processors, &*processors) != 0)
    return TellTried(wish.lever, 0, list + ": " + strerror(errno));
  TellTried(wish.lever, 1, "the process runs on processors " + list);
}

}  // namespace traceinject
