// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/compare_collectives.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace traceinject {
namespace {

struct Key {
  std::string function;
  int communicator_size = -1;        // -1: unknown
  std::int64_t low = -1, high = -1;  // of the message; -1: unknown

  bool operator<(const Key& other) const {
    return std::tie(function, communicator_size, low, high) <
           std::tie(other.function, other.communicator_size, other.low, other.high);
  }
};

// In a step.
struct Work {
  double count = 0, kernel_ns = 0, exposed_ns = 0;
  double moved = 0, moved_ns = 0;  // bytes x factor of the function, and the time of the same
  std::set<std::string> ways;

  std::string carried_out() const {
    std::string text;
    for (const std::string& way : ways) text += (text.empty() ? "" : ", ") + way;
    return text;
  }
};

Key KeyOfCollective(const proto::NcclRow& row) {
  Key key;
  key.function = row.function();
  if (row.has_communicator_size()) key.communicator_size = row.communicator_size();
  if (row.has_bucket_low_bytes()) {
    key.low = row.bucket_low_bytes();
    key.high = row.bucket_high_bytes();
  }
  return key;
}

std::map<Key, Work> WorkOf(const ComparedRun& side) {
  std::map<Key, Work> found;
  const double steps = std::max<double>(1, static_cast<double>(side.steps.size()));
  for (const proto::NcclRow& row : side.device().nccl().rows()) {
    Work& work = found[KeyOfCollective(row)];
    work.count += static_cast<double>(row.count()) / steps;
    work.kernel_ns += static_cast<double>(row.kernel_ns()) / steps;
    work.exposed_ns += static_cast<double>(row.exposed_ns()) / steps;
    if (row.has_busbw_gb_per_s()) {
      work.moved += row.busbw_gb_per_s() * static_cast<double>(row.kernel_ns());
      work.moved_ns += static_cast<double>(row.kernel_ns());
    }
    if (row.has_algorithm())
      work.ways.insert(row.algorithm() + (row.has_protocol() ? " " + row.protocol() : ""));
  }
  return found;
}

void RowOf(const Key& key, const Work& was, const Work& is, proto::CollectiveChange& row) {
  row.set_function(key.function);
  if (key.communicator_size >= 0) row.set_communicator_size(key.communicator_size);
  if (key.low >= 0) {
    row.set_bucket_low_bytes(key.low);
    row.set_bucket_high_bytes(key.high);
  }
  row.set_count_before(was.count);
  row.set_count_after(is.count);
  row.set_kernel_before_ns(std::llround(was.kernel_ns));
  row.set_kernel_after_ns(std::llround(is.kernel_ns));
  row.set_exposed_before_ns(std::llround(was.exposed_ns));
  row.set_exposed_after_ns(std::llround(is.exposed_ns));
  if (was.moved_ns > 0) row.set_busbw_before_gb_per_s(was.moved / was.moved_ns);
  if (is.moved_ns > 0) row.set_busbw_after_gb_per_s(is.moved / is.moved_ns);
  row.set_carried_out_before(was.carried_out());
  row.set_carried_out_after(is.carried_out());
}

}  // namespace

void CompareCollectives(const ComparedRun& before, const ComparedRun& after,
                        proto::Comparison& to) {
  if (before.steps.empty() || after.steps.empty()) return;
  const std::map<Key, Work> was = WorkOf(before), is = WorkOf(after);
  std::set<Key> keys;
  for (const auto& [key, work] : was) keys.insert(key);
  for (const auto& [key, work] : is) keys.insert(key);
  const auto of = [](const std::map<Key, Work>& works, const Key& key) {
    const auto found = works.find(key);
    return found == works.end() ? Work() : found->second;
  };
  for (const Key& key : keys) RowOf(key, of(was, key), of(is, key), *to.add_collectives());
  std::stable_sort(to.mutable_collectives()->begin(), to.mutable_collectives()->end(),
                   [](const proto::CollectiveChange& a, const proto::CollectiveChange& b) {
                     return std::abs(a.kernel_after_ns() - a.kernel_before_ns()) >
                            std::abs(b.kernel_after_ns() - b.kernel_before_ns());
                   });
}

}  // namespace traceinject
