// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/timeline_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kShownBytes = 20;  // of what was found instead

// Where the object that begins at `text` ends, found as more and more of it is there.
class ObjectScanner {
 public:
  // True: the object ends before at().
  bool Scan(const char* text, std::size_t size) {
    for (; at_ < size; ++at_) {
      const char c = text[at_];
      if (in_string_) {
        if (c == '\\' && !escaped_) {
          escaped_ = true;
          continue;
        }
        in_string_ = c != '"' || escaped_;
        escaped_ = false;
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if ((c == '}' || c == ']') && --depth_ == 0) {
        ++at_;
        return true;
      }
    }
    return false;
  }
  std::size_t at() const { return at_; }

 private:
  std::size_t at_ = 0;
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace

Error TimelineObjects::Broken(std::string_view what) const {
  return Error{fmt::format("{}:{}: {}", source_.path(), line_, what)};
}

Result<bool> TimelineObjects::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  buffer_.resize(std::max(buffer_.size(), end_ + kBlock + kPadding));
  const auto count = source_.Read(buffer_.data() + end_, kBlock);
  if (!count.ok()) return Error{count.error()};
  end_ += count.value();
  return count.value() > 0;
}

Result<bool> TimelineObjects::FindObject() {
  while (true) {
    if (begin_ == end_) {
      const auto more = Fill();
      if (!more.ok()) return Error{more.error()};
      if (more.value()) continue;
      if (in_list_ && !ended_) return Broken("the list is not closed: the file is truncated");
      return false;
    }
    const char c = buffer_[begin_];
    line_ += c == '\n' ? 1 : 0;
    if (c == '{' && !ended_) return true;
    if (c == '[' && !in_list_) {
      in_list_ = true;
    } else if (c == ']' && in_list_ && !ended_) {
      ended_ = true;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',') {
      std::string_view found(buffer_.data() + begin_, std::min(kShownBytes, end_ - begin_));
      found = found.substr(0, found.find_first_of(" \t\r\n,"));
      return Broken(
          fmt::format("expected an object, {{...}}, found {}", Printable(std::string(found))));
    }
    ++begin_;
  }
}

Result<std::size_t> TimelineObjects::MeasureObject() {
  ObjectScanner scanner;
  while (!scanner.Scan(buffer_.data() + begin_, end_ - begin_)) {
    if (end_ - begin_ > kLongest)
      return Broken("an object does not end within 1 MiB: a brace or a quote is missing");
    const auto more = Fill();
    if (!more.ok()) return Error{more.error()};
    if (!more.value()) return Broken("an object is not closed: the file is truncated");
  }
  return scanner.at();
}

Result<std::optional<TimelineObject>> TimelineObjects::Next() {
  const auto found = FindObject();
  if (!found.ok()) return Error{found.error()};
  if (!found.value()) return std::optional<TimelineObject>();
  const auto length = MeasureObject();
  if (!length.ok()) return Error{length.error()};
  const TimelineObject object{{buffer_.data() + begin_, length.value()}, line_};
  line_ += static_cast<std::uint64_t>(std::count(object.text.begin(), object.text.end(), '\n'));
  begin_ += length.value();
  return std::optional(object);
}

}  // namespace traceinject
