// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/served_jobs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "analyzer/commands/serve/job_folder.h"
#include "analyzer/commands/serve/job_list.h"
#include "analyzer/commands/serve/pages.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class ServedJobsTest : public testing::Test {
 protected:
  ServedJobsOptions Options(std::chrono::nanoseconds every = std::chrono::nanoseconds(1)) const {
    return {
        .find = [folder = std::make_shared<JobFolder>(folder_ / ".")] { return folder->Find(); },
        .live = {},
        .has_labels = true,
        .most_jobs = 3,
        .every = every};
  }
  std::string Path(const std::string& name) const { return folder_ / name; }
  // Of 100 steps; `changed_s`: when it was written last.
  void Record(const std::string& name, std::time_t changed_s, bool closed = true) const {
    RunDbFixture file(Path(name),
                      {.run_id = name, .host = "elsewhere", .rank = 3, .closed = closed});
    file.AddDevice({});
    for (int i = 0; i < 100; ++i) {
      file.AddLaunchedKernel({.start_ns = i * 1'000'000 + 10'000, .dur_ns = 500'000}, i * 1'000'000,
                             5'000);
      file.AddStepMark({.time_ns = i * 1'000'000 + 900'000});
    }
    file.Close();
    const timespec times[2] = {{changed_s, 0}, {changed_s, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), times, 0), 0);
  }
  static std::vector<std::string> Names(const ServedJobs::Page& page) {
    std::vector<std::string> names;
    for (const auto& job : page.jobs) names.push_back(job->files.name);
    return names;
  }
  // Once that is so of it: pauses between reads depend on how long these took.
  static ServedJobs::Page RefreshUntil(ServedJobs& jobs,
                                       const std::function<bool(const ServedJobs::Page&)>& holds) {
    ServedJobs::Page page = jobs.Refresh();
    while (!holds(page)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      page = jobs.Refresh();
    }
    return page;
  }
  static HttpResponse Get(Pages& pages, const std::string& path) {
    return pages.Answer({"GET", path, {}});
  }
  using Strings = std::vector<std::string>;

  TemporaryFolder folder_;
};

TEST_F(ServedJobsTest, TheLastThatChangedComeFirstAndTheOldestAreLeftOut) {
  for (const auto& [name, changed_s] : {std::pair("a.db", 400), std::pair("b.db", 200),
                                        std::pair("c.db", 300), std::pair("d.db", 100)})
    Record(name, changed_s);
  ServedJobs jobs(Options());
  ServedJobs::Page page = jobs.Refresh();
  EXPECT_EQ(Names(page), (Strings{"a", "c", "b"}));
  EXPECT_EQ(page.left_out, 1U);
  std::filesystem::remove(Path("a.db"));
  page = RefreshUntil(jobs, [](const auto& now) { return Names(now) == Strings{"c", "b", "d"}; });
  EXPECT_EQ(page.left_out, 0U);
}

TEST_F(ServedJobsTest, WhatHasNotChangedIsNotReadAgain) {
  Record("a.db", 100);
  Record("b.db", 200);
  ServedJobs jobs(Options());
  const ServedJobs::Page first = jobs.Refresh();
  ASSERT_EQ(first.jobs.size(), 2U);
  Record("a.db", 300);
  const ServedJobs::Page second = RefreshUntil(jobs, [](const auto& now) {
    return Names(now) == Strings{"a", "b"};
  });
  EXPECT_NE(second.jobs[0], first.jobs[1]);
  EXPECT_EQ(second.jobs[1], first.jobs[0]);
}

TEST_F(ServedJobsTest, LooksOnlyAfterAWhile) {
  Record("a.db", 100);
  ServedJobs jobs(Options(std::chrono::hours(1)));
  EXPECT_EQ(jobs.Refresh().jobs.size(), 1U);
  Record("b.db", 100);
  EXPECT_EQ(jobs.Refresh().jobs.size(), 1U);
}

TEST_F(ServedJobsTest, SummarizesWhatWasRead) {
  Record("a.db", 100);
  Record("lost.db", 100, false);
  std::ofstream(Path("broken.db")) << "not a database";
  ServedJobs jobs(Options());
  const ServedJobs::Page page = jobs.Refresh();
  ASSERT_EQ(Names(page), (Strings{"broken", "a", "lost"}));
  const ServedJob &broken = *page.jobs[0], &ended = *page.jobs[1], &lost = *page.jobs[2];
  EXPECT_EQ(broken.phase, JobPhase::kUnreadable);
  EXPECT_NE(broken.problem.find("broken.db"), std::string::npos) << broken.problem;
  EXPECT_EQ(ended.phase, JobPhase::kEnded);
  EXPECT_EQ(ended.steps, 100);
  EXPECT_EQ(ended.gpus, 1);
  EXPECT_EQ(ended.hosts, std::set<std::string>{"elsewhere"});
  ASSERT_TRUE(ended.step_ns);
  EXPECT_NEAR(static_cast<double>(*ended.step_ns), 1e6, 1e4);
  // Nobody is seen to write it, and it is of another machine.
  EXPECT_EQ(lost.phase, JobPhase::kLost);
}

TEST_F(ServedJobsTest, PagesTellOfAllJobs) {
  Record("a b.db", 100);
  std::ofstream(Path("broken.db")) << "not a database";
  Pages pages(Options());
  const std::string metrics = Get(pages, "/metrics").body;
  EXPECT_NE(metrics.find("\ntraceinject_recording_readable{job=\"broken\"} 0\n"),
            std::string::npos);
  EXPECT_NE(metrics.find("\ntraceinject_gpu_busy_ratio{job=\"a b\",rank=\"3\""), std::string::npos);
  const HttpResponse index = Get(pages, "/");
  EXPECT_EQ(index.status, 200);
  EXPECT_NE(index.body.find("href=\"/job/a%20b/\""), std::string::npos) << index.body;
  const std::string json = Get(pages, "/api/jobs").body;
  EXPECT_NE(json.find("\"name\": \"a b\""), std::string::npos) << json;
  const HttpResponse report = Get(pages, "/job/a%20b/");
  EXPECT_EQ(report.status, 200);
  EXPECT_TRUE(report.body.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(Get(pages, "/job/a%20b/").body, report.body);
  EXPECT_EQ(Get(pages, "/job/a%20b").status, 301);
  EXPECT_EQ(Get(pages, "/job/broken/").status, 500);
  for (const char* path : {"/job/", "/job/../a%20b/", "/job/%zz/", "/job", "/x", "/metrics/"})
    EXPECT_EQ(Get(pages, path).status, 404) << path;
  EXPECT_EQ(pages.Answer({"POST", "/metrics", {}}).status, 405);
}

TEST_F(ServedJobsTest, OneRunHasNoLabelAndNeedNotExistYet) {
  ServedJobsOptions options = Options();
  options.has_labels = false;
  options.find = [path = Path("run.db")] { return std::vector{JobFiles{"run", {path}}}; };
  Pages pages(options);
  EXPECT_NE(Get(pages, "/metrics").body.find("\ntraceinject_recording_readable 0\n"),
            std::string::npos);
  Record("run.db", 100);
  while (Get(pages, "/metrics").body.find("\ntraceinject_recording_readable 1\n") ==
         std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace traceinject
