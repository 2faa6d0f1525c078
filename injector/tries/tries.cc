// SPDX-License-Identifier: Apache-2.0
#include "injector/tries/tries.h"

#include <stdlib.h>

#include <algorithm>
#include <string>

#include "injector/base/loaded_libraries.h"
#include "injector/options/try_list.h"
#include "injector/tries/processors.h"
#include "injector/tries/python_levers.h"
#include "injector/tries/tried.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

// A value that is empty takes the variable away.
void SetVariable(const TryWish& wish, const std::string& name) {
  const char* const old = getenv(name.c_str());
  const std::string before = old == nullptr ? "not set" : old;
  if (wish.value.empty()) {
    unsetenv(name.c_str());
    TellTried(wish.lever, 1, name + " is not set, was " + before);
  } else if (setenv(name.c_str(), wish.value.c_str(), 1) == 0) {
    TellTried(wish.lever, 1,
              before == wish.value ? name + "=" + wish.value
                                   : name + "=" + wish.value + ", was " + before);
  }
}

// Whoever started the program preloaded it, or did not.
void LookForPreloaded(const TryWish& wish) {
  const std::string name = wish.value.substr(wish.value.rfind('/') + 1);
  const std::string path =
      FindLoaded(name.starts_with("lib") ? name.c_str() : ("lib" + name).c_str());
  if (path.empty())
    TellTried(wish.lever, 0, "it was not preloaded");
  else
    TellTried(wish.lever, 1, path);
}

}  // namespace

void StartTries() {
  const char* const text = getenv("TRACEINJECT_TRY");
  std::vector<TryWish> wishes, of_python;
  if (text == nullptr || !ParseTryList(text, &wishes) || wishes.empty()) return;
  ExpectTries(wishes);
  for (const TryWish& wish : wishes) {
    const TryLever* const lever = FindTryLever(wish.lever);
    if (lever == nullptr)
      SetVariable(wish, wish.lever.substr(kTryVariable.size()));
    else if (lever->by == TryBy::kVariable)
      SetVariable(wish, std::string(lever->target));
    else if (lever->by == TryBy::kPreload)
      LookForPreloaded(wish);
    else if (lever->by == TryBy::kProcessors)
      BindToProcessors(wish);
    else
      of_python.push_back(wish);
  }
  if (!of_python.empty()) OfferLevers(std::move(of_python));
}

}  // namespace traceinject
