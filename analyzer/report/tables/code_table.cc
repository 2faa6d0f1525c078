// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

struct CodeTableRow {
  const proto::DeviceReport& device;
  const proto::CodeRow& row;
};

constexpr ColumnOf<CodeTableRow> kIdle = {
    {"idle_ns", "GPU idle", Unit::kTime, Shown::kAlways,
     "the GPU did nothing meanwhile, in the judged steps"},
    [](const CodeTableRow& at) { return Cell(at.row.idle_ns()); }};
constexpr ColumnOf<CodeTableRow> kIdleLow = {
    {"idle_low_ns", "at least", Unit::kTime, Shown::kOnRequest, "lower end of its 95 % interval"},
    [](const CodeTableRow& at) { return Cell(at.row.idle_low_ns()); }};
constexpr ColumnOf<CodeTableRow> kIdleHigh = {
    {"idle_high_ns", "at most", Unit::kTime, Shown::kOnRequest, "upper end of its 95 % interval"},
    [](const CodeTableRow& at) { return Cell(at.row.idle_high_ns()); }};
constexpr ColumnOf<CodeTableRow> kCause = {
    {"cause", "cause", Unit::kText, Shown::kIfItFits, "main cause of that idle time"},
    [](const CodeTableRow& at) { return TextIfAny(at.row.cause()); }};
constexpr ColumnOf<CodeTableRow> kHost = {
    {"host_ns", "host", Unit::kTime, Shown::kIfItFits,
     "host time at it, with what it called of libraries: samples times their distance"},
    [](const CodeTableRow& at) { return CellIf(at.row.has_host_ns(), at.row.host_ns()); }};
constexpr ColumnOf<CodeTableRow> kHostTotal = {
    {"host_total_ns", "host total", Unit::kTime, Shown::kIfItFits, "with all that it called"},
    [](const CodeTableRow& at) {
      return CellIf(at.row.has_host_total_ns(), at.row.host_total_ns());
    }};
constexpr ColumnOf<CodeTableRow> kHostSelf = {
    {"host_self_ns", "host self", Unit::kTime, Shown::kOnRequest, "as the innermost Python frame"},
    [](const CodeTableRow& at) {
      return CellIf(at.row.has_host_self_ns(), at.row.host_self_ns());
    }};
constexpr ColumnOf<CodeTableRow> kWaits = {
    {"wait_ns", "waits", Unit::kTime, Shown::kIfRowsDiffer, "in calls that wait for the GPU"},
    [](const CodeTableRow& at) { return Cell(at.row.wait_ns()); }};
constexpr ColumnOf<CodeTableRow> kKernels = {
    {"kernel_ns", "kernels", Unit::kTime, Shown::kIfItFits,
     "GPU time of what it launched, from a share of the launches"},
    [](const CodeTableRow& at) { return Cell(at.row.kernel_ns()); }};
constexpr ColumnOf<CodeTableRow> kKernelsLow = {
    {"kernel_low_ns", "at least", Unit::kTime, Shown::kOnRequest, "lower end of its 95 % interval"},
    [](const CodeTableRow& at) { return Cell(at.row.kernel_low_ns()); }};
constexpr ColumnOf<CodeTableRow> kKernelsHigh = {
    {"kernel_high_ns", "at most", Unit::kTime, Shown::kOnRequest, "upper end of its 95 % interval"},
    [](const CodeTableRow& at) { return Cell(at.row.kernel_high_ns()); }};
constexpr ColumnOf<CodeTableRow> kSamples = {
    {"samples", "samples", Unit::kCount, Shown::kOnRequest, "stacks that were seen at it"},
    [](const CodeTableRow& at) { return Cell(at.row.samples()); }};
constexpr ColumnOf<CodeTableRow> kGpu = {
    {"gpu", "GPU", Unit::kText, Shown::kIfRowsDiffer, "process and CUDA ordinal"},
    [](const CodeTableRow& at) { return Cell(at.device.label()); }};
constexpr ColumnOf<CodeTableRow> kOwn = {
    {"own", "own", Unit::kText, Shown::kOnRequest, "yes: the program's; no: of a library"},
    [](const CodeTableRow& at) { return Cell(std::string(at.row.own() ? "yes" : "no")); }};
constexpr ColumnOf<CodeTableRow> kFunction = {
    {"function", "function", Unit::kShortText, Shown::kAlways, "qualified, since CPython 3.11"},
    [](const CodeTableRow& at) { return TextIfAny(at.row.function()); }};
