// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/failing_calls.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/fake_gpu/simulator/settings.h"

namespace traceinject::fake {
namespace {

struct FailingCalls {
  std::map<std::string, long, std::less<>> from;  // function, first call that fails
  std::mutex mutex;
  std::map<std::string, long, std::less<>> calls;

  FailingCalls() {
    const std::string setting = SettingText("FAKE_CUPTI_FAIL", "");
    for (std::string_view rest = setting; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(one.size() < rest.size() ? one.size() + 1 : rest.size());
      const std::size_t colon = one.find(':');
      from[std::string(one.substr(0, colon))] =
          colon == std::string_view::npos ? 1 : std::atol(one.data() + colon + 1);
    }
  }

  long FirstThatFails(std::string_view function) const {
    for (const std::string_view name : {function, std::string_view("all")}) {
      if (const auto found = from.find(name); found != from.end()) return found->second;
    }
    return 0;
  }
};

}  // namespace

bool Fails(const char* function) {
  static auto* failing = new FailingCalls;
  const long first = failing->FirstThatFails(function);
  if (first == 0) return false;
  std::lock_guard lock(failing->mutex);
  return ++failing->calls[function] >= first;
}

}  // namespace traceinject::fake
