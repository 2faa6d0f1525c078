// SPDX-License-Identifier: Apache-2.0
// Rows of a long table, read by several threads and handed on in their order by one.
//
// What SQLite does for a row takes several times as long as what is done with it. Other threads
// read ranges of rows ahead, each over a connection of its own, and keep their values as numbers;
// the thread that asks hands them on, and reads those itself that nobody has begun. Rows in memory:
// a few ranges.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

// rowids, both included.
struct RowSpan {
  std::int64_t first = 0, last = -1;
};

class ReadAhead {
 public:
  static constexpr std::int64_t kRangeRows = 1 << 14;

  // Rows of `table` from span.first on; those beyond span.last, which is about where it ends, are
  // read, too. `columns` are of numbers: a range with other values than integers and NULL is left
  // to the thread that asks. All connections are to the same unchanging file, must outlive it, and
  // are its own meanwhile; one thread each for those of `beside`.
  ReadAhead(const Database& database, std::span<const Database> beside, std::string_view table,
            std::string_view columns, RowSpan span);
  // Ends the threads, wherever they are.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Once: calls visit(row) for every row, as Statement::ForEachRow does.
  Status ForEachRow(const std::function<bool(const SqlRow&)>& visit);

 private:
  // Rows of one range as numbers.
  struct Numbers {
    bool ready = false, left = false;  // left: to the thread that asks
    std::vector<std::int64_t> values;  // row by row
    std::vector<std::uint64_t> nulls;  // per row, a bit per column
  };

  Result<Statement> Prepare(const Database& database) const;
  void Bind(std::size_t range, Statement& rows) const;
  bool MayClaim() const { return next_ < ranges_ && next_ < handed_ + slots_.size(); }
  void Help(const Database& database);
  void Read(std::size_t range, Statement& rows, Numbers& found) const;
  void Put(std::size_t range, Statement& rows, Numbers& found);
  bool Await(std::size_t range, Statement& rows, Numbers& found);
  void HandOn(const Numbers& found, const std::function<bool(const SqlRow&)>& visit) const;

  const Database& database_;
  const std::string columns_, from_;
  const RowSpan span_;
  const std::size_t ranges_;
  std::size_t width_ = 0;  // columns

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, handed_ = 0;  // the next range to be read, and to be handed on
  bool stop_ = false;
  std::vector<Numbers> slots_;  // of range i: i modulo their number
  std::vector<std::jthread> helpers_;
};

}  // namespace traceinject
