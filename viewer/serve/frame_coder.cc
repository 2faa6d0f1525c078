// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/frame_coder.h"

#include <algorithm>
#include <span>

namespace traceinject {
namespace {

void AddSigned(std::int32_t number, std::string& bytes) {
  const auto bits = static_cast<std::uint32_t>(number);
  AddNumber(bits << 1 ^ (number < 0 ? ~0U : 0U), bytes);
}

// Wraps around, as the reader's sum does.
std::int32_t Difference(std::uint32_t now, std::uint32_t before) {
  return static_cast<std::int32_t>(now - before);
}

// Says which items stay, and returns those that do not.
template <typename Item>
std::span<const Item> AddKept(const std::vector<Item>& before, const std::vector<Item>& now,
                              std::string& bytes) {
  const auto first =
      std::mismatch(before.begin(), before.end(), now.begin(), now.end()).second - now.begin();
  const auto room = static_cast<std::ptrdiff_t>(std::min(before.size(), now.size())) - first;
  const auto last =
      std::mismatch(before.rbegin(), before.rbegin() + room, now.rbegin()).second - now.rbegin();
  const std::span<const Item> changed(now.begin() + first, now.end() - last);
  AddNumber(static_cast<std::uint32_t>(first), bytes);
  AddNumber(static_cast<std::uint32_t>(last), bytes);
  AddNumber(static_cast<std::uint32_t>(changed.size()), bytes);
  return changed;
}

template <typename Value>
void AddColumn(std::span<const FrameVertex> vertices, Value value, std::string& bytes) {
  std::uint32_t before = 0;
  for (const FrameVertex& vertex : vertices) {
    const auto now = static_cast<std::uint32_t>(value(vertex));
    AddSigned(Difference(now, before), bytes);
    before = now;
  }
}

void AddVertices(const FrameList& before, const FrameList& now, std::string& bytes) {
  const auto changed = AddKept(before.vertices, now.vertices, bytes);
  AddColumn(
      changed, [](const FrameVertex& vertex) { return vertex.x; }, bytes);
  AddColumn(
      changed, [](const FrameVertex& vertex) { return vertex.y; }, bytes);
  AddColumn(
      changed, [](const FrameVertex& vertex) { return vertex.texel & 0xFFFFU; }, bytes);
  AddColumn(
      changed, [](const FrameVertex& vertex) { return vertex.texel >> 16; }, bytes);
  std::uint32_t color = 0;
  for (const FrameVertex& vertex : changed) {
    AddNumber(vertex.color ^ color, bytes);
    color = vertex.color;
  }
}

void AddIndices(const FrameList& before, const FrameList& now, std::string& bytes) {
  std::uint32_t last = 0;
  for (const std::uint32_t index : AddKept(before.indices, now.indices, bytes)) {
    AddSigned(Difference(index, last), bytes);
    last = index;
  }
}

void AddCommands(const FrameList& list, std::string& bytes) {
  AddNumber(static_cast<std::uint32_t>(list.commands.size()), bytes);
  for (const FrameCommand& command : list.commands) {
    for (const std::int32_t edge : {command.left, command.top, command.right, command.bottom})
      AddSigned(edge, bytes);
    AddNumber(command.indices, bytes);
  }
}

}  // namespace

void AddNumber(std::uint32_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7FU) | 0x80U);
  bytes += static_cast<char>(number);
}

std::string CodeFrame(const DrawnFrame& before, const DrawnFrame& now) {
  static const FrameList kNothing;
  std::string bytes;
  AddNumber(static_cast<std::uint32_t>(now.width_px), bytes);
  AddNumber(static_cast<std::uint32_t>(now.height_px), bytes);
  AddNumber(now.cursor, bytes);
  AddNumber(now.wants_text ? 1 : 0, bytes);
  AddNumber(static_cast<std::uint32_t>(now.lists.size()), bytes);
  for (std::size_t i = 0; i < now.lists.size(); ++i) {
    const FrameList& known = i < before.lists.size() ? before.lists[i] : kNothing;
    AddVertices(known, now.lists[i], bytes);
    AddIndices(known, now.lists[i], bytes);
    AddCommands(now.lists[i], bytes);
  }
  return bytes;
}

}  // namespace traceinject
