// SPDX-License-Identifier: Apache-2.0
// The pieces of a large JSON document, found by a thread of its own: while some are parsed, the
// next are unpacked and split, which takes about as long. Where there is no thread for it, one
// after the other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/source/gzip_source.h"
#include "analyzer/import/source/json_pieces.h"

namespace traceinject {

// Some pieces in the order of the document, about 256 KB of it or one larger piece.
class PieceBatch {
 public:
  std::size_t size() const { return pieces_.size(); }
  JsonPiece operator[](std::size_t index) const;
  // Of the file, as stored: how far it had been read.
  std::uint64_t offset_bytes() const { return offset_bytes_; }

 private:
  friend class PieceBatches;

  struct Piece {
    std::size_t key = 0, key_bytes = 0, text = 0, text_bytes = 0;  // in text_
    bool is_element = false;
  };

  void Clear(std::uint64_t offset_bytes);
  void Add(const JsonPiece& piece);

  std::vector<char> text_;  // of all; kept for the next, unless it is large
  std::size_t bytes_ = 0;   // of these in use
  std::vector<Piece> pieces_;
  std::uint64_t offset_bytes_ = 0;
};

class PieceBatches {
 public:
  // The source must outlive it, and be left alone meanwhile. See JsonPieces.
  PieceBatches(GzipSource& source, std::string_view list_key);
  // Ends the thread, wherever it is.
  ~PieceBatches();
  PieceBatches(const PieceBatches&) = delete;
  PieceBatches& operator=(const PieceBatches&) = delete;

  // The next batch, valid until the next call; null at the end. Errors: those of
  // JsonPieces::Next(), once all pieces before it were handed out.
  Result<const PieceBatch*> Next();

 private:
  // One is parsed while another one is filled, and one lies between.
  static constexpr std::size_t kBatches = 3;

  void Run();
  // Until one is free; null: to be given up.
  PieceBatch* TakeFree();
  // False: it is the last one.
  bool FillBatch(PieceBatch& batch);

  GzipSource& source_;
  JsonPieces pieces_;
  std::vector<PieceBatch> batches_{kBatches};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0, taken_ = 0;  // how many so far; they go round
  bool ended_ = false, given_up_ = false;
  std::optional<Error> error_;          // after the last batch
  std::exception_ptr exception_;        // likewise
  std::optional<std::jthread> thread_;  // the last member: it uses all others
};

}  // namespace traceinject
