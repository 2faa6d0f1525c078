// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/report_oracle.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace traceinject {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr double kRounding = 1e-6;

template <std::size_t count>
bool IsOneOf(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Moments, and differences that may go either way.
bool MayBeNegative(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "start_ns",       "end_ns", "time_ns",    "launch_start_ns",
      "origin_unix_ns", "low_ns", "created_ns", "clock_offset_ns"};
  return IsOneOf(name, kNames) || name.ends_with("_low_ns");
}

// Shares of something that they may exceed, as report.proto says.
bool MayExceedOne(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kNames = {"cpu_share", "reached_share",
                                                             "link_share"};
  return IsOneOf(name, kNames);
}

bool IsLengthOrCount(std::string_view name) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "ns",     "count",      "samples", "steps",   "bytes",   "waits",     "calls",
      "judged", "operations", "joined",  "warm_up", "regular", "irregular", "kernels"};
  return (name.ends_with("_ns") && !MayBeNegative(name)) || name.ends_with("_bytes") ||
         name.ends_with("_count") || IsOneOf(name, kNames);
}

std::string WrongNumber(std::string_view name, double value) {
  if (!std::isfinite(value)) return "not a number";
  if ((name == "share" || name.ends_with("_share") || name == "confidence") &&
      (value < -kRounding || (value > 1 + kRounding && !MayExceedOne(name))))
    return "not within 0 and 1";
  if ((name == "percent" || name.ends_with("_percent")) &&
      (value < -kRounding || value > 100 + kRounding))
    return "not within 0 and 100";
  return IsLengthOrCount(name) && value < 0 ? "negative" : "";
}

bool IsControl(char letter) {
  return (static_cast<unsigned char>(letter) < ' ' && letter != '\n') || letter == '\x7f';
}

class FigureCheck {
 public:
  void Walk(const Message& message, const std::string& path) {
    std::vector<const FieldDescriptor*> fields;
    const Reflection& reflection = *message.GetReflection();
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const std::string here = path.empty() ? field->name() : path + "." + field->name();
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        Check(message, *field, field->is_repeated() ? i : -1,
              field->is_repeated() ? fmt::format("{}[{}]", here, i) : here);
      }
    }
  }
  std::string wrong() && { return std::move(wrong_); }

 private:
  // `index`: -1 of a field that is not repeated.
  void Check(const Message& message, const FieldDescriptor& field, int index,
             const std::string& path) {
    const Reflection& r = *message.GetReflection();
    const bool one = index < 0;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Walk(
            one ? r.GetMessage(message, &field) : r.GetRepeatedMessage(message, &field, index),
            path);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return Number(
            field, one ? r.GetDouble(message, &field) : r.GetRepeatedDouble(message, &field, index),
            path);
      case FieldDescriptor::CPPTYPE_INT64:
        return Number(field,
                      static_cast<double>(one ? r.GetInt64(message, &field)
                                              : r.GetRepeatedInt64(message, &field, index)),
                      path);
      case FieldDescriptor::CPPTYPE_STRING:
        return Text(
            one ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, index), path);
      default:
        return;
    }
  }
  void Number(const FieldDescriptor& field, double value, const std::string& path) {
    const std::string wrong = WrongNumber(field.name(), value);
    if (!wrong.empty()) wrong_ += fmt::format("{}: {} is {}\n", path, value, wrong);
  }
  void Text(const std::string& text, const std::string& path) {
    if (std::any_of(text.begin(), text.end(), IsControl))
      wrong_ += fmt::format("{}: control characters in {:?}\n", path, text);
  }

  std::string wrong_;
};

void ExpectEqual(std::string_view what, std::int64_t sum, std::int64_t whole, std::string* wrong) {
  if (sum != whole)
    *wrong += fmt::format("{}: the parts add up to {} and not to {}\n", what, sum, whole);
}

// Percentages that were rounded together.
void ExpectHundred(std::string_view what, double sum, std::string* wrong) {
  if (std::abs(sum - 100) > kRounding)
    *wrong += fmt::format("{}: the percentages add up to {}\n", what, sum);
}

