// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/align_operations.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <unordered_map>

namespace traceinject {
namespace {

// Ends of one operation lie within this of each other, unless the ranks themselves show more.
constexpr TimeNs kEndSpreadNs = 50'000, kMaxEndSpreadNs = 500'000;
constexpr TimeNs kNarrowNs = 10'000;                // as near as this they are not by chance
constexpr double kMaxDrift = 200e-6;                // of two clocks against each other
constexpr std::size_t kMinPiece = 8, kPiece = 128;  // operations compared in a search
constexpr std::size_t kMinPairs = 16;               // that are not by chance, of more
constexpr std::size_t kLost = 64;                   // operations without a match: follow no further
constexpr int kMaxParts = 16;                       // times that a clock may jump

using Operations = std::span<const SequencedOperation>;

// Operations that end together, forwards or backwards in time.
class Ends {
 public:
  Ends(Operations all, const std::vector<std::size_t>& rows, bool backwards)
      : all_(all), rows_(rows), backwards_(backwards) {}
  std::size_t size() const { return rows_.size(); }
  std::size_t row(std::size_t i) const { return backwards_ ? rows_.size() - 1 - i : i; }
  TimeNs end(std::size_t i) const { return backwards_ ? -Of(i).end : Of(i).end; }
  std::uint32_t kind(std::size_t i) const { return Of(i).kind; }

 private:
  const SequencedOperation& Of(std::size_t i) const { return all_[rows_[row(i)]]; }

