// SPDX-License-Identifier: Apache-2.0
// Other processes of the program's Python, such as the workers of a data loader: one is looked at
// at a time, in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "injector/stacks/image_place.h"
#include "injector/stacks/python_process.h"

namespace traceinject {

struct PythonChild {
  std::int64_t pid = 0;
  std::unique_ptr<PythonProcess> process;
  int failures = 0;           // one after another
  std::int64_t again_ns = 0;  // not before that
};

class PythonChildren {
 public:
  static constexpr std::size_t kMax = 512;

  // They run the same interpreter as this process.
  PythonChildren(const PythonProcess& own, std::uint64_t runtime, std::int32_t tid_offset);

  // One that is known already is not added again.
  void Add(std::int64_t pid);
  // The next in turn that is due. Null: there is none.
  PythonChild* Next(std::int64_t now_ns);
  // Whether its threads could be read. One that starts needs seconds until its interpreter is
  // there: after each failure it is left alone for longer, and given up after some. The child may
  // be gone then.
  void Note(PythonChild* child, bool is_read, std::int64_t now_ns);

 private:
  void Find(PythonChild* child) const;

  const PythonLayout layout_;
  const PythonTypes types_;
  const std::uint64_t runtime_;
  const std::int32_t tid_offset_;
  const ImagePlace image_;
  std::vector<PythonChild> children_;
  std::size_t next_ = 0;
};

}  // namespace traceinject
