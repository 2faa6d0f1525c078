// SPDX-License-Identifier: Apache-2.0
// Two callables of hooks.py that learn of the calls of a function of the program's:
//   before(start_ns, args) -> whether after() is to be called; null: it is. A function of C: it is,
//     and where our Python may not run by then (MayRun()) that function, without arguments, instead
//   after(start_ns, end_ns, args, result, returned); not `returned`: it raised, `result` is None
// `args` is the tuple of those given by position. Null: none.
//
// What they raise ends here, but for what the program's signal handlers raise meanwhile: that
// passes, as if it had been raised inside the call.
#pragma once

#include <cstdint>

#include "injector/base/clock.h"
#include "injector/python/interpreter.h"
#include "injector/python/unseen.h"

namespace traceinject {

struct Observer {
  PyObject* before = nullptr;
  PyObject* after = nullptr;
  bool even_seen = false;  // also where the program's tracers see them
};

// Keeps both alive for good; None is null.
Observer MakeObserver(const Interpreter& python, PyObject* before, PyObject* after, bool even_seen);

// One call.
class Observed {
 public:
  // `args` lives as long.
  Observed(const Interpreter& python, const Observer& observer, PyObject* args)
      : python_(python), observer_(observer), args_(args) {}
  ~Observed() {
    if (answer_ != nullptr) python_.Py_DecRef(answer_);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  // call() -> the result, null with an exception.
  template <typename Call>
  PyObject* Make(Call call) {
    start_ns_ = NowNs();
    if (!Begin()) return nullptr;
    PyObject* result = call();
    return wanted_ ? End(result, NowNs()) : result;
  }

 private:
  // False: an exception of the program's is set.
  bool Begin();
  PyObject* End(PyObject* result, std::int64_t end_ns);
  // False: an exception of the program's is set.
  bool Tell(std::int64_t end_ns, PyObject* result, PyObject* returned) const;
  bool Undo() const;
  void TellOfError(std::int64_t end_ns) const;

  const Interpreter& python_;
  const Observer& observer_;
  PyObject* const args_;
  PyObject* answer_ = nullptr;  // of observer_.before
  std::int64_t start_ns_ = 0;
  bool wanted_ = true;
};

}  // namespace traceinject