  Operations all_;
  const std::vector<std::size_t>& rows_;
  bool backwards_;
};

// Pairs from (i, j) on whose ends differ by `difference`, which may change slowly. Stops where for
// too long nothing fits.
AlignedPairs Follow(const Ends& a, std::size_t i, const Ends& b, std::size_t j, TimeNs difference,
                    TimeNs spread) {
  AlignedPairs pairs;
  TimeNs last_end = i < a.size() ? a.end(i) : 0;
  const auto apart = [&](std::size_t x, std::size_t y) { return b.end(y) - a.end(x) - difference; };
  for (std::size_t lost = 0; i < a.size() && j < b.size() && lost < kLost; ++lost) {
    const TimeNs off = apart(i, j);
    const TimeNs allowed =
        spread +
        static_cast<TimeNs>(kMaxDrift * std::abs(static_cast<double>(a.end(i) - last_end)));
    if (off > allowed) {
      ++i;
    } else if (off < -allowed) {
      ++j;
    } else if (a.kind(i) != b.kind(j)) {
      // One that was lost, or another operation at the same time.
      const bool i_fits =
          i + 1 < a.size() && a.kind(i + 1) == b.kind(j) && std::abs(apart(i + 1, j)) <= allowed;
      const bool j_fits =
          j + 1 < b.size() && a.kind(i) == b.kind(j + 1) && std::abs(apart(i, j + 1)) <= allowed;
      if (i_fits == j_fits) {
        ++i, ++j;
      } else {
        ++(i_fits ? i : j);
      }
    } else if (j + 1 < b.size() && b.kind(j + 1) == a.kind(i) &&
               std::abs(apart(i, j + 1)) < std::abs(off)) {
      ++j;
    } else if (i + 1 < a.size() && a.kind(i + 1) == b.kind(j) &&
               std::abs(apart(i + 1, j)) < std::abs(off)) {
      ++i;
    } else {
      difference += off;
      last_end = a.end(i);
      pairs.emplace_back(i++, j++);
      lost = 0;
    }
  }
  return pairs;
}

template <typename Numbers>
auto MedianOf(Numbers& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// By how much the difference of matched ends is off a straight line, from 0 on: in a shifted match
// it wanders with the work between the operations, in the true one it follows the drift. `pair`
// gives the k-th of `count` pairs of ends.
template <typename Pair>
TimeNs OffTheLine(std::size_t count, Pair pair) {
  constexpr std::size_t kMaxLag = 64, kMaxSamples = 256;
  const std::size_t lag = std::min(count / 3, kMaxLag);
  if (lag == 0) return 0;
  const std::size_t places = count - 2 * lag;
  const std::size_t stride = 1 + places / kMaxSamples;
  std::vector<TimeNs> off;
  for (std::size_t k = 0; k < places; k += stride) {
    const auto [a0, b0] = pair(k);
    const auto [a1, b1] = pair(k + lag);
    const auto [a2, b2] = pair(k + 2 * lag);
    const double slope = static_cast<double>(b2 - b0 - (a2 - a0)) /
                         static_cast<double>(std::max<TimeNs>(a2 - a0, 1));
    off.push_back(
        std::abs(b1 - b0 - (a1 - a0) - static_cast<TimeNs>(slope * static_cast<double>(a1 - a0))));
  }
  return MedianOf(off);
}

// A place where pieces of both agree.
struct Place {
  std::size_t i = 0, j = 0;
  TimeNs difference = 0;
  TimeNs spread = 0;  // by how much the difference is off a straight line
};

// Aligns by time the operations that end together.
class TimeAligner {
 public:
  TimeAligner(Operations a, Operations b, bool same_clock) : a_(a), b_(b), same_(same_clock) {}

  AlignedPairs Align() {
    std::vector<std::size_t> rows_a = RowsOf(a_), rows_b = RowsOf(b_);
    Align(std::move(rows_a), std::move(rows_b), 0);
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  static std::vector<std::size_t> RowsOf(Operations all) {
    std::vector<std::size_t> rows;
    rows.reserve(all.size());
    for (std::size_t row = 0; row < all.size(); ++row) {
      if (all[row].together) rows.push_back(row);
    }
    return rows;
  }

  void Align(std::vector<std::size_t> rows_a, std::vector<std::size_t> rows_b, int parts) {
    if (rows_a.empty() || rows_b.empty() || parts == kMaxParts) return;
    const AlignedPairs pairs = Best(rows_a, rows_b);
    if (pairs.size() < (parts > 0 ? kMinPairs : 1)) return;
    for (const auto& [i, j] : pairs) found_.emplace_back(rows_a[i], rows_b[j]);
    const auto cut = [](std::vector<std::size_t>& rows, std::size_t from, std::size_t to) {
      return std::vector<std::size_t>(rows.begin() + static_cast<std::ptrdiff_t>(from),
                                      rows.begin() + static_cast<std::ptrdiff_t>(to));
    };
    // Before and after, where a clock was set or much is missing.
    Align(cut(rows_a, 0, pairs.front().first), cut(rows_b, 0, pairs.front().second), parts + 1);
    Align(cut(rows_a, pairs.back().first + 1, rows_a.size()),
          cut(rows_b, pairs.back().second + 1, rows_b.size()), parts + 1);
  }

  struct Found {
    AlignedPairs pairs;
    TimeNs difference = 0, spread = 0;
  };

  // Those that keep to a line; of these by the number of pairs, then by nearness in time.
  AlignedPairs Best(const std::vector<std::size_t>& rows_a,
                    const std::vector<std::size_t>& rows_b) const {
    const Ends a(a_, rows_a, false), b(b_, rows_b, false);
    std::vector<Found> all;
    const auto follow = [&](const Place& place) {
      Found found{FollowFrom(rows_a, rows_b, place), place.difference, 0};
      if (!IsDense(found.pairs)) return false;
      found.spread = OffTheLine(found.pairs.size(), [&](std::size_t k) {
        return std::pair(a.end(found.pairs[k].first), b.end(found.pairs[k].second));
      });
      const std::size_t shorter = std::min(a.size(), b.size());
      const bool nearly_all = found.pairs.size() * 5 >= shorter * 4;
      if (!nearly_all && (found.spread > kNarrowNs || found.pairs.size() < kMinPairs)) return false;
      if (found.spread > kEndSpreadNs) return false;
      const std::size_t left = a.size() + b.size() - 2 * found.pairs.size();
      all.push_back(std::move(found));
      return left <= (a.size() + b.size()) / 50;
    };
    for (const Place& place : LikelyPlaces(a, b)) {
      if (follow(place)) return std::move(all.back().pairs);
    }
    for (const Place& place : Search(a, b)) follow(place);
    if (all.empty()) return {};
    TimeNs least = kOpen;
    for (const Found& one : all) least = std::min(least, one.spread);
    const Found* best = nullptr;
    for (const Found& one : all) {
      if (one.spread > 2 * least + kNarrowNs / 2) continue;
      const auto count = [](const Found& of) { return static_cast<double>(of.pairs.size()); };
      const bool nearer = best != nullptr && std::abs(one.difference) < std::abs(best->difference);
      if (best == nullptr || count(one) > 1.01 * count(*best) ||
          (nearer && count(one) > 0.99 * count(*best)))
        best = &one;
    }
    return best->pairs;
  }
  // Between the first and the last most have their other half, or the work between the operations
  // fitted by chance.
  static bool IsDense(const AlignedPairs& pairs) {
    if (pairs.empty()) return false;
    const std::size_t most = std::max(pairs.back().first - pairs.front().first,
                                      pairs.back().second - pairs.front().second) +
                             1;
    return pairs.size() * 10 >= most * 6;
  }

  // Both ways.
  AlignedPairs FollowFrom(const std::vector<std::size_t>& rows_a,
                          const std::vector<std::size_t>& rows_b, const Place& place) const {
    const TimeNs spread = std::clamp(2 * place.spread, kEndSpreadNs, kMaxEndSpreadNs);
    const Ends back_a(a_, rows_a, true), back_b(b_, rows_b, true);
    AlignedPairs pairs = Follow(back_a, rows_a.size() - place.i, back_b, rows_b.size() - place.j,
                                -place.difference, spread);
    for (auto& [i, j] : pairs) i = back_a.row(i), j = back_b.row(j);
    std::reverse(pairs.begin(), pairs.end());
    const AlignedPairs on = Follow(Ends(a_, rows_a, false), place.i, Ends(b_, rows_b, false),
                                   place.j, place.difference, spread);
    pairs.insert(pairs.end(), on.begin(), on.end());
    return pairs;
  }

  // Equal beginnings, and on one clock the same time.
  std::vector<Place> LikelyPlaces(const Ends& a, const Ends& b) const {
    std::vector<Place> places;
    if (same_) {
      Place place;
      while (place.i < a.size() && a.end(place.i) < b.end(0) - kEndSpreadNs) ++place.i;
      while (place.j < b.size() && b.end(place.j) < a.end(0) - kEndSpreadNs) ++place.j;
      places.push_back(place);
    }
    constexpr std::size_t kFirst = 3;  // of which some may be missing
    for (std::size_t both = 0; both <= 2 * (kFirst - 1); ++both) {
      for (std::size_t i = 0; i < std::min(a.size(), kFirst); ++i) {
        const std::size_t j = both - i;
        if (i <= both && j < std::min(b.size(), kFirst))
          places.push_back({i, j, b.end(j) - a.end(i), 0});
      }
    }
    return places;
  }

  // Where a piece of b lies in a, by kinds and by the times between the ends. Pieces in which
  // either lacks something do not fit, so several are tried.
  std::vector<Place> Search(const Ends& a, const Ends& b) const {
    const std::size_t shorter = std::min(a.size(), b.size());
    const std::size_t length = std::min(std::clamp(shorter / 4, kMinPiece, kPiece), shorter);
    if (length < 6) return {};
    std::vector<Place> places;
    for (const std::size_t eighths : {4u, 2u, 6u, 0u, 8u, 3u, 5u, 1u, 7u}) {
      AddPlaces(a, b, (b.size() - length) * eighths / 8, length, places);
      KeepBest(places);
      if (std::any_of(places.begin(), places.end(),
                      [](const Place& place) { return place.spread <= kNarrowNs; }))
        break;
    }
    return places;
  }
  static void AddPlaces(const Ends& a, const Ends& b, std::size_t j, std::size_t length,
                        std::vector<Place>& places) {
    const TimeNs whole = b.end(j + length - 1) - b.end(j);
    const TimeNs allowed =
        4 * kEndSpreadNs + static_cast<TimeNs>(kMaxDrift * static_cast<double>(whole));
    for (std::size_t i = 0; i + length <= a.size(); ++i) {
      if (std::abs(a.end(i + length - 1) - a.end(i) - whole) > allowed) continue;
      std::size_t k = 0;
      while (k < length && a.kind(i + k) == b.kind(j + k)) ++k;
      if (k == length) places.push_back(PlaceOf(a, i, b, j, length));
    }
  }
  static Place PlaceOf(const Ends& a, std::size_t i, const Ends& b, std::size_t j,
                       std::size_t length) {
    const std::size_t middle = length / 2;
    return {
        i + middle, j + middle, b.end(j + middle) - a.end(i + middle),
        OffTheLine(length, [&](std::size_t k) { return std::pair(a.end(i + k), b.end(j + k)); })};
  }
  // Times that fit no better than by chance tell nothing. Of those that fit equally well, the
  // nearer ones.
  static void KeepBest(std::vector<Place>& places) {
    std::sort(places.begin(), places.end(),
              [](const Place& x, const Place& y) { return x.spread < y.spread; });
    if (places.empty()) return;
    const TimeNs least = places[0].spread;
    const bool alone = places.size() > 1 && places[1].spread > 4 * least;
    const bool by_chance = least > (alone ? kEndSpreadNs : kEndSpreadNs / 2);
    const TimeNs most = by_chance ? -1 : 2 * least + kNarrowNs / 2;
    places.erase(std::remove_if(places.begin(), places.end(),
                                [&](const Place& place) { return place.spread > most; }),
                 places.end());
    std::sort(places.begin(), places.end(), [](const Place& x, const Place& y) {
      return std::abs(x.difference) < std::abs(y.difference);
    });
    constexpr std::size_t kMaxPlaces = 8;
    if (places.size() > kMaxPlaces) places.resize(kMaxPlaces);
  }

  Operations a_, b_;
  bool same_;
  AlignedPairs found_;
};

bool Told(Operations all) {
  return std::any_of(all.begin(), all.end(),
                     [](const SequencedOperation& one) { return one.sequence >= 0; });
}

// An operation of the same number and another size is another one.
AlignedPairs AlignByNumber(Operations a, Operations b) {
  const auto key = [](const SequencedOperation& one) {
    return (static_cast<std::uint64_t>(one.kind) << 40) ^ static_cast<std::uint64_t>(one.sequence);
  };
  std::unordered_map<std::uint64_t, std::size_t> places;  // in a; filled once it is needed
  AlignedPairs pairs;
  std::size_t next = 0;  // in a
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (b[j].sequence < 0) continue;
    std::size_t i = next;
    if (i >= a.size() || a[i].sequence < 0 || key(a[i]) != key(b[j])) {
      if (places.empty()) {
        places.reserve(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) {
          if (a[k].sequence >= 0) places.emplace(key(a[k]), k);
        }
      }
      const auto found = places.find(key(b[j]));
      if (found == places.end() || found->second < next) continue;
      i = found->second;
    }
    next = i + 1;
    pairs.emplace_back(i, j);
  }
  return pairs;
}

// Aligns on function and bytes what lies between pairs that are known.
class Filler {
 public:
  Filler(Operations a, Operations b, bool may_be_apart)
      : a_(a), b_(b), may_be_apart_(may_be_apart) {}

  AlignedPairs Fill(const AlignedPairs& known) {
    std::optional<TimeNs> difference;
    if (!known.empty()) difference = DifferenceAt(known.front());
    std::size_t i = 0, j = 0;
    for (const auto& pair : known) {
      Between(i, pair.first, j, pair.second, difference);
      all_.push_back(pair);
      i = pair.first + 1;
      j = pair.second + 1;
      if (a_[pair.first].together) difference = DifferenceAt(pair);
    }
    Between(i, a_.size(), j, b_.size(), difference);
    return std::move(all_);
  }

 private:
  TimeNs DifferenceAt(const std::pair<std::size_t, std::size_t>& pair) const {
    return b_[pair.second].end - a_[pair.first].end;
  }
  // Kernels of one operation run at the same time.
  bool CanBeOne(const SequencedOperation& a, const SequencedOperation& b,
                std::optional<TimeNs> difference) const {
    if (a.sequence >= 0 && b.sequence >= 0) return false;  // told, and not the same
    if (!difference || may_be_apart_ || !a.together) return true;
    return a.start + *difference <= b.end + kEndSpreadNs &&
           b.start <= a.end + *difference + kEndSpreadNs;
  }
  void Between(std::size_t a_from, std::size_t a_to, std::size_t b_from, std::size_t b_to,
               std::optional<TimeNs> difference) {
    if (a_from == a_to || b_from == b_to) return;
    const std::vector<SequenceItem> a = Items(a_.subspan(a_from, a_to - a_from), difference),
                                    b = Items(b_.subspan(b_from, b_to - b_from), 0);
    for (const auto& [i, j] : AlignSequences(a, b)) {
      if (CanBeOne(a_[a_from + i], b_[b_from + j], difference))
        all_.emplace_back(a_from + i, b_from + j);
    }
  }
  static std::vector<SequenceItem> Items(Operations operations, std::optional<TimeNs> later) {
    std::vector<SequenceItem> items;
    items.reserve(operations.size());
    for (const SequencedOperation& one : operations)
      items.push_back({one.kind, one.end + later.value_or(0)});
    return items;
  }

  Operations a_, b_;
  bool may_be_apart_;
  AlignedPairs all_;
};

// Whether the ends of operations that end together do so: in matches by kinds alone they need not.
bool EndTogether(Operations a, Operations b, const AlignedPairs& pairs) {
  AlignedPairs together;
  for (const auto& pair : pairs) {
    if (a[pair.first].together) together.push_back(pair);
  }
  constexpr std::size_t kTooFewToTell = 6;
  if (together.size() < kTooFewToTell) return true;
  return OffTheLine(together.size(), [&](std::size_t k) {
           return std::pair(a[together[k].first].end, b[together[k].second].end);
         }) <= kMaxEndSpreadNs;
}

}  // namespace

AlignedPairs AlignOperations(Operations a, Operations b, const AlignOptions& options) {
  const AlignedPairs known =
      Told(a) && Told(b) ? AlignByNumber(a, b) : TimeAligner(a, b, options.same_clock).Align();
  AlignedPairs pairs = Filler(a, b, options.may_be_apart).Fill(known);
  if (known.empty() && !options.may_be_apart && !EndTogether(a, b, pairs)) pairs.clear();
  return pairs;
}

}  // namespace traceinject
