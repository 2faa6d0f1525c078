// SPDX-License-Identifier: Apache-2.0
// Expected failures are values: Result<T> holds a T or a sentence that names the file, what was
// expected and what to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace traceinject {

struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  // Deleted so that `if (result)` cannot be misread when T is itself convertible to bool.
  operator bool() const = delete;

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const std::string& error() const { return std::get<1>(state_).message; }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace traceinject
