// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/import/source/column_ranges.h"

namespace traceinject {
namespace {

struct Word {
  std::string_view text;
  std::uint8_t value;
};
// As Kineto writes CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
constexpr Word kCopyKinds[] = {{"HtoD", 1}, {"DtoH", 2}, {"HtoA", 3}, {"AtoH", 4}, {"AtoA", 5},
                               {"AtoD", 6}, {"DtoA", 7}, {"DtoD", 8}, {"HtoH", 9}, {"PtoP", 10}};
constexpr Word kMemoryKinds[] = {{"Pageable", 1},      {"Pinned", 2},  {"Device", 3},
                                 {"Array", 4},         {"Managed", 5}, {"Device Static", 6},
                                 {"Managed Static", 7}};

template <typename Table>
std::uint8_t ValueOf(const Table& table, std::string_view text) {
  for (const Word& word : table) {
    if (word.text == text) return word.value;
  }
  return 0;
}

template <typename Table>
std::string_view TextOf(const Table& table, std::uint8_t value) {
  for (const Word& word : table) {
    if (word.value == value) return word.text;
  }
  return "Unknown";
}

// "Memcpy HtoD (Pageable -> Device)": kind and kinds of memory.
void DescribeCopy(std::string_view name, Transfer& transfer) {
  constexpr std::string_view kHead = "Memcpy ", kArrow = " -> ";
  if (!name.starts_with(kHead)) return;
  name.remove_prefix(kHead.size());
  const std::size_t open = name.find(" (");
  transfer.kind = ValueOf(kCopyKinds, name.substr(0, open));
  if (open == std::string_view::npos) return;
  name = name.substr(open + 2);
  const std::size_t arrow = name.find(kArrow), close = name.find(')');
  if (arrow == std::string_view::npos || close == std::string_view::npos || close < arrow) return;
  transfer.src_kind = ValueOf(kMemoryKinds, name.substr(0, arrow));
  const std::size_t to = arrow + kArrow.size();
  transfer.dst_kind = ValueOf(kMemoryKinds, name.substr(to, close - to));
}

int OrdinalOr(const std::optional<std::int64_t>& value, int otherwise) {
  return value && *value >= 0 && *value <= kHighestDevice ? static_cast<int>(*value) : otherwise;
}

}  // namespace

std::string KinetoCopyName(const Transfer& transfer) {
  return fmt::format("Memcpy {} ({} -> {})", TextOf(kCopyKinds, transfer.kind),
                     TextOf(kMemoryKinds, transfer.src_kind),
                     TextOf(kMemoryKinds, transfer.dst_kind));
}

Transfer TransferOf(const KinetoEvent& event) {
  Transfer transfer;
  transfer.bytes = MovedBytes(event.bytes.value_or(0));
  if (event.kind != KinetoKind::kMemcpy) return transfer;
  DescribeCopy(event.name, transfer);
  transfer.src_device = OrdinalOr(event.from_device, -1);
  transfer.dst_device = OrdinalOr(event.to_device, -1);
  return transfer;
}

}  // namespace traceinject
