// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/rpd/rpd_texts.h"

#include <fmt/format.h>

namespace traceinject {

Result<RpdTexts> RpdTexts::In(const Database& database, std::string_view table) {
  auto insert = database.Prepare(fmt::format("INSERT INTO {} VALUES (?, ?)", table));
  if (!insert.ok()) return Error{insert.error()};
  RpdTexts texts(std::move(insert).value());
  texts.Id("");
  return texts;
}

std::int64_t RpdTexts::Id(std::string_view text) {
  const auto next = static_cast<std::int64_t>(ids_.size()) + 1;
  const auto [entry, is_new] = ids_.try_emplace(std::string(text), next);
  if (!is_new) return entry->second;
  insert_.Bind(1, next);
  insert_.Bind(2, text);
  const auto inserted = insert_.Step();
  insert_.Reset();
  if (!inserted.ok() && status_.ok()) status_ = Error{inserted.error()};
  return next;
}

}  // namespace traceinject
