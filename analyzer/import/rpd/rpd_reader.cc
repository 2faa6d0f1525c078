// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/rpd/rpd_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace traceinject {
namespace {

std::int64_t StrideFrom(std::string_view text) {
  std::int64_t stride = 0;
  std::from_chars(text.data(), text.data() + text.size(), stride);
  return std::max<std::int64_t>(stride, 0);
}

}  // namespace

Status RpdReader::ReadBasics() {
  Status status = ReadStringTable("rocpd_string", "string", strings_);
  if (status.ok()) status = ReadStringTable("rocpd_ustring", "string", texts_);
  if (status.ok()) status = ReadStrides();
  if (status.ok()) status = ReadBase();
  return status;
}

Status RpdReader::ReadStrides() {
  return rows().ForEachRowOf("rocpd_metadata", {"tag", "value"}, {"tag", "value"},
                             [&](const SqlRow& row) {
                               if (row.text(0) == "pid_stride")
                                 pid_stride_ = StrideFrom(row.text(1));
                               if (row.text(0) == "gpu_stride")
                                 gpu_stride_ = StrideFrom(row.text(1));
                             });
}

Status RpdReader::ReadBase() {
  constexpr std::array<std::string_view, 2> kTables = {"rocpd_api", "rocpd_op"};
  bool found = false;
  for (const std::string_view table : kTables) {
    const Status stored = rows().ExpectStored(table);
    if (!stored.ok()) return stored;
    const Status there = rows().tables().Expect(rows().database().path(), table, {"start"});
    if (!there.ok()) return there;
    auto first = rows().database().Prepare(
        fmt::format("SELECT min(start) FROM {} WHERE typeof(start) = 'integer'", table));
    if (!first.ok()) return Error{first.error()};
    const auto row = first.value().Step();
    if (!row.ok()) return Error{row.error()};
    if (first.value().is_null(0)) continue;
    const std::int64_t start = std::max<std::int64_t>(first.value().int64(0), 0);
    base_ = found ? std::min(base_, start) : start;
    found = true;
  }
  return Done{};
}

void RpdReader::AddCall(const RpdCall& call) {
  call_ids_.Add(call.id, static_cast<std::uint32_t>(calls_.size()));
  calls_.push_back(call);
}

const RpdCall* RpdReader::FindCall(std::int64_t id) const {
  const std::uint32_t found = call_ids_.Find(id);
  return found == kNone ? nullptr : &calls_[found];
}

}  // namespace traceinject
