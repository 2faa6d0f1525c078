// SPDX-License-Identifier: Apache-2.0
// How samples stand in counter_sample.data of run_db.sql: one after the other, each as numbers of
// variable length (7 bits a byte, the lowest first, the highest bit says that more follow; signs by
// zigzag: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...):
//
//   * its start less the end of the sample before; of the first less the start of the row
//   * its length less counter_set.period_ns
//   * of each counter its value less the one before; of the first sample less 0. -1: unknown
//
// A value in permille takes 2 bytes at most, and 1 while it changes by less than 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// More is no time, and no value, of a sample; keeps sums from overflowing.
inline constexpr std::int64_t kFarthestCounterNumber = std::int64_t{1} << 60;

class CounterEncoder {
 public:
  CounterEncoder(std::int64_t period_ns, std::size_t counters)
      : period_ns_(period_ns), last_(counters) {}

  // `values` of as many counters as there are.
  void Add(std::int64_t start, std::int64_t end, std::span<const std::int64_t> values) {
    if (samples_ == 0) start_ = end_ = start;
    Number(start - end_);
    Number(end - start - period_ns_);
    for (std::size_t i = 0; i < last_.size(); ++i) {
      Number(values[i] - last_[i]);
      last_[i] = values[i];
    }
    end_ = end;
    ++samples_;
  }

  std::int64_t samples() const { return samples_; }
  std::int64_t start() const { return start_; }
  std::int64_t end() const { return end_; }
  const std::string& data() const { return data_; }

 private:
  void Number(std::int64_t value) {
    auto rest = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
    for (; rest >= 0x80; rest >>= 7) data_.push_back(static_cast<char>(rest | 0x80));
    data_.push_back(static_cast<char>(rest));
  }

  const std::int64_t period_ns_;
  std::vector<std::int64_t> last_;
  std::int64_t samples_ = 0, start_ = 0, end_ = 0;
  std::string data_;
};

class CounterDecoder {
 public:
  // `start`: of the row.
  CounterDecoder(std::string_view data, std::int64_t start, std::int64_t period_ns,
                 std::size_t counters)
      : rest_(data), period_ns_(period_ns), end_(start), values_(counters) {}

  // The next sample. False: there is none, or none that can be read.
  bool Next() {
    std::int64_t gap = 0, longer = 0;
    if (rest_.empty() || !Number(&gap) || !Number(&longer)) return false;
    start_ = end_ + gap;
    end_ = start_ + period_ns_ + longer;
    if (!IsPlausible(start_) || !IsPlausible(end_) || end_ < start_) return false;
    for (std::int64_t& value : values_) {
      std::int64_t change = 0;
      if (!Number(&change)) return false;
      value += change;
      if (!IsPlausible(value)) return false;
    }
    return true;
  }
  // Whether all of it was read.
  bool AtEnd() const { return rest_.empty(); }

  std::int64_t start() const { return start_; }
  std::int64_t end() const { return end_; }
  std::span<const std::int64_t> values() const { return values_; }

 private:
  static bool IsPlausible(std::int64_t number) {
    return number >= -kFarthestCounterNumber && number <= kFarthestCounterNumber;
  }

  bool Number(std::int64_t* value) {
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      bits |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) != 0) continue;
      *value = static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
      return IsPlausible(*value);
    }
    return false;
  }

  std::string_view rest_;
  const std::int64_t period_ns_;
  std::int64_t start_ = 0, end_;
  std::vector<std::int64_t> values_;
};

}  // namespace traceinject
