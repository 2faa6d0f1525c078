// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/watch_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

#include "analyzer/commands/shared/sql_rows.h"
#include "analyzer/common/json_text.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_layout.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/verdict_text.h"
#include "schemas/counters.h"

namespace traceinject {
namespace {

constexpr char kNone[] = "-";  // not known

const proto::DeviceSteps* StepsOf(const proto::Report& report, const proto::DeviceReport& device) {
  for (const proto::DeviceSteps& steps : report.steps()) {
    // Without confidence the whole window was taken for one step.
    if (steps.label() == device.label() && steps.confidence() > 0) return &steps;
  }
  return nullptr;
}

// What stands in a row; empty: not known.
struct Figures {
  const proto::DeviceReport* device = nullptr;
  std::optional<std::int64_t> step_ns, data_wait_ns;  // of a mean step
  std::optional<double> samples_per_second, busy_share, communication_share,
      exposed_communication_share, memory_bytes, sm_clock_mhz, power_w;
  std::optional<double> sm_active, tensor_active, dram_active;  // by hardware counters
};

// Their sum, if all are known.
std::optional<double> MeasuredSum(const proto::MeasuredUse& use,
                                  std::initializer_list<CounterId> counters) {
  double sum = 0;
  for (const CounterId id : counters) {
    const auto found = std::find_if(
        use.values().begin(), use.values().end(),
        [&](const proto::MeasuredShare& value) { return value.name() == InfoOf(id).name; });
    if (found == use.values().end()) return std::nullopt;
    sum += found->share();
  }
  return sum;
}

void AddCounters(const proto::MeasuredUse& use, Figures& to) {
  to.sm_active = MeasuredSum(use, {CounterId::kSmActive});
  to.tensor_active = MeasuredSum(use, {CounterId::kTensorActive});
  if (!to.tensor_active) to.tensor_active = MeasuredSum(use, {CounterId::kTensorHmma});
  to.dram_active = MeasuredSum(use, {CounterId::kDram});
  if (!to.dram_active)
    to.dram_active = MeasuredSum(use, {CounterId::kDramRead, CounterId::kDramWrite});
}

std::optional<std::int64_t> DataWaitOf(const proto::DeviceSteps& steps) {
  if (steps.judged() == 0) return std::nullopt;
  std::int64_t waited_ns = 0;
  for (const proto::IdlePart& part : steps.judged_sum().idle()) {
    if (part.cause() == "data wait") waited_ns += part.ns();
  }
  return waited_ns / steps.judged();
}

Figures FiguresOf(const proto::Report& report, const proto::DeviceReport& device) {
  Figures figures;
  figures.device = &device;
  if (const proto::DeviceSteps* steps = StepsOf(report, device)) {
    if (steps->has_judged_mean_ns()) figures.step_ns = steps->judged_mean_ns();
    figures.data_wait_ns = DataWaitOf(*steps);
  }
  if (device.samples().has_per_second()) figures.samples_per_second = device.samples().per_second();
  if (device.has_partition() && device.partition().wall_ns() > 0) {
    const proto::Partition& parts = device.partition();
    figures.busy_share = parts.busy_share();
    figures.communication_share =
        static_cast<double>(parts.communication_ns()) / static_cast<double>(parts.wall_ns());
    figures.exposed_communication_share = parts.exposed_communication_share();
  }
  const proto::Telemetry& telemetry = device.telemetry();
  if (telemetry.has_memory_used_bytes())
    figures.memory_bytes = telemetry.memory_used_bytes().most();
  if (telemetry.has_busy_sm_clock_mhz()) {
    figures.sm_clock_mhz = telemetry.busy_sm_clock_mhz();
  } else if (telemetry.has_sm_clock_mhz()) {
    figures.sm_clock_mhz = telemetry.sm_clock_mhz().mean();
  }
  if (telemetry.has_power_w()) figures.power_w = telemetry.power_w().mean();
  AddCounters(device.measured_use(), figures);
  return figures;
}

// Of ranks that work together, the one that waits least is the one that is waited for.
std::vector<Figures> WorstFirst(const proto::Report& report) {
  std::vector<Figures> rows;
  for (const proto::DeviceReport& device : report.devices())
    rows.push_back(FiguresOf(report, device));
  std::stable_sort(rows.begin(), rows.end(), [](const Figures& a, const Figures& b) {
    return a.exposed_communication_share.value_or(1) < b.exposed_communication_share.value_or(1);
  });
  return rows;
}

std::string Time(const std::optional<std::int64_t>& ns) { return ns ? FormatTime(*ns) : kNone; }
std::string Share(const std::optional<double>& share) { return share ? Percent(*share) : kNone; }
std::string Number(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.4g}{}", *value, unit) : kNone;
}

struct Column {
  const char* title;
  std::string (*text)(const Figures& row);
  bool only_if_known = false;  // it is left out where no GPU has the figure
};
constexpr Column kColumns[] = {
    {"", [](const Figures& row) { return row.device->label(); }},
    {"step", [](const Figures& row) { return Time(row.step_ns); }},
    {"samples/s", [](const Figures& row) { return Number(row.samples_per_second, ""); }},
    {"busy", [](const Figures& row) { return Share(row.busy_share); }},
    {"comm", [](const Figures& row) { return Share(row.communication_share); }},
    {"exposed", [](const Figures& row) { return Share(row.exposed_communication_share); }},
    {"data wait", [](const Figures& row) { return Time(row.data_wait_ns); }},
    {"SMs", [](const Figures& row) { return Share(row.sm_active); }, true},
    {"tensor", [](const Figures& row) { return Share(row.tensor_active); }, true},
    {"DRAM", [](const Figures& row) { return Share(row.dram_active); }, true},
    {"memory",
     [](const Figures& row) {
       return row.memory_bytes ? FormatBytes(static_cast<std::int64_t>(*row.memory_bytes)) : kNone;
     }},
    {"SM clock", [](const Figures& row) { return Number(row.sm_clock_mhz, " MHz"); }},
    {"power", [](const Figures& row) { return Number(row.power_w, " W"); }},
};

// The first `shown` rows under their titles.
TableText TableOf(const std::vector<Figures>& rows, std::size_t shown) {
  TableText table;
  table.rows.resize(shown + 1);
  for (const Column& column : kColumns) {
    const bool is_known = std::any_of(
        rows.begin(), rows.end(), [&](const Figures& row) { return column.text(row) != kNone; });
    if (column.only_if_known && !is_known) continue;
    table.align_right.push_back(!table.align_right.empty());
    table.rows[0].emplace_back(column.title);
    for (std::size_t i = 0; i < shown; ++i) table.rows[i + 1].push_back(column.text(rows[i]));
  }
  return table;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string VerdictLine(const proto::Verdict& verdict) {
  if (verdict.label().empty()) return "verdict: none";
  std::string text = "verdict: " + TitleOn(verdict);
  if (!verdict.abstained().empty()) return text + ": " + verdict.abstained();
  if (!verdict.has_saved_ns()) return text + ": " + FasterKernelsText(verdict);
  return text + fmt::format(": without it, a {} would take {} instead of {}",
                            verdict.steps() > 0 ? "step" : "window like this",
                            FormatTime(verdict.new_step_ns()),
                            FormatTime(verdict.step_ns() - verdict.recording_ns()));
}

// The line that the GPU waited for most; where it waited for none, the one that was seen most.
const proto::CodeRow* HottestLine(const proto::DeviceReport& device) {
  const proto::CodeRow* hottest = nullptr;
  for (const proto::CodeRow& row : device.code()) {
    const auto heat = [](const proto::CodeRow& of) {
      return std::tuple(of.idle_ns(), of.own(), of.samples());
    };
    if (hottest == nullptr || heat(row) > heat(*hottest)) hottest = &row;
  }
  return hottest;
}

// That of the GPU that is judged; null: no stacks.
struct Hottest {
  const proto::CodeRow* row = nullptr;
  std::int64_t steps = 1;
  bool per_step = false;

  std::int64_t ns(std::int64_t all_ns) const { return all_ns / steps; }
};
Hottest HottestOf(const proto::Report& report) {
  for (const proto::DeviceReport& device : report.devices()) {
    if (const proto::CodeRow* row = HottestLine(device))
      return {row, std::max<std::int64_t>(1, device.code_steps()),
              StepsOf(report, device) != nullptr};
  }
  return {};
}

std::string HottestSentence(const Hottest& hottest) {
  const proto::CodeRow& row = *hottest.row;
  const char* per = hottest.per_step ? " per step" : "";
  if (row.idle_ns() > 0)
    return fmt::format("hottest line: {}: the GPU idles {}{} there ({})", row.place(),
                       FormatTime(hottest.ns(row.idle_ns())), per, row.cause());
  return fmt::format("hottest line: {}: {}{} of host time, no GPU idle time", row.place(),
                     FormatTime(hottest.ns(row.host_ns())), per);
}

// What is below the table: the verdict, what it rests on, what to change first, and what was lost.
std::vector<std::string> Conclusion(const proto::Report& report, std::size_t columns) {
  const proto::Verdict& verdict = report.verdict();
  TextPage page(false, columns);
  page.Line("");
  page.Sentence(VerdictLine(verdict), 0);
  if (const Hottest hottest = HottestOf(report); hottest.row != nullptr)
    page.Sentence(HottestSentence(hottest));
  if (verdict.evidence_size() > 0) page.Sentence(verdict.evidence(0).text());
  if (verdict.levers_size() > 0) page.Sentence("try: " + SettingText(verdict.levers(0)));
  // The grade is that of a recording without an end, as every one is that is being written.
  if (report.health().records_lost() > 0)
    page.Sentence(fmt::format("records lost: {} of {}; analyze info explains why",
                              FormatCount(report.health().records_lost()),
                              FormatCount(report.health().records_seen())),
                  0);
  return LinesOf(page.text());
}

std::int64_t EndUnix(const proto::Report& report) {
  return report.run().origin_unix_ns() + report.run().window().end_ns();
}

std::string Title(const WatchFrame& frame) {
  const proto::Run& run = frame.report.run();
  const std::string window = FormatTime(run.window().end_ns() - run.window().start_ns());
  std::string text =
      fmt::format("{}  the last {} of {} on {}", FormatDate(frame.now_unix_ns), window,
                  Plural(run.process_count(), "process", "es"), Plural(run.device_count(), "GPU"));
  if (frame.ended) return text + ", which ended";
  return text + fmt::format(", up to {} ago", FormatTime(std::max<std::int64_t>(
                                                  frame.now_unix_ns - EndUnix(frame.report), 0)));
}

std::string Joined(std::vector<std::string> lines, const FrameSize& size) {
  if (size.lines > 0 && lines.size() > size.lines) lines.resize(size.lines);
  std::string text;
  for (const std::string& line : lines) {
    const std::string shown = Printable(line);
    text +=
        (shown.size() > size.columns ? ShortenMiddle(shown, std::max<std::size_t>(size.columns, 8))
                                     : shown) +
        "\n";
  }
  return text;
}

std::string JsonNumber(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "null";
}
std::string JsonNumber(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string JsonRow(const Figures& row) {
  return fmt::format(
      "{{\"label\": {}, \"step_ns\": {}, \"samples_per_second\": {}, \"busy_share\": {}, "
      "\"communication_share\": {}, \"exposed_communication_share\": {}, \"data_wait_ns\": {}, "
      "\"memory_used_bytes\": {}, \"sm_clock_mhz\": {}, \"power_w\": {}, \"sm_active\": {}, "
      "\"tensor_active\": {}, \"dram_active\": {}}}",
      JsonString(row.device->label()), JsonNumber(row.step_ns), JsonNumber(row.samples_per_second),
      JsonNumber(row.busy_share), JsonNumber(row.communication_share),
      JsonNumber(row.exposed_communication_share), JsonNumber(row.data_wait_ns),
      JsonNumber(row.memory_bytes), JsonNumber(row.sm_clock_mhz), JsonNumber(row.power_w),
      JsonNumber(row.sm_active), JsonNumber(row.tensor_active), JsonNumber(row.dram_active));
}

}  // namespace

std::string FrameText(const WatchFrame& frame, const FrameSize& size) {
  std::vector<std::string> lines = {Title(frame)};
  if (frame.report.devices().empty()) {
    lines.emplace_back("no GPU work in that time");
    return Joined(std::move(lines), size);
  }
  const std::vector<Figures> rows = WorstFirst(frame.report);
  const std::vector<std::string> conclusion = Conclusion(frame.report, size.columns);
  std::size_t shown = rows.size();
  // The title, the table's head and what is left out take a line each.
  constexpr std::size_t kOtherLines = 3;
  if (size.lines > 0)
    shown = std::min(shown, size.lines - std::min(size.lines - 1, conclusion.size() + kOtherLines));
  for (std::string& line : LinesOf(FormatTable(TableOf(rows, shown))))
    lines.push_back(std::move(line));
  if (shown < rows.size())
    lines.push_back(fmt::format("and {} more that wait longer for others", rows.size() - shown));
  lines.insert(lines.end(), conclusion.begin(), conclusion.end());
  return Joined(std::move(lines), size);
}

std::string FrameJson(const WatchFrame& frame) {
  const proto::Report& report = frame.report;
  const proto::Verdict& verdict = report.verdict();
  std::string rows;
  for (const Figures& row : WorstFirst(report)) rows += (rows.empty() ? "" : ", ") + JsonRow(row);
  const auto saved_ns =
      verdict.has_saved_ns() ? std::optional<std::int64_t>(verdict.saved_ns()) : std::nullopt;
  const Hottest hottest = HottestOf(report);
  const std::string place = hottest.row == nullptr ? "null" : JsonString(hottest.row->place());
  const auto idle_ns = hottest.row == nullptr
                           ? std::nullopt
                           : std::optional<std::int64_t>(hottest.ns(hottest.row->idle_ns()));
  return fmt::format(
      "{{\"time_unix_ns\": {}, \"recorded_until_unix_ns\": {}, \"window_ns\": {}, \"late_ns\": {}, "
      "\"ended\": {}, "
      "\"processes\": {}, \"verdict\": {}, \"saved_ns\": {}, \"hottest_place\": {}, "
      "\"hottest_idle_ns\": {}, \"records_lost\": {}, \"devices\": "
      "[{}]}}\n",
      frame.now_unix_ns, EndUnix(report),
      report.run().window().end_ns() - report.run().window().start_ns(), frame.late_ns,
      frame.ended ? "true" : "false", report.run().process_count(), JsonString(LabelOn(verdict)),
      JsonNumber(saved_ns), place, JsonNumber(idle_ns), report.health().records_lost(), rows);
}

}  // namespace traceinject
