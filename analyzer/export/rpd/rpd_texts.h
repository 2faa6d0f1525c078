// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

// A table of texts of a rocmProfileData trace: each text is stored once, the empty one first.
class RpdTexts {
 public:
  static Result<RpdTexts> In(const Database& database, std::string_view table);

  // The id of a text, which is inserted when it is new. A failure is kept for status(). O(1).
  std::int64_t Id(std::string_view text);
  const Status& status() const { return status_; }

 private:
  explicit RpdTexts(Statement insert) : insert_(std::move(insert)) {}

  Statement insert_;
  std::unordered_map<std::string, std::int64_t> ids_;
  Status status_ = Done{};
};

}  // namespace traceinject