constexpr ColumnOf<CodeTableRow> kLine = {
    {"line", "line", Unit::kOrdinal, Shown::kAlways, "in the file"},
    [](const CodeTableRow& at) { return CellIf(at.row.line() > 0, std::int64_t{at.row.line()}); }};
constexpr ColumnOf<CodeTableRow> kFirstLine = {
    {"first_line", "begins at", Unit::kOrdinal, Shown::kOnRequest, "the function, in the file"},
    [](const CodeTableRow& at) {
      return CellIf(at.row.first_line() > 0, std::int64_t{at.row.first_line()});
    }};
constexpr ColumnOf<CodeTableRow> kSource = {
    {"text", "text", Unit::kShortText, Shown::kOnRequest,
     "of the line, where its file is here and unchanged"},
    [](const CodeTableRow& at) { return TextIfAny(at.row.text()); }};
constexpr ColumnOf<CodeTableRow> kFile = {
    {"file", "file", Unit::kName, Shown::kAlways, "as the program names it"},
    [](const CodeTableRow& at) { return TextIfAny(at.row.file()); }};

constexpr ColumnOf<CodeTableRow> kCodeLineColumns[] = {
    kIdle,     kCause,      kHost,        kHostTotal, kKernels, kWaits,
    kGpu,      kFunction,   kLine,        kFile,      kIdleLow, kIdleHigh,
    kHostSelf, kKernelsLow, kKernelsHigh, kSamples,   kOwn,     kSource};
constexpr ColumnOf<CodeTableRow> kCodeFunctionColumns[] = {
    kIdle,    kCause,    kHost,     kHostTotal,  kKernels,     kWaits,   kGpu, kFunction, kFile,
    kIdleLow, kIdleHigh, kHostSelf, kKernelsLow, kKernelsHigh, kSamples, kOwn, kFirstLine};
constexpr ColumnOf<CodeTableRow> kModule = {
    {"module", "module", Unit::kName, Shown::kAlways,
     "as in named_modules(), behind the class of the outermost one; none: outside of all"},
    [](const CodeTableRow& at) {
      return Cell(at.row.module().empty() ? std::string("(none)") : at.row.module());
    }};
constexpr ColumnOf<CodeTableRow> kCodeModuleColumns[] = {
    kKernels, kIdle,    kCause,    kHost,       kHostTotal,   kWaits,  kGpu,
    kModule,  kIdleLow, kIdleHigh, kKernelsLow, kKernelsHigh, kSamples};
constexpr ColumnOf<CodeTableRow> kCodeThreadColumns[] = {
    kHost,
    {{"thread", "thread", Unit::kOrdinal, Shown::kAlways,
      "its id; of a loader's worker, the process id"},
     [](const CodeTableRow& at) { return Cell(at.row.thread()); }},
    {{"thread_name", "name", Unit::kText, Shown::kAlways, "of the thread"},
     [](const CodeTableRow& at) { return TextIfAny(at.row.thread_name()); }},
    kGpu,
    kSamples,
};

std::vector<CodeTableRow> RowsOf(const proto::Report& report) {
  std::vector<CodeTableRow> rows;
  for (const proto::DeviceReport& device : report.devices()) {
    for (const proto::CodeRow& row : device.code()) rows.push_back({device, row});
  }
  return rows;
}

}  // namespace

std::vector<TableColumn> CodeLineColumns() { return ColumnsOf<CodeTableRow>(kCodeLineColumns); }
std::vector<TableColumn> CodeFunctionColumns() {
  return ColumnsOf<CodeTableRow>(kCodeFunctionColumns);
}
std::vector<TableColumn> CodeModuleColumns() { return ColumnsOf<CodeTableRow>(kCodeModuleColumns); }
std::vector<TableColumn> CodeThreadColumns() { return ColumnsOf<CodeTableRow>(kCodeThreadColumns); }

Table CodeLineTable(const proto::Report& report) {
  return TableOf<CodeTableRow>(kCodeLineColumns, RowsOf(report));
}
Table CodeFunctionTable(const proto::Report& report) {
  return TableOf<CodeTableRow>(kCodeFunctionColumns, RowsOf(report));
}
Table CodeModuleTable(const proto::Report& report) {
  return TableOf<CodeTableRow>(kCodeModuleColumns, RowsOf(report));
}
Table CodeThreadTable(const proto::Report& report) {
  return TableOf<CodeTableRow>(kCodeThreadColumns, RowsOf(report));
}

}  // namespace traceinject
