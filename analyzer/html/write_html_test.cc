// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_html.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "analyzer/html/page/style_css.h"
#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/testing/well_formed.h"
#include "analyzer/html/timeline/page_timeline.h"
#include "analyzer/report/testing/sample_runs.h"
#include "analyzer/report/text/text.h"
#include "analyzer/report/text/verdict_sentences.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

ReportOptions AllThatIsDrawn() {
  ReportOptions options;
  options.mfu.flops_per_step = 4e12;
  return ForPage(options);
}

std::string PageOf(const Run& run) {
  const JudgedReport found = BuildJudgedReport(run, AllThatIsDrawn());
  return WriteHtml(found.report, found.ranks, MakePageTimeline(run, found, "run.db"));
}

Run SlowLoader() {
  TrainingPlan plan;
  plan.load_ns = 30'000'000;
  Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  return run;
}

// Names that would do harm as markup, in attributes, in scripts, or by turning text around.
const char* const kHostile[] = {"</script><script>window.harmed=1</script>",
                                "\"><img src=x onerror=window.harmed=1>",
                                "' onmouseover='window.harmed=1",
                                "&lt;b&gt; &#x3c;",
                                "\u202Egnp.exe",
                                "<!--",
                                "]]>",
                                "\x1b[2J\x07"};

Run HostileRun() {
  Run run = SampleRun();
  int at = 0;
  const auto next = [&] { return std::string(kHostile[at++ % std::size(kHostile)]); };
  for (Rank& rank : run.ranks) {
    rank.path = next() + ".db";
    rank.process.host = next();
    rank.process.command_line = next();
    for (std::string& text : rank.strings) text = next() + std::to_string(at);
    for (Device& device : rank.devices) device.name = next();
  }
  run.notes = {next()};
  return run;
}

TEST(WriteHtml, EvidenceLeadsToTheServedTimelineWhereThereIsOne) {
  const auto run = SlowLoader();
  const JudgedReport found = BuildJudgedReport(run, AllThatIsDrawn());
  PageTimeline timeline = MakePageTimeline(run, found, "run.db");
  const auto page = [&](std::string served) {
    timeline.served = std::move(served);
    return WriteHtml(found.report, found.ranks, timeline);
  };
  const proto::Evidence* place = nullptr;
  for (const proto::Evidence& evidence : found.report.verdict().evidence())
    if (place == nullptr && evidence.has_start_ns()) place = &evidence;
  ASSERT_NE(place, nullptr);
  const std::string view = "t=" + ViewRange(place->start_ns(), place->end_ns()) + "\"";
  EXPECT_EQ(page("").find("in traceview</a>"), std::string::npos);
  EXPECT_NE(page("http://localhost:8090/").find("href=\"http://localhost:8090/#" + view),
            std::string::npos);
  EXPECT_NE(page("http://node:1/#token=abc").find("#token=abc&amp;" + view), std::string::npos);
}

TEST(WriteHtmlTest, IsWellFormed) {
  for (const traceinject::Run& run :
       {SampleRun(), DamagedRun(), SlowLoader(), HostileRun(), traceinject::Run()})
    EXPECT_EQ(Read(PageOf(run)).error, "");
}

TEST(WriteHtmlTest, RefersToNothingOutside) {
  for (const traceinject::Run& run : {SampleRun(), SlowLoader(), HostileRun()}) {
    const std::string page = PageOf(run);
    for (const char* outside : {"http://", "https://", "url(", "@import", "src=\""})
      EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    for (const PageElement& element : Read(page).elements) {
      const auto link = element.attributes.find("href");
      if (link == element.attributes.end()) continue;
      EXPECT_TRUE(link->second.starts_with("#") || link->second == "data:,") << link->second;
    }
  }
}

