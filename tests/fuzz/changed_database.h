// SPDX-License-Identifier: Apache-2.0
// A database of SQLite with changes that an input chooses: values that no writer stores, rows that
// are missing, come twice, or point nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/input_bytes.h"

namespace traceinject {

class ChangedDatabase {
 public:
  // `image`: the bytes of its file. Tables have rows numbered from 1.
  explicit ChangedDatabase(std::string image);

  // The statements that the input chooses, at most kMostChanges.
  std::vector<std::string> Choose(InputBytes& input) const;
  // The bytes of the file after them. What SQLite refuses is passed over.
  std::string After(const std::vector<std::string>& statements) const;

 private:
  static constexpr std::size_t kMostChanges = 48;

  struct Table {
    std::string name;
    std::vector<std::string> columns;
    std::size_t rows = 0;
  };
  std::string ChooseOne(InputBytes& input) const;

  std::string image_;
  std::vector<Table> tables_;  // that have rows
};

}  // namespace traceinject
