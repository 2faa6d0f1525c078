// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/read_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "analyzer/common/start_thread.h"

namespace traceinject {
namespace {

// So many ranges of each thread may wait.
constexpr std::size_t kSlotsPerThread = 2;
constexpr std::size_t kMostColumns = 64;  // of which SqlRow knows what is NULL

std::size_t CountRanges(const RowSpan& span) {
  if (span.last < span.first) return 1;
  const std::uint64_t rows =
      static_cast<std::uint64_t>(span.last) - static_cast<std::uint64_t>(span.first);
  return static_cast<std::size_t>(rows / ReadAhead::kRangeRows) + 1;
}

std::size_t CountColumns(std::string_view columns) {
  return static_cast<std::size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
}

}  // namespace

ReadAhead::ReadAhead(const Database& database, std::span<const Database> beside,
                     std::string_view table, std::string_view columns, RowSpan span)
    : database_(database),
      columns_(columns),
      from_(fmt::format("{} WHERE rowid BETWEEN ? AND ?", table)),
      span_(span),
      ranges_(CountRanges(span)),
      width_(CountColumns(columns)),
      slots_(kSlotsPerThread * (beside.size() + 1)) {
  if (width_ > kMostColumns) return;
  for (const Database& each : beside) {
    auto helper = StartThread([this, &each] { Help(each); });
    if (!helper) break;
    helpers_.push_back(*std::move(helper));
  }
}

ReadAhead::~ReadAhead() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

Result<Statement> ReadAhead::Prepare(const Database& database) const {
  return database.PrepareRows(columns_, from_);
}

void ReadAhead::Bind(std::size_t range, Statement& rows) const {
  const std::int64_t first = span_.first + static_cast<std::int64_t>(range) * kRangeRows;
  rows.Bind(1, first);
  rows.Bind(
      2, range + 1 == ranges_ ? std::numeric_limits<std::int64_t>::max() : first + kRangeRows - 1);
}

// One that cannot prepare what it is to read, as without memory, leaves all to others.
void ReadAhead::Help(const Database& database) {
  Result<Statement> rows = Error{};
  try {
    rows = Prepare(database);
  } catch (...) {
    return;
  }
  if (!rows.ok()) return;
  Numbers found;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || next_ == ranges_ || MayClaim(); });
    if (stop_ || next_ == ranges_) return;
    const std::size_t range = next_++;
    lock.unlock();
    Put(range, rows.value(), found);
    lock.lock();
  }
}

// What goes wrong goes wrong again where somebody is told of it.
void ReadAhead::Read(std::size_t range, Statement& rows, Numbers& found) const {
  found.values.clear();
  found.nulls.clear();
  Bind(range, rows);
  bool plain = true;
  try {
    const Status read = rows.ForEachRow([&](const SqlRow& row) {
      std::uint64_t nulls = 0;
      for (std::size_t i = 0; i < width_; ++i) {
        const int column = static_cast<int>(i);
        const int type = row.type(column);
        plain = plain && (type == SQLITE_INTEGER || type == SQLITE_NULL);
        if (type == SQLITE_NULL) nulls |= std::uint64_t{1} << i;
        found.values.push_back(row.int64(column));
      }
      found.nulls.push_back(nulls);
      return plain;
    });
    found.left = !plain || !read.ok();
  } catch (...) {
    found.left = true;
  }
}

// `found` is swapped for one that is not needed any more.
void ReadAhead::Put(std::size_t range, Statement& rows, Numbers& found) {
  Read(range, rows, found);
  const std::lock_guard lock(mutex_);
  found.ready = true;
  std::swap(slots_[range % slots_.size()], found);
  changed_.notify_all();
}

// False: nobody has begun it, and it is the caller's. Who has to wait reads what comes later.
bool ReadAhead::Await(std::size_t range, Statement& rows, Numbers& found) {
  std::unique_lock lock(mutex_);
  if (next_ == range) {
    ++next_;
    return false;
  }
  Numbers& slot = slots_[range % slots_.size()];
  while (!slot.ready) {
    if (!MayClaim()) {
      changed_.wait(lock, [&] { return slot.ready || MayClaim(); });
      continue;
    }
    const std::size_t later = next_++;
    lock.unlock();
    Put(later, rows, found);
    lock.lock();
  }
  std::swap(slot, found);
  slot.ready = false;
  return true;
}

void ReadAhead::HandOn(const Numbers& found,
                       const std::function<bool(const SqlRow&)>& visit) const {
  for (std::size_t row = 0; row < found.nulls.size(); ++row) {
    if (!visit(SqlRow(&found.values[row * width_], found.nulls[row]))) return;
  }
}

Status ReadAhead::ForEachRow(const std::function<bool(const SqlRow&)>& visit) {
  auto rows = Prepare(database_);
  if (!rows.ok()) return Error{rows.error()};
  bool go_on = true;
  const auto visit_noting = [&](const SqlRow& row) { return go_on = visit(row); };
  Numbers found;
  for (std::size_t range = 0; range < ranges_ && go_on; ++range) {
    if (!Await(range, rows.value(), found) || found.left) {
      Bind(range, rows.value());
      const Status read = rows.value().ForEachRow(visit_noting);
      if (!read.ok()) return read;
    } else {
      HandOn(found, visit_noting);
    }
    const std::lock_guard lock(mutex_);
    handed_ = range + 1;
    changed_.notify_all();
  }
  return Done{};
}

}  // namespace traceinject