TEST(WriteHtmlTest, HostileNamesAreText) {
  const ReadPage page = Read(PageOf(HostileRun()));
  EXPECT_EQ(page.Count("script"), 2);
  EXPECT_EQ(page.Count("img"), 0);
  EXPECT_NE(page.text.find("&lt;/script&gt;&lt;script&gt;window.harmed=1"), std::string::npos)
      << "it is shown";
  EXPECT_NE(page.text.find("[U+202E]"), std::string::npos);
  for (const PageElement& element : page.elements) {
    for (const auto& [name, value] : element.attributes) {
      EXPECT_FALSE(name.starts_with("on")) << name;
      EXPECT_NE(name, "style") << "the policy forbids it";
    }
  }
}

TEST(WriteHtmlTest, VerdictComesFirstInTheWordsOfTheTextReport) {
  const JudgedReport found = BuildJudgedReport(SlowLoader(), AllThatIsDrawn());
  const std::string page = WriteHtml(found.report, found.ranks, {});
  ASSERT_EQ(found.report.verdict().label(), "dataloader");
  const ReadPage read = Read(page);
  const std::size_t label = read.text.find("dataloader", read.text.find("what limits this run"));
  ASSERT_NE(label, std::string::npos);
  EXPECT_LT(label, read.text.find("What to change"));
  EXPECT_LT(read.text.find("What to change"), read.text.find("Longest steps"));
  // One paragraph of the text report, broken where its lines are.
  const std::string text = WriteText(found.report, {.width = 1000, .full = true});
  const std::size_t begin = text.find("without it, the mean step of");
  ASSERT_NE(begin, std::string::npos);
  const std::string sentence = text.substr(begin, text.find('\n', begin) - begin);
  EXPECT_NE(read.text.find(sentence), std::string::npos) << sentence;
}

