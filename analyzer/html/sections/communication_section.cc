// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/chart.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

constexpr double kLeastGbPerS = 1;     // where the axis begins at the least
constexpr std::size_t kMaxRows = 100;  // of the table, and dots of each kind

struct Rate {
  std::string mark, name;  // of the style sheet, for people
  double radius_px;        // where two rates are equal, both dots are seen
  bool (*is_known)(const proto::NcclRow& row);
  double (*gb_per_s)(const proto::NcclRow& row);
};

const Rate kRates[] = {
    {"algbw", "algorithm bandwidth (algbw)", 6.5,
     [](const proto::NcclRow& row) { return row.has_algbw_gb_per_s(); },
     [](const proto::NcclRow& row) { return row.algbw_gb_per_s(); }},
    {"busbw", "bus bandwidth (busbw)", 4,
     [](const proto::NcclRow& row) { return row.has_busbw_gb_per_s(); },
     [](const proto::NcclRow& row) { return row.busbw_gb_per_s(); }},
    {"transfer", "busbw without waiting (transfer)", 4,
     [](const proto::NcclRow& row) { return row.has_transfer_busbw_gb_per_s(); },
     [](const proto::NcclRow& row) { return row.transfer_busbw_gb_per_s(); }},
};

struct RatePoint {
  const proto::NcclRow* row;
  const Rate* rate;
  Point at;
};

// Of the rows with most kernel time; their mean size against each rate.
std::vector<RatePoint> PointsOf(const proto::Nccl& nccl) {
  std::vector<RatePoint> points;
  for (int i = 0; i < std::min<int>(nccl.rows_size(), kMaxRows); ++i) {
    const proto::NcclRow& row = nccl.rows(i);
    if (!row.has_bytes() || row.bytes() <= 0 || row.count() <= 0) continue;
    const double size = static_cast<double>(row.bytes()) / static_cast<double>(row.count());
    for (const Rate& rate : kRates) {
      if (rate.is_known(row) && rate.gb_per_s(row) > 0)
        points.push_back({&row, &rate, {size, rate.gb_per_s(row)}});
    }
  }
  return points;
}

std::string TipOf(const RatePoint& point) {
  const proto::NcclRow& row = *point.row;
  return fmt::format("{} of {}, {} x, {} total: {} {:.2f} GB/s", row.function(),
                     FormatBytes(std::llround(point.at.x)), FormatCount(row.count()),
                     FormatTime(row.kernel_ns()), point.rate->mark, point.at.y);
}

void WriteScatter(const HtmlReport& to, const proto::Nccl& nccl) {
  const std::vector<RatePoint> points = PointsOf(nccl);
  if (points.empty()) return;
  double least_x = INFINITY, most_x = 0, least_y = INFINITY, most_y = 0;
  for (const RatePoint& point : points) {
    least_x = std::min(least_x, point.at.x);
    most_x = std::max(most_x, point.at.x);
    least_y = std::min(least_y, point.at.y);
    most_y = std::max(most_y, point.at.y);
  }
  const proto::DeviceReport* device = JudgedDevice(to.report);
  const bool has_link = device != nullptr && device->nccl().link().has_link_gb_per_s();
  const proto::RankLink* link = has_link ? &device->nccl().link() : nullptr;
  const double fastest = most_y;
  if (link != nullptr) most_y = std::max(most_y, link->link_gb_per_s());
  Axis x{PowersOfTen(least_x, most_x), {}, "mean message size S"};
  // Less is a matter of latency, and would push all that is of interest together.
  Axis y{PowersOfTen(std::max(least_y, kLeastGbPerS), most_y), {}, "GB/s"};
  x.ticks = TicksOf(x.scale, 6, BytesTick);
  y.ticks = TicksOf(y.scale, 6, PlainTick);
  ChartText text{"Bandwidth by message size",
                 fmt::format("messages of {} to {} reach {:.3g} to {:.3g} GB/s",
                             FormatBytes(std::llround(least_x)), FormatBytes(std::llround(most_x)),
                             least_y, fastest)};
  for (const Rate& rate : kRates) {
    if (std::any_of(points.begin(), points.end(),
                    [&](const RatePoint& point) { return point.rate == &rate; }))
      text.legend.push_back({rate.mark, rate.name});
  }
  // Beside the line, its words would lie on the dots of large messages.
  if (link != nullptr)
    text.legend.push_back({"key-roof", fmt::format("{} {:.4g} GB/s per direction", link->name(),
                                                   link->link_gb_per_s())});
  Chart chart(to.out, text, std::move(x), std::move(y), 280);
  if (link != nullptr) chart.Rule(link->link_gb_per_s(), "roof");
  for (const RatePoint& point : points)
    chart.Dot(point.at, "dot " + point.rate->mark, TipOf(point), point.rate->radius_px);
}

bool HasCommunication(const HtmlReport& to) { return to.report.run().nccl().kernels() > 0; }

void WriteCommunication(const HtmlReport& to) {
  const proto::Nccl& nccl = to.report.run().nccl();
  {
    Reused reused(to);
    WriteNcclTotals(reused.text(), nccl);
  }
  WriteScatter(to, nccl);
  if (nccl.rows_size() > static_cast<int>(kMaxRows))
    to.out.Leaf("p",
                fmt::format("{} rows with less time are not plotted",
                            FormatCount(nccl.rows_size() - static_cast<int>(kMaxRows))),
                {{"class", "note"}});
  WriteHtmlTable(to.out, CommTable(to.report),
                 {.caption = "NCCL operations by function and message size, by time",
                  .rows = kMaxRows,
                  .where_all = "analyze comm shows all",
                  .order = "kernel_ns"});
  Reused reused(to);
  TextReport& text = reused.text();
  WriteNcclNotes(text, nccl, kMaxRows);
  WriteNcclTransports(text, nccl);
  for (const proto::DeviceReport& device : to.report.devices()) {
    if (device.nccl().has_link())
      WriteRankLink(text, device.nccl().link(), to.has_several() ? device.label() : std::string());
  }
}

}  // namespace

const HtmlSection kCommunicationSection = {"communication", "Communication", HasCommunication,
                                           WriteCommunication};

}  // namespace traceinject
