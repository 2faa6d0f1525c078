// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace traceinject {

// A column that its copies share until one of them writes: sequences of the same elements that are
// told apart in several ways need what does not differ but once. Not for several threads.
// Values: std::vector or PackedColumn.
template <typename Values>
class SharedColumn {
 public:
  // For writing: a copy of its own where it is shared. O(n) then, else O(1).
  Values& Own() {
    if (values_.use_count() > 1) values_ = std::make_shared<Values>(*values_);
    return *values_;
  }

  const Values& values() const { return *values_; }
  std::size_t size() const { return values_->size(); }
  decltype(auto) operator[](std::size_t index) const { return std::as_const(*values_)[index]; }
  decltype(auto) front() const { return std::as_const(*values_).front(); }
  decltype(auto) back() const { return std::as_const(*values_).back(); }
  auto begin() const { return values_->cbegin(); }
  auto end() const { return values_->cend(); }
  bool operator==(const Values& values) const { return *values_ == values; }

 private:
  std::shared_ptr<Values> values_ = std::make_shared<Values>();
};

}  // namespace traceinject
