// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/style/fit_text.h"

#include <algorithm>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxBytes = 512;
constexpr std::string_view kDots = "...";

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

std::string_view WholeCharacters(std::string_view text, std::size_t bytes) {
  if (bytes >= text.size()) return text;
  while (bytes > 0 && ContinuesCharacter(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string Safe(std::string_view text) {
  text = WholeCharacters(text, kMaxBytes);
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return plain ? std::string(text) : Printable(text);
}

std::string_view Fitting(const Canvas& canvas, std::string_view text, float room_px) {
  if (canvas.TextWidth(text) <= room_px) return text;
  std::size_t fits = 0, too_long = text.size();
  while (too_long - fits > 1) {
    const std::size_t middle = fits + (too_long - fits) / 2;
    (canvas.TextWidth(WholeCharacters(text, middle)) <= room_px ? fits : too_long) = middle;
  }
  return WholeCharacters(text, fits);
}

}  // namespace

bool FitsWhole(const Canvas& canvas, std::string_view text, float room_px) {
  return text.size() <= kMaxBytes && canvas.TextWidth(Safe(text)) <= room_px;
}

std::string FitTextWithDots(const Canvas& canvas, std::string_view text, float room_px) {
  const std::string safe = Safe(text);
  if (text.size() <= kMaxBytes && canvas.TextWidth(safe) <= room_px) return safe;
  const std::string_view start = Fitting(canvas, safe, room_px - canvas.TextWidth(kDots));
  return start.empty() ? "" : std::string(start).append(kDots);
}

std::string FitEndWithDots(const Canvas& canvas, std::string_view text, float room_px) {
  const std::string safe = Safe(text);
  if (text.size() <= kMaxBytes && canvas.TextWidth(safe) <= room_px) return safe;
  const float room = room_px - canvas.TextWidth(kDots);
  std::string_view end = safe;
  while (!end.empty() && canvas.TextWidth(end) > room) {
    end.remove_prefix(1);
    while (!end.empty() && ContinuesCharacter(end.front())) end.remove_prefix(1);
  }
  return end.empty() ? "" : std::string(kDots).append(end);
}

}  // namespace traceinject
