// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace traceinject {

// A column that its copies share until one of them writes: sequences of the same elements that are
// told apart in several ways need what does not differ but once. Not for several threads.
template <typename T>
class SharedColumn {
 public:
  using Values = std::vector<T>;

  // For writing: a copy of its own where it is shared. O(n) then, else O(1).
  Values& Own() {
    if (values_.use_count() > 1) values_ = std::make_shared<Values>(*values_);
    return *values_;
  }

  std::size_t size() const { return values_->size(); }
  const T& operator[](std::size_t index) const { return (*values_)[index]; }
  const T& front() const { return values_->front(); }
  const T& back() const { return values_->back(); }
  typename Values::const_iterator begin() const { return values_->begin(); }
  typename Values::const_iterator end() const { return values_->end(); }
  bool operator==(const Values& values) const { return *values_ == values; }

 private:
  std::shared_ptr<Values> values_ = std::make_shared<Values>();
};

}  // namespace traceinject
