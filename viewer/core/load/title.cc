// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/title.h"

#include <fmt/format.h>

#include <filesystem>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/view/style/fit_text.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxPathBytes = 80;

std::string NameOf(const Run& run, bool with_folder) {
  const std::string& path = run.ranks.front().path;
  std::string name =
      Printable(with_folder ? path : std::filesystem::path(path).filename().string());
  name = ShortenMiddle(name, kMaxPathBytes);
  if (run.ranks.size() > 1) name += fmt::format(" and {} more", run.ranks.size() - 1);
  return name;
}

std::string RemarksOn(const Run& run, bool in_short) {
  if (run.notes.empty()) return "";
  return fmt::format("{} remark{}{}", run.notes.size(), run.notes.size() == 1 ? "" : "s",
                     in_short ? "" : " on the recording");
}

float WidthOf(const Canvas& canvas, const Title& title, float gap_px) {
  float width = canvas.TextWidth(title.name);
  for (const std::string* part : {&title.time, &title.shown, &title.remarks}) {
    if (!part->empty()) width += gap_px + canvas.TextWidth(*part);
  }
  return width;
}

}  // namespace

std::string NamesOf(const std::vector<std::string>& paths) {
  if (paths.empty()) return "";
  return paths.size() == 1 ? paths.front()
                           : paths.front() + " and " + std::to_string(paths.size() - 1) + " more";
}

Title TitleOf(const LoadedRun& loaded, const std::string& shown) {
  const TimeNs begin = loaded.rows.start;
  return {NameOf(loaded.run, true),
          fmt::format("{} from {}", FormatTime(loaded.rows.end - begin),
                      FormatDate(loaded.run.base_ns + begin)),
          shown, RemarksOn(loaded.run, false)};
}

Title FitTitle(const Canvas& canvas, const LoadedRun& loaded, const std::string& shown,
               float gap_px, float room_px) {
  const Title whole = TitleOf(loaded, shown);
  const std::string name = NameOf(loaded.run, false), remarks = RemarksOn(loaded.run, true);
  const std::string length = FormatTime(loaded.rows.end - loaded.rows.start);
  for (const Title& title :
       {whole, Title{name, whole.time, shown, whole.remarks},
        Title{name, length, shown, whole.remarks}, Title{name, length, shown, remarks},
        Title{name, "", shown, remarks}, Title{name, "", "", remarks}}) {
    if (WidthOf(canvas, title, gap_px) <= room_px) return title;
  }
  const float others_px = WidthOf(canvas, {"", "", "", remarks}, gap_px);
  return {FitEndWithDots(canvas, name, room_px - others_px), "", "", remarks};
}

}  // namespace traceinject
