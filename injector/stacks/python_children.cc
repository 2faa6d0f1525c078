// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/python_children.h"

#include <algorithm>

namespace traceinject {

PythonChildren::PythonChildren(const PythonProcess& own, std::uint64_t runtime,
                               std::int32_t tid_offset)
    : layout_(own.layout()),
      types_(own.types()),
      runtime_(runtime),
      tid_offset_(tid_offset),
      image_(runtime) {}

void PythonChildren::Add(std::int64_t pid) {
  const auto same = [pid](const PythonChild& child) { return child.pid == pid; };
  if (children_.size() >= kMax || std::any_of(children_.begin(), children_.end(), same)) return;
  children_.push_back({pid, nullptr});
  Find(&children_.back());
}

// Where it has its interpreter: elsewhere after it has started its program than before.
void PythonChildren::Find(PythonChild* child) const {
  const auto pid = static_cast<pid_t>(child->pid);
  const auto shift = image_.ShiftIn(pid);
  if (!shift) return;
  const auto there = [&](std::uint64_t address) {
    return address + static_cast<std::uint64_t>(*shift);
  };
  child->process = std::make_unique<PythonProcess>(
      ProcessMemory(pid), layout_,
      PythonTypes{there(types_.code), there(types_.text), there(types_.bytes)}, there(runtime_),
      tid_offset_);
}

PythonChild* PythonChildren::Next(std::int64_t now_ns) {
  for (std::size_t i = 0; i < children_.size(); ++i) {
    PythonChild& child = children_[next_++ % children_.size()];
    if (child.again_ns <= now_ns) return &child;
  }
  return nullptr;
}

void PythonChildren::Note(PythonChild* child, bool is_read, std::int64_t now_ns) {
  constexpr std::int64_t kFirstRestNs = 50'000'000, kMaxDoubled = 6;
  constexpr int kMaxFailures = 20;  // in a minute
  if (is_read) {
    child->failures = 0;
    return;
  }
  if (++child->failures > kMaxFailures) {
    children_.erase(children_.begin() + (child - children_.data()));
    return;
  }
  child->again_ns =
      now_ns + (kFirstRestNs << std::min<std::int64_t>(child->failures - 1, kMaxDoubled));
  Find(child);
}

}  // namespace traceinject
