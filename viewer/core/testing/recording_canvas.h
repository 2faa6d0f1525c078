// SPDX-License-Identifier: Apache-2.0
// For tests: a canvas that can be asked what was drawn on it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/view/style/canvas.h"
#include "analyzer/view/style/sizes.h"

namespace traceinject {

// Remembers what was drawn. A character is half as wide as it is high.
class RecordingCanvas : public Canvas {
 public:
  explicit RecordingCanvas(float font_px = Sizes::kFontPx) : font_px_(font_px) {}

  struct Shape {
    Box box;
    Rgba color = 0;
    std::string text;  // empty: a filled box
  };
  void Fill(const Box& box, Rgba color) override { shapes.push_back({box, color, ""}); }
  void Outline(const Box& box, Rgba color, float) override { outlines.push_back({box, color, ""}); }
  void Text(float x, float y, Rgba color, std::string_view text, const Box& clip) override {
    shapes.push_back({{x, y, x + TextWidth(text), y + TextHeight()}, color, std::string(text)});
    clipped.push_back({clip, color, std::string(text)});
    EXPECT_LE(clip.left, x);
    EXPECT_FALSE(clip.right < clip.left) << text;
  }
  float TextWidth(std::string_view text) const override {
    return font_px_ / 2 * static_cast<float>(text.size());
  }
  float TextHeight() const override { return font_px_; }
  void Clip(const Box&) override {
    EXPECT_EQ(clips_open++, 0);
    ++clips;
  }
  void Unclip() override { EXPECT_EQ(--clips_open, 0); }

  std::vector<Shape> WithColor(Rgba color, const Box& inside) const {
    std::vector<Shape> found;
    for (const Shape& shape : shapes) {
      if (shape.color == color && shape.text.empty() && shape.box.top >= inside.top &&
          shape.box.bottom <= inside.bottom) {
        found.push_back(shape);
      }
    }
    return found;
  }
  bool HasText(std::string_view text) const {
    for (const Shape& shape : shapes) {
      if (shape.text == text) return true;
    }
    return false;
  }

  std::vector<Shape> shapes, outlines;
  std::vector<Shape> clipped;  // of each text what it is cut to
  int clips_open = 0, clips = 0;

 private:
  float font_px_;
};

}  // namespace traceinject