void CheckPartition(std::string_view what, const proto::Partition& p, std::string* wrong) {
  ExpectEqual(what,
              p.compute_ns() + p.exposed_communication_ns() + p.exposed_copy_ns() + p.idle_ns() +
                  p.unrecorded_ns(),
              p.wall_ns(), wrong);
  if (p.wall_ns() > 0)
    ExpectHundred(what,
                  p.compute_percent() + p.exposed_communication_percent() +
                      p.exposed_copy_percent() + p.idle_percent() + p.unrecorded_percent(),
                  wrong);
}

void CheckStep(std::string_view what, const proto::StepSplit& step, std::string* wrong) {
  std::int64_t idle = 0;
  for (const proto::IdlePart& part : step.idle()) idle += part.ns();
  if (step.idle_size() > 0) ExpectEqual(fmt::format("{}.idle", what), idle, step.idle_ns(), wrong);
  const std::int64_t parts = step.compute_ns() + step.exposed_communication_ns() +
                             step.exposed_copy_ns() + step.idle_ns() + step.unrecorded_ns();
  // Lengths of steps that are withheld are 0.
  if (step.length_ns() != 0) ExpectEqual(what, parts, step.length_ns(), wrong);
}

void CheckWaterfall(std::string_view what, const proto::Waterfall& waterfall, std::string* wrong) {
  double percent = 0;
  for (const proto::WaterfallBar& bar : waterfall.bars()) percent += bar.percent();
  if (waterfall.bars_size() > 0) ExpectHundred(what, percent, wrong);
}

void CheckLink(std::string_view what, const proto::RankLink& link, std::string* wrong) {
  if (link.link_share() > 1 && !link.nvls())
    *wrong += fmt::format("{}: {} of what it can carry\n", what, link.link_share());
}

void CheckWindow(std::string_view what, const proto::Window& window, std::string* wrong) {
  if (window.end_ns() < window.start_ns())
    *wrong += fmt::format("{}: from {} back to {}\n", what, window.start_ns(), window.end_ns());
}

}  // namespace

std::string WrongFigures(const Message& message) {
  FigureCheck check;
  check.Walk(message, "");
  return std::move(check).wrong();
}

std::string WrongReport(const proto::Report& report) {
  std::string wrong = WrongFigures(report);
  CheckPartition("run.partition", report.run().partition(), &wrong);
  CheckWindow("run.window", report.run().window(), &wrong);
  for (const proto::DeviceReport& device : report.devices()) {
    CheckPartition(device.label() + " partition", device.partition(), &wrong);
    CheckWindow(device.label() + " window", device.window(), &wrong);
    CheckLink(device.label() + " link", device.nccl().link(), &wrong);
    CheckWaterfall(device.label() + " waterfall", device.waterfall(), &wrong);
  }
  for (const proto::DeviceSteps& steps : report.steps()) {
    CheckStep(steps.label() + " sum", steps.sum(), &wrong);
    CheckStep(steps.label() + " judged_sum", steps.judged_sum(), &wrong);
    CheckStep(steps.label() + " regular_sum", steps.regular_sum(), &wrong);
    for (const proto::StepSplit& step : steps.steps())
      CheckStep(steps.label() + " step", step, &wrong);
  }
  return wrong;
}

std::string WrongText(std::string_view text, std::string_view names) {
  std::string wrong;
  if (std::any_of(text.begin(), text.end(), IsControl)) wrong += "control characters in the text\n";
  for (const std::string_view number : {"nan", "inf"}) {
    if (names.find(number) != std::string_view::npos) continue;
    for (const std::string_view around : {" {} ", " -{} ", " {}%"}) {
      const std::size_t at = text.find(fmt::format(fmt::runtime(around), number));
      if (at != std::string_view::npos)
        wrong += fmt::format("no number: {}\n", text.substr(at < 60 ? 0 : at - 60, 100));
    }
  }
  return wrong;
}

}  // namespace traceinject
