// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/timeline_file.h"

#include <algorithm>
#include <array>

#include "analyzer/import/source/gzip_source.h"

namespace traceinject {
namespace {

// Takes a text off the front, behind white space.
bool Take(std::string_view what, std::string_view& from) {
  from.remove_prefix(std::min(from.find_first_not_of(" \t\r\n"), from.size()));
  if (!from.starts_with(what)) return false;
  from.remove_prefix(what.size());
  return true;
}

}  // namespace

bool IsTimeline(const std::string& path) {
  auto source = GzipSource::Open(path);
  if (!source.ok()) return false;
  std::array<char, 4096> start{};
  const auto count = source.value().Read(start.data(), start.size());
  if (!count.ok()) return false;
  std::string_view text(start.data(), count.value());
  Take("[", text);
  return Take("{", text) && Take("\"", text) && text.starts_with(kTimelineKey);
}

}  // namespace traceinject
