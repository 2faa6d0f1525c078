// SPDX-License-Identifier: Apache-2.0
// What a reader asks an event table of a run.db for.
#pragma once

#include <string_view>

#include "schemas/event_tables.h"

namespace traceinject {

// A table by its name, of events or not.
class TableName {
 public:
  constexpr TableName(EventTable table) : name_(InfoOf(table).name) {}
  constexpr TableName(std::string_view name) : name_(name) {}
  constexpr TableName(const char* name) : name_(name) {}
  constexpr operator std::string_view() const { return name_; }

 private:
  std::string_view name_;
};

struct EventColumns {
  EventTable table;
  std::string_view columns;  // SQL
};

// What the table has no column for does not compile.
consteval EventColumns ColumnsOf(EventTable table, std::string_view columns) {
  for (std::string_view rest = columns; !rest.empty();) {
    if (!HasColumn(table, TakeColumn(&rest))) throw "the table has no such column";
  }
  return {table, columns};
}

}  // namespace traceinject
