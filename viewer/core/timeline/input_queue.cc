// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/input_queue.h"

#include <utility>

namespace traceinject {
namespace {

// Takes events for one frame, as long as each still fits to those before it.
class FrameMaker {
 public:
  FrameMaker(const Modifiers& held, const MouseState& mouse) {
    input_.held = held;
    input_.mouse = mouse;
  }

  // Keys are told first: one that came after the mouse did something waits.
  bool Take(const KeyPress& key) {
    if (typed_ || moved_ || pressed_ || turned_) return false;
    input_.keys.push_back(key);
    return true;
  }
  // A key that comes after it, perhaps the same one again, waits.
  bool Take(const TypedText& typed) {
    if (typed_ || moved_ || pressed_ || turned_) return false;
    input_.text = typed.text;
    typed_ = true;
    return true;
  }
  // What the mouse did was done with what was held then.
  bool Take(const Modifiers& held) {
    if (held == input_.held) return true;
    if (typed_ || moved_ || pressed_ || turned_) return false;
    input_.held = held;
    return true;
  }
  // Many moves are one, but what was pressed or turned was so where the mouse was then.
  bool Take(const MousePlace& place) {
    if (place == input_.mouse.place) return true;
    if (pressed_ || turned_) return false;
    input_.mouse.place = place;
    moved_ = true;
    return true;
  }
  // One change a frame: the next might be of the same button.
  bool Take(const MouseButton& change) {
    bool& down = input_.mouse.down[change.button];
    if (down == change.down) return true;
    if (pressed_ || turned_) return false;
    down = change.down;
    input_.mouse.twice = change.twice;
    pressed_ = true;
    return true;
  }
  bool Take(const WheelSteps& steps) {
    if (pressed_) return false;
    input_.wheel.y += steps.y;
    input_.wheel.x += steps.x;
    turned_ = true;
    return true;
  }

  FrameInput Done() { return std::move(input_); }

 private:
  FrameInput input_;
  bool typed_ = false, moved_ = false, pressed_ = false, turned_ = false;
};

}  // namespace

void InputQueue::Set(const MouseButton& button) {
  if (button.button < kMouseButtons) events_.emplace_back(button);
}

FrameInput InputQueue::Next() {
  FrameMaker frame(held_, mouse_);
  const auto take = [&frame](const auto& event) { return frame.Take(event); };
  while (!events_.empty() && std::visit(take, events_.front())) events_.pop_front();
  FrameInput input = frame.Done();
  held_ = input.held;
  mouse_ = input.mouse;
  return input;
}

}  // namespace traceinject