TEST(WriteHtmlTest, AHealthyRunHasTheStepTimeOfItsSentence) {
  proto::Report report;
  proto::Verdict& verdict = *report.mutable_verdict();
  verdict.set_label("compute_bound");
  verdict.set_steps(40);
  verdict.set_step_ns(40'230'000);
  verdict.set_recording_ns(230'000);
  const ReadPage page = Read(WriteHtml(report, {}, {}));
  EXPECT_NE(
      page.text.find("would surely save 2.011 ms (5.0 %) or more of the mean step of 40.23 ms"),
      std::string::npos);
  EXPECT_NE(page.text.find("40.23\u00A0ms"), std::string::npos);
  EXPECT_EQ(page.text.find("40.00"), std::string::npos);
}

TEST(WriteHtmlTest, CanBeReadWithoutSeeingIt) {
  for (const traceinject::Run& run : {SampleRun(), SlowLoader()}) {
    const ReadPage page = Read(PageOf(run));
    int level = 0;
    std::set<std::string> ids;
    for (const PageElement& element : page.elements) {
      const auto has = [&](const char* name) { return element.attributes.count(name) > 0; };
      if (has("id")) {
        EXPECT_TRUE(ids.insert(element.attributes.at("id")).second);
      }
      if (element.tag.size() == 2 && element.tag[0] == 'h' && element.tag[1] <= '6') {
        EXPECT_LE(element.tag[1] - '0', level + 1) << "headings are in order";
        level = element.tag[1] - '0';
      }
      if (element.tag == "th") {
        EXPECT_TRUE(has("scope"));
      }
      if (element.tag == "svg" && element.parent != "svg") {
        const std::string& role = has("role") ? element.attributes.at("role") : "";
        EXPECT_TRUE(has("aria-hidden") ||
                    ((role == "img" || role == "tree") && has("aria-labelledby")));
      }
      if (element.tag == "html") {
        EXPECT_EQ(element.attributes.at("lang"), "en");
      }
    }
    EXPECT_EQ(page.Count("h1"), 1);
    EXPECT_EQ(page.Count("table"), page.Count("caption"));
    for (const PageElement& element : page.elements) {
      const auto named = element.attributes.find("aria-labelledby");
      if (named == element.attributes.end()) continue;
      const std::string first = named->second.substr(0, named->second.find(' '));
      EXPECT_TRUE(ids.count(first)) << first;
    }
  }
}

Run RunWithStacks() {
  Run run = SlowLoader();
  Rank& rank = run.ranks.front();
  rank.strings.insert(rank.strings.end(), {"load", "/w/<train>.py", "decode",
                                           "/lib/python3/dist-packages/PIL/Image.py"});
  const auto text = static_cast<std::uint32_t>(rank.strings.size() - 4);
  rank.places = {{text, text + 1, 41, 1}, {text + 2, text + 3, 7, 1}};
  rank.stacks = {{kNone, 0}, {0, 1}};
  rank.facts.push_back({"stacks", "period_ns", "10000000", ""});
  const GpuOps& ops = rank.devices.front().ops;
  for (TimeNs at = ops.start.front(); at < ops.end.back(); at += 10'000'000) {
    StackSamples& samples = rank.stack_samples;
    samples.time.push_back(at);
    samples.thread.push_back(0);
    samples.stack.push_back(1);
    samples.kind.push_back(StackKind::kTimed);
    samples.correlation.push_back(0);
    samples.repeats.push_back(0);
    samples.span.push_back(0);
  }
  return run;
}

TEST(WriteHtmlTest, FlamesTellTheFrameItsTimeAndWhatTheGpuDid) {
  const std::string page = PageOf(RunWithStacks());
  const ReadPage read = Read(page);
  EXPECT_EQ(read.error, "");
  EXPECT_NE(read.text.find("Where in the program"), std::string::npos);
  EXPECT_NE(read.text.find("load &lt;train&gt;.py:41"), std::string::npos);
  EXPECT_NE(read.text.find(" ms per step, "), std::string::npos);
  EXPECT_NE(read.text.find(" samples"), std::string::npos);
  std::vector<std::string> frames, tips;
  for (const PageElement& element : read.elements) {
    const auto mark = element.attributes.find("class");
    if (mark == element.attributes.end() || !mark->second.starts_with("frame")) continue;
    frames.push_back(mark->second);
    tips.push_back(element.attributes.at("data-tip"));
  }
  EXPECT_EQ(frames, (std::vector<std::string>{"frame", "frame own", "frame"}));
  ASSERT_EQ(tips.size(), 3U);
  EXPECT_NE(tips[1].find("load, /w/&lt;train&gt;.py:41. "), std::string::npos) << tips[1];
  EXPECT_NE(tips[1].find(" ms per step, 100.0 %. GPU meanwhile: "), std::string::npos) << tips[1];
  EXPECT_NE(tips[1].find("idle: data wait "), std::string::npos) << tips[1];
  EXPECT_NE(tips[2].find("Image.py:7 (library). "), std::string::npos) << tips[2];
  EXPECT_EQ(read.text.find("/lib/python3/dist-packages/PIL/Image.py"), std::string::npos)
      << "the GPU waited for the line that called it";
  EXPECT_EQ(Read(PageOf(SlowLoader())).text.find("Where in the program"), std::string::npos)
      << "nothing without stacks";
}

// However long the run: lists are cut, and it is said by how much.
TEST(WriteHtmlTest, SizeIsBounded) {
  JudgedReport found = BuildJudgedReport(SampleRun(), AllThatIsDrawn());
  proto::Report& report = found.report;
  report.mutable_verdict()->set_device(report.steps(0).label());
  const std::string name(3000, 'x');
  for (int i = 0; i < 5000; ++i) {
    proto::Kernel& kernel = *report.mutable_run()->add_top_kernels();
    kernel.set_name(name + std::to_string(i));
    kernel.mutable_work()->set_flops_per_byte(1 + i);
    kernel.mutable_work()->set_tflops_per_s(1 + i % 700);
    *report.mutable_run()->mutable_nccl()->add_rows() = report.run().nccl().rows(0);
    report.add_notes(name);
  }
  const proto::DeviceReport device = report.devices(0);
  const proto::DeviceSteps steps = report.steps(0);
  for (int rank = 0; rank < 300; ++rank) {
    *report.add_devices() = device;
    proto::DeviceSteps& added = *report.add_steps();
    added = steps;
    for (int i = 0; i < 400; ++i) *added.add_steps() = steps.steps(i % steps.steps_size());
  }
  for (int i = 0; i < 100'000; ++i) {
    proto::StepSplit& step = *report.mutable_steps(0)->add_steps();
    step = steps.steps(0);
    step.set_kind(i % 2 == 0 ? "irregular" : "regular");
    step.set_length_ns(1'000'000 + i % 1000);
    proto::DeviceSample& sample = *report.mutable_devices(0)->add_device_samples();
    sample.set_time_ns(i);
    sample.set_sm_clock_mhz(1000 + i % 900);
  }
  for (int i = 0; i < 6; ++i) {
    proto::HostFlame& flame = *report.mutable_devices(0)->add_host_flames();
    flame.set_samples(600);
    flame.set_left_out(9'000);
    for (int frame = 0; frame < 600; ++frame) {
      proto::FlameFrame& one = *flame.add_frames();
      one.set_samples(1);
      one.set_function(name);
      one.set_file(name);
      one.set_place(name);
    }
  }
  const std::string page = WriteHtml(report, found.ranks, {});
  EXPECT_LT(page.size(), 6'000'000u);
  const ReadPage read = Read(page);
  EXPECT_EQ(read.error, "");
  for (const char* said :
       {"shorter ones are not shown", "more GPUs are not shown", "with less time are not shown",
        "more sentences are not shown", "54,000 frames with less than 0.1 %"})
    EXPECT_NE(read.text.find(said), std::string::npos) << said;
}

// Relative luminance and contrast of https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio .
double Luminance(const std::string& color) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double part =
        static_cast<double>(std::strtol(color.substr(1 + 2 * i, 2).c_str(), nullptr, 16)) / 255;
    sum += weights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double Contrast(const std::string& a, const std::string& b) {
  const double high = std::max(Luminance(a), Luminance(b));
  return (high + 0.05) / (std::min(Luminance(a), Luminance(b)) + 0.05);
}

// Of a variable of the style sheet: light and dark.
std::array<std::string, 2> Colors(const std::string& name) {
  const std::string style = k_style_css;
  const std::size_t at = style.find("--" + name + ": light-dark(");
  if (at == std::string::npos) return {"#000000", "#000000"};
  const std::size_t first = style.find('#', at), second = style.find('#', first + 1);
  return {style.substr(first, 7), style.substr(second, 7)};
}

TEST(StyleTest, TextAndMarksStandOut) {
  const auto ground = Colors("ground"), panel = Colors("panel");
  for (std::size_t theme = 0; theme < 2; ++theme) {
    for (const char* text : {"ink", "dim", "link", "good", "warn", "bad"}) {
      EXPECT_GE(Contrast(Colors(text)[theme], ground[theme]), 4.5) << text << theme;
      EXPECT_GE(Contrast(Colors(text)[theme], panel[theme]), 4.5) << text << theme;
    }
    for (const char* mark :
         {"compute", "communication", "copy", "idle", "data", "sync", "drained", "allocator",
          "checkpoint", "gc", "launch", "python", "host", "prepared", "queued", "memory"})
      EXPECT_GE(Contrast(Colors(mark)[theme], ground[theme]), 3) << mark << theme;
    // Names in frames.
    EXPECT_GE(Contrast(Colors("ink")[theme], Colors("own")[theme]), 4.5) << theme;
    EXPECT_GE(Contrast(Colors("ink")[theme], Colors("found")[theme]), 4.5) << theme;
    EXPECT_GE(Contrast(Colors("dim")[theme], Colors("library")[theme]), 4.5) << theme;
  }
}

}  // namespace
}  // namespace traceinject
