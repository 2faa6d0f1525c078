// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/find.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "analyzer/view/rows/contains_text.h"
#include "analyzer/view/rows/row_names.h"

namespace traceinject {
namespace {

constexpr std::uint32_t kEventsPerLook = 1 << 16;  // at the flag

struct Hit {
  TimeNs start = 0;
  EventRef ref;
};

bool Before(const Hit& a, const Hit& b) {
  return std::tie(a.start, a.ref.row, a.ref.lane, a.ref.event) <
         std::tie(b.start, b.ref.row, b.ref.lane, b.ref.event);
}

class Search {
 public:
  Search(const RowModel& model, FindResult& result)
      : model_(model), result_(result), span_(std::max<TimeNs>(model.end - model.start, 1)) {
    result_.marks.resize(FindResult::kMarks);
  }

  void Add(const EventRef& ref) {
    const Lane& lane = model_.lane(ref);
    const TimeNs start = lane.start(ref.event), length = lane.end(ref.event) - start;
    ++result_.lengths[LengthBins::Of(length)];
    if (length < result_.query.shortest_ns || length >= result_.query.longest_ns) return;
    ++result_.count;
    result_.total_ns += length;
    result_.marks[Mark(start)] = true;
    hits_.push_back({start, ref});
    if (hits_.size() == 2 * FindResult::kMaxHits) KeepFirst();
  }

  void Finish() {
    if (hits_.size() > FindResult::kMaxHits) KeepFirst();
    std::sort(hits_.begin(), hits_.end(), Before);
    result_.hits.reserve(hits_.size());
    for (const Hit& hit : hits_) result_.hits.push_back(hit.ref);
  }

 private:
  std::size_t Mark(TimeNs start) const {
    const double share = static_cast<double>(start - model_.start) / static_cast<double>(span_);
    return static_cast<std::size_t>(
        std::clamp(share * FindResult::kMarks, 0.0, FindResult::kMarks - 1.0));
  }

  void KeepFirst() {
    const auto last = hits_.begin() + static_cast<std::ptrdiff_t>(FindResult::kMaxHits);
    std::nth_element(hits_.begin(), last, hits_.end(), Before);
    hits_.erase(last, hits_.end());
  }

  const RowModel& model_;
  FindResult& result_;
  TimeNs span_;
  std::vector<Hit> hits_;
};

bool Matches(const RowNames::Name& name, const FindQuery& query) {
  if (query.whole) return name.label == query.text;
  return ContainsText(name.label, query.text) || ContainsText(name.full, query.text);
}

}  // namespace

std::size_t LengthBins::Of(TimeNs length_ns) {
  if (length_ns <= 0) return 0;
  const auto length = static_cast<std::uint64_t>(length_ns);
  const auto octave = static_cast<std::size_t>(std::bit_width(length)) - 1;
  const std::uint64_t quarter = octave >= 2 ? length >> (octave - 2) : length << (2 - octave);
  return 1 + 4 * octave + (quarter & 3);
}

TimeNs LengthBins::Start(std::size_t bin) {
  if (bin == 0) return 0;
  if (bin >= kCount) return kOpen;
  const std::size_t octave = (bin - 1) / 4;
  const std::uint64_t quarter = 4 + (bin - 1) % 4;
  if (octave >= 2) return static_cast<TimeNs>(quarter << (octave - 2));
  const std::uint64_t divisor = std::uint64_t{4} >> octave;
  return static_cast<TimeNs>((quarter + divisor - 1) / divisor);
}

std::optional<FindResult> FindEvents(const Run& run, const RowModel& model, const FindQuery& query,
                                     const std::atomic<bool>& cancelled) {
  FindResult result;
  result.query = query;
  Search search(model, result);
  std::optional<RowNames> before;  // of the row before
  std::vector<char> wanted;        // by name
  for (const std::uint32_t row : query.rows) {
    const RowNames names(run, model, row, before ? &*before : nullptr);
    if (!before || !names.SharesNamesWith(*before)) {
      wanted.clear();
      for (const RowNames::Name& name : names.names()) wanted.push_back(Matches(name, query));
    }
    const std::vector<Lane>& lanes = model.rows[row].lanes;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      for (std::uint32_t event = 0; event < lanes[lane].size(); ++event) {
        if (event % kEventsPerLook == 0 && cancelled) return std::nullopt;
        const EventRef ref{row, lane, event};
        if (wanted[names.Of(ref)] != 0) search.Add(ref);
      }
    }
    before.emplace(names);
  }
  if (cancelled) return std::nullopt;
  search.Finish();
  return result;
}

}  // namespace traceinject
