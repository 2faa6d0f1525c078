// SPDX-License-Identifier: Apache-2.0
// A file that keeps the last part of a run: what is written is cut into slices of time, and the
// oldest slices go when there is no room for the next rows, or when they are older than what is to
// be kept.
//
// A slice holds the rows of some transactions that follow each other. A row is written after the
// event that it tells of has ended, so whatever ended after the end of a slice is in a later one:
// once slices are dropped, all that ended later than the last of them is still there, whole.
//
// Only the books are kept here; the rows are removed by RowWriter::RemoveThrough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "injector/store/row_writer.h"

namespace traceinject {

// About how much of the file the rows of a batch will take; rather too much. O(texts and blobs).
std::int64_t EstimatedBytes(const Batch& batch);

struct KeepLast {
  std::int64_t most_bytes = 0;  // of the file and its journal together
  std::int64_t kept_ns = 0;     // older rows go even if there is room; 0: they stay
};

// How the room of a file that keeps the last part is shared out.
struct KeepLastRoom {
  explicit KeepLastRoom(const KeepLast& keep);

  std::int64_t log_bytes;          // the write-ahead log is copied back at this size
  std::int64_t transaction_bytes;  // a transaction should not have more, see EstimatedBytes
  std::int64_t database_bytes;     // what is left: pages in use
};

// Rows of a transaction of that many bytes.
std::size_t RowsOfBytes(std::int64_t bytes);

class Slices {
 public:
  struct Moment {
    std::int64_t time = 0;          // of the recording, as that of rows
    std::int64_t monotonic_ns = 0;  // nobody sets this clock
  };
  struct Slice {
    Moment end;               // no row of it ended later
    RowBounds bounds;         // the last rows that it holds
    std::uint32_t flush = 0;  // the last flush that wrote into it
  };

  // `database_bytes`: of the room, a slice takes about a twentieth.
  Slices(const KeepLast& keep, std::int64_t database_bytes);

  // A transaction of about so many bytes was committed; `bounds` are the last rows now.
  void Add(std::int64_t bytes, const RowBounds& bounds, std::uint32_t flush, Moment now);

  // Closed ones, the oldest first. The one that is written to now is not among them.
  const std::deque<Slice>& closed() const { return closed_; }
  // Whether it may go although there is room.
  bool TooOld(const Slice& slice, std::int64_t monotonic_ns) const;
  // The oldest `count` were dropped.
  void Drop(std::size_t count);

 private:
  std::int64_t kept_ns_, slice_bytes_, slice_ns_;
  std::deque<Slice> closed_;
  std::int64_t open_bytes_ = 0;
  std::int64_t opened_ns_ = 0;  // monotonic, of the first transaction of the open slice
};

}  // namespace traceinject
