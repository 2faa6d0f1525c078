// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/testing/read_frame.h"

#include <cstddef>
#include <vector>

namespace traceinject {
namespace {

std::int32_t TakeSigned(std::string_view& bytes) {
  const std::uint32_t bits = TakeNumber(bytes);
  return static_cast<std::int32_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~0U : 0U));
}

// What stays, with room between for what is new, which begins at `first`. False: it is not there.
template <typename Item>
bool Keep(const std::vector<Item>& before, std::string_view& bytes, std::vector<Item>& now,
          std::size_t& first, std::size_t& count) {
  first = TakeNumber(bytes);
  const std::size_t last = TakeNumber(bytes);
  count = TakeNumber(bytes);
  if (first + last > before.size() || count > bytes.size()) return false;
  now.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(first));
  now.resize(first + count);
  now.insert(now.end(), before.end() - static_cast<std::ptrdiff_t>(last), before.end());
  return true;
}

bool TakeVertices(const FrameList& before, std::string_view& bytes, FrameList& now) {
  std::size_t first = 0, count = 0;
  if (!Keep(before.vertices, bytes, now.vertices, first, count)) return false;
  const auto column = [&](auto add) {
    std::uint32_t value = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      value += static_cast<std::uint32_t>(TakeSigned(bytes));
      add(now.vertices[i], value);
    }
  };
  column([](FrameVertex& vertex, std::uint32_t x) { vertex.x = static_cast<std::int32_t>(x); });
  column([](FrameVertex& vertex, std::uint32_t y) { vertex.y = static_cast<std::int32_t>(y); });
  column([](FrameVertex& vertex, std::uint32_t u) { vertex.texel = u; });
  column([](FrameVertex& vertex, std::uint32_t v) { vertex.texel |= v << 16; });
  std::uint32_t color = 0;
  for (std::size_t i = first; i < first + count; ++i)
    now.vertices[i].color = color ^= TakeNumber(bytes);
  return true;
}

bool TakeIndices(const FrameList& before, std::string_view& bytes, FrameList& now) {
  std::size_t first = 0, count = 0;
  if (!Keep(before.indices, bytes, now.indices, first, count)) return false;
  std::uint32_t index = 0;
  for (std::size_t i = first; i < first + count; ++i)
    now.indices[i] = index += static_cast<std::uint32_t>(TakeSigned(bytes));
  return true;
}

bool TakeCommands(std::string_view& bytes, FrameList& now) {
  const std::uint32_t count = TakeNumber(bytes);
  if (count > bytes.size()) return false;
  now.commands.resize(count);
  for (FrameCommand& command : now.commands) {
    for (std::int32_t* const edge : {&command.left, &command.top, &command.right, &command.bottom})
      *edge = TakeSigned(bytes);
    command.indices = TakeNumber(bytes);
  }
  return true;
}

}  // namespace

std::uint32_t TakeNumber(std::string_view& bytes) {
  std::uint32_t number = 0;
  for (int shift = 0; !bytes.empty() && shift < 32; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= (byte & 0x7FU) << shift;
    if (byte < 0x80) return number;
  }
  return 0;
}

std::optional<DrawnFrame> ReadFrame(const DrawnFrame& before, std::string_view bytes) {
  DrawnFrame now;
  now.width_px = static_cast<std::int32_t>(TakeNumber(bytes));
  now.height_px = static_cast<std::int32_t>(TakeNumber(bytes));
  now.cursor = static_cast<std::uint8_t>(TakeNumber(bytes));
  now.wants_text = TakeNumber(bytes) != 0;
  const std::uint32_t lists = TakeNumber(bytes);
  if (lists > bytes.size()) return std::nullopt;
  now.lists.resize(lists);
  for (std::size_t i = 0; i < lists; ++i) {
    const FrameList known = i < before.lists.size() ? before.lists[i] : FrameList();
    FrameList& list = now.lists[i];
    if (!TakeVertices(known, bytes, list) || !TakeIndices(known, bytes, list) ||
        !TakeCommands(bytes, list)) {
      return std::nullopt;
    }
  }
  if (!bytes.empty()) return std::nullopt;
  return now;
}

}  // namespace traceinject
