// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/piece_batches.h"

#include <algorithm>
#include <cstring>

#include "analyzer/common/start_thread.h"

namespace traceinject {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{256} << 10;

}  // namespace

JsonPiece PieceBatch::operator[](std::size_t index) const {
  const Piece& piece = pieces_[index];
  return {{text_.data() + piece.key, piece.key_bytes},
          {text_.data() + piece.text, piece.text_bytes},
          piece.is_element};
}

void PieceBatch::Clear(std::uint64_t offset_bytes) {
  if (text_.size() > 8 * kBatchBytes) text_ = {};
  bytes_ = 0;
  pieces_.clear();
  offset_bytes_ = offset_bytes;
}

void PieceBatch::Add(const JsonPiece& piece) {
  const std::size_t needed = piece.key.size() + piece.text.size() + JsonPieces::kPadding;
  if (text_.size() - bytes_ < needed) text_.resize(std::max(bytes_ + needed, 2 * kBatchBytes));
  const auto append = [this](std::string_view text) {
    const std::size_t at = bytes_;
    if (!text.empty()) std::memcpy(text_.data() + at, text.data(), text.size());
    bytes_ += text.size();
    return at;
  };
  const std::size_t key = append(piece.key), text = append(piece.text);
  pieces_.push_back({key, piece.key.size(), text, piece.text.size(), piece.is_element});
}

PieceBatches::PieceBatches(GzipSource& source, std::string_view list_key)
    : source_(source), pieces_(source, list_key), thread_(StartThread([this] { Run(); })) {}

PieceBatches::~PieceBatches() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
}

Result<const PieceBatch*> PieceBatches::Next() {
  if (!thread_ && !ended_) {
    ended_ = !FillBatch(batches_.front());
    return &batches_.front();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ > taken_ || ended_; });
  if (filled_ > taken_) {
    // The one before it is free from now on.
    changed_.notify_all();
    return &batches_[taken_++ % kBatches];
  }
  if (exception_) std::rethrow_exception(exception_);
  if (error_) return *error_;
  return nullptr;
}

void PieceBatches::Run() {
  try {
    bool more = true;
    while (more) {
      PieceBatch* const batch = TakeFree();
      if (batch == nullptr) return;
      more = FillBatch(*batch);
      const std::lock_guard lock(mutex_);
      ++filled_;
      ended_ = !more;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    exception_ = std::current_exception();
    ended_ = true;
    changed_.notify_all();
  }
}

PieceBatch* PieceBatches::TakeFree() {
  std::unique_lock lock(mutex_);
  // The one that was taken last is in use until the next is asked for.
  changed_.wait(lock, [this] { return filled_ + 1 < taken_ + kBatches || given_up_; });
  return given_up_ ? nullptr : &batches_[filled_ % kBatches];
}

bool PieceBatches::FillBatch(PieceBatch& batch) {
  batch.Clear(source_.offset_bytes());
  while (batch.bytes_ < kBatchBytes) {
    const auto piece = pieces_.Next();
    if (!piece.ok()) error_ = Error{piece.error()};
    if (!piece.ok() || !piece.value()) return false;
    batch.Add(*piece.value());
  }
  return true;
}

}  // namespace traceinject
