// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/summary_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"
#include "schemas/rank_summary.pb.h"

namespace traceinject {
namespace {

constexpr std::size_t kHeaderBytes = 24;

class Randomness {
 public:
  explicit Randomness(unsigned seed) : engine_(seed) {}
  std::int64_t From(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  bool Coin() { return From(0, 1) == 1; }
  TimeNs Time() { return From(-(TimeNs{1} << 61) + 1, (TimeNs{1} << 61) - 1); }
  std::uint64_t Bits() { return engine_(); }
  // Any bytes.
  std::string Text() {
    std::string text;
    for (std::int64_t i = From(0, 12); i > 0; --i) text += static_cast<char>(From(-128, 127));
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

StepFacts RandomStep(Randomness& random, TimeNs after) {
  StepFacts step;
  step.time.start = step.time.end = after + (random.Coin() ? 0 : random.From(0, 1 << 20));
  step.regular = random.Coin();
  const auto part = [&] {
    const TimeNs length = random.Coin() ? 0 : random.From(0, TimeNs{1} << 40);
    step.time.end += length;
    return length;
  };
  step.compute_ns = part();
  step.exposed_communication_ns = part();
  step.exposed_copy_ns = part();
  step.unrecorded_ns = part();
  for (TimeNs& idle : step.idle_ns) idle = part();
  step.kernels = random.From(0, 1000);
  return step;
}

GroupOperations RandomGroup(Randomness& random, const RankSummary& of) {
  GroupOperations group;
  group.hash = random.Bits();
  group.life = static_cast<int>(random.From(0, 3));
  group.size = static_cast<int>(random.From(0, 64));
  group.rank = static_cast<int>(random.From(-1, std::max(group.size, 1) - 1));
  group.nodes = static_cast<int>(random.From(-1, 8));
  group.name = random.Text();
  if (random.Coin()) group.network_gb_per_s = static_cast<double>(random.From(1, 400)) / 8;
  // Whole columns may be unknown.
  const bool launches = random.Coin(), peers = random.Coin(), numbers = random.Coin();
  for (std::int64_t i = of.kinds.empty() ? 0 : random.From(0, 30); i > 0; --i) {
    const TimeNs start = random.Time() / 2;
    const TimeNs length = random.From(0, TimeNs{1} << random.From(0, 59));
    group.start.push_back(start);
    group.end.push_back(start + length);
    group.launch.push_back(launches && random.Coin() ? random.Time() : kOpen);
    group.exposed_ns.push_back(random.From(0, length));
    group.blocked_ns.push_back(random.From(0, group.exposed_ns.back()));
    group.kind.push_back(
        static_cast<std::uint32_t>(random.From(0, static_cast<std::int64_t>(of.kinds.size()) - 1)));
    group.peer.push_back(peers ? static_cast<std::int32_t>(random.From(-1, 63)) : -1);
    group.sequence.push_back(numbers ? random.From(-1, std::int64_t{1} << 62) : -1);
    group.step.push_back(of.steps.empty() || random.Coin()
                             ? kNone
                             : static_cast<std::uint32_t>(
                                   random.From(0, static_cast<std::int64_t>(of.steps.size()) - 1)));
  }
  return group;
}

std::vector<LineFacts> RandomLines(Randomness& random, std::size_t most) {
  std::vector<LineFacts> lines;
  for (std::int64_t i = random.From(0, static_cast<std::int64_t>(most)); i > 0; --i)
    lines.push_back({random.Text(), random.From(0, TimeNs{1} << 60)});
  return lines;
}

ShapeFacts RandomShape(Randomness& random) {
  ShapeFacts facts;
  if (random.Coin()) {
    for (std::int64_t& size : facts.shape.product) size = random.From(0, 1 << 20);
  } else {
    for (std::int32_t& size : facts.shape.launch)
      size = static_cast<std::int32_t>(random.From(0, 1 << 20));
  }
  facts.count = random.From(0, TimeNs{1} << 40);
  facts.total_ns = random.From(0, TimeNs{1} << 60);
  facts.lines = RandomLines(random, kMaxLines);
  return facts;
}

void AddRandomWork(Randomness& random, RankSummary& to) {
  to.stage = static_cast<int>(random.From(-1, 64));
  if (random.Coin()) return;
  for (const char* kind : {"forward", "backward"}) to.work_kinds.emplace_back(kind);
  TimeNs after = -random.From(0, TimeNs{1} << 60);
  for (std::int64_t i = random.From(1, 30); i > 0; --i) {
    to.work.start.push_back(after + random.From(0, 1 << 20));
    to.work.end.push_back(after = to.work.start.back() + random.From(0, 1 << 30));
    to.work.kind.push_back(random.Coin() ? 1 : 0);
    to.work.micro_batch.push_back(static_cast<std::int32_t>(random.From(-1, 1 << 20)));
    to.work.step.push_back(to.steps.empty() || random.Coin()
                               ? kNone
                               : static_cast<std::uint32_t>(random.From(
                                     0, static_cast<std::int64_t>(to.steps.size()) - 1)));
  }
}

RankSummary RandomSummary(Randomness& random) {
  RankSummary summary;
  for (std::string* text : {&summary.path, &summary.host, &summary.run_id, &summary.gpu})
    *text = random.Text();
  summary.rank = static_cast<int>(random.From(-1, 4095));
  summary.world_size = static_cast<int>(random.From(0, 4096));
  summary.local_rank = static_cast<int>(random.From(-1, 7));
  summary.pid = random.From(0, 1 << 22);
  summary.device = static_cast<int>(random.From(0, 7));
  summary.closed = random.Coin();
  summary.start = random.Time();
  summary.end = random.Time();
  summary.dropped = random.From(0, 1000);
  TimeNs after = -random.From(0, TimeNs{1} << 60);
  for (std::int64_t i = random.From(0, 20); i > 0; --i) {
    summary.steps.push_back(RandomStep(random, after));
    after = summary.steps.back().time.end;
  }
  for (std::int64_t i = random.From(0, 5); i > 0; --i)
    summary.kinds.push_back(
        {random.Text(), random.From(-1, TimeNs{1} << 60), random.Text(), random.Text()});
  for (std::int64_t i = random.From(0, 4); i > 0; --i)
    summary.groups.push_back(RandomGroup(random, summary));
  for (std::int64_t i = random.From(0, 64); i > 0; --i)
    summary.kernels.push_back({random.Text(),
                               random.From(0, TimeNs{1} << 40),
                               random.From(0, TimeNs{1} << 60),
                               random.From(0, TimeNs{1} << 40),
                               random.From(0, 1000),
                               {}});
  for (KernelFacts& kernel : summary.kernels) {
    for (std::int64_t i = random.From(0, 2); i > 0; --i)
      kernel.shapes.push_back(RandomShape(random));
  }
  AddRandomWork(random, summary);
  summary.host_lines = RandomLines(random, kMaxHostLines);
  summary.worker_lines = RandomLines(random, kMaxHostLines);
  for (std::int64_t i = random.From(0, 3); i > 0; --i)
    summary.hung.push_back({random.Bits(), random.Text(), random.From(-1, 1 << 30),
                            random.From(-1, 1 << 30), random.Time()});
  if (random.Coin()) summary.busy_sm_clock_mhz = static_cast<double>(random.From(0, 1 << 30)) / 7;
  if (random.Coin()) {
    summary.host_link = random.Text();
    summary.host_link_gb_per_s = static_cast<double>(random.From(0, 1000)) / 7;
  }
  if (random.Coin()) summary.throttled_share = static_cast<double>(random.From(0, 1000)) / 1000;
  summary.lost_beside_communication = static_cast<double>(random.From(0, 1000)) / 1000;
  summary.host_step_ns = random.From(0, TimeNs{1} << 40);
  summary.recording_step_ns = random.From(0, TimeNs{1} << 40);
  return summary;
}

Job RandomJob(unsigned seed) {
  Randomness random(seed);
  Job job;
  job.base_ns = random.From(0, (std::int64_t{1} << 62) - 1);
  for (std::int64_t i = random.From(0, 3); i > 0; --i) job.ranks.push_back(RandomSummary(random));
  for (std::int64_t i = random.From(0, 3); i > 0; --i) job.notes.push_back(random.Text());
  return job;
}

std::string Written(const Job& job) {
  auto block = WriteSummaries(job);
  EXPECT_TRUE(block.ok()) << block.error();
  return block.ok() ? std::move(block).value() : std::string();
}

void ExpectSameGroup(const GroupOperations& a, const GroupOperations& b) {
  EXPECT_EQ(std::tie(a.hash, a.life, a.size, a.rank, a.nodes, a.name, a.network_gb_per_s),
            std::tie(b.hash, b.life, b.size, b.rank, b.nodes, b.name, b.network_gb_per_s));
  EXPECT_EQ(std::tie(a.start, a.end, a.launch, a.exposed_ns, a.blocked_ns),
            std::tie(b.start, b.end, b.launch, b.exposed_ns, b.blocked_ns));
  EXPECT_EQ(std::tie(a.kind, a.peer, a.sequence, a.step),
            std::tie(b.kind, b.peer, b.sequence, b.step));
}

void ExpectSame(const RankSummary& a, const RankSummary& b) {
  EXPECT_EQ(std::tie(a.path, a.host, a.run_id, a.gpu, a.rank, a.world_size, a.local_rank, a.pid),
            std::tie(b.path, b.host, b.run_id, b.gpu, b.rank, b.world_size, b.local_rank, b.pid));
  EXPECT_EQ(std::tie(a.device, a.closed, a.start, a.end, a.dropped, a.kinds),
            std::tie(b.device, b.closed, b.start, b.end, b.dropped, b.kinds));
  EXPECT_EQ(std::tie(a.busy_sm_clock_mhz, a.throttled_share, a.host_link, a.host_link_gb_per_s),
            std::tie(b.busy_sm_clock_mhz, b.throttled_share, b.host_link, b.host_link_gb_per_s));
  EXPECT_EQ(std::tie(a.lost_beside_communication, a.host_step_ns, a.recording_step_ns),
            std::tie(b.lost_beside_communication, b.host_step_ns, b.recording_step_ns));
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    const StepFacts &x = a.steps[i], &y = b.steps[i];
    EXPECT_EQ(std::tie(x.time, x.regular, x.compute_ns, x.exposed_communication_ns),
              std::tie(y.time, y.regular, y.compute_ns, y.exposed_communication_ns));
    EXPECT_EQ(std::tie(x.exposed_copy_ns, x.unrecorded_ns, x.idle_ns, x.kernels),
              std::tie(y.exposed_copy_ns, y.unrecorded_ns, y.idle_ns, y.kernels));
  }
  EXPECT_EQ(std::tie(a.stage, a.work_kinds, a.work.start, a.work.end),
            std::tie(b.stage, b.work_kinds, b.work.start, b.work.end));
  EXPECT_EQ(std::tie(a.work.kind, a.work.micro_batch, a.work.step),
            std::tie(b.work.kind, b.work.micro_batch, b.work.step));
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (std::size_t i = 0; i < a.groups.size(); ++i) ExpectSameGroup(a.groups[i], b.groups[i]);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    const KernelFacts &x = a.kernels[i], &y = b.kernels[i];
    EXPECT_EQ(std::tie(x.name, x.count, x.total_ns, x.median_ns, x.blocks, x.shapes),
              std::tie(y.name, y.count, y.total_ns, y.median_ns, y.blocks, y.shapes));
  }
  EXPECT_EQ(std::tie(a.host_lines, a.worker_lines), std::tie(b.host_lines, b.worker_lines));
  ASSERT_EQ(a.hung.size(), b.hung.size());
  for (std::size_t i = 0; i < a.hung.size(); ++i) {
    const HungFacts &x = a.hung[i], &y = b.hung[i];
    EXPECT_EQ(std::tie(x.hash, x.function, x.bytes, x.sequence, x.since),
              std::tie(y.hash, y.function, y.bytes, y.sequence, y.since));
  }
}

TEST(SummaryFileTest, WhatIsReadIsWhatWasWritten) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Job job = RandomJob(seed);
    const auto read = ReadSummaries(Written(job), "x");
    ASSERT_TRUE(read.ok()) << seed << ": " << read.error();
    EXPECT_EQ(read.value().base_ns, job.base_ns);
    EXPECT_EQ(read.value().notes, job.notes);
    ASSERT_EQ(read.value().ranks.size(), job.ranks.size());
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
      ExpectSame(job.ranks[i], read.value().ranks[i]);
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

// One operation every millisecond, two thirds of it exposed.
Job TrainingJob(int operations) {
  Job job;
  job.base_ns = 1'700'000'000'000'000'000;
  RankSummary summary;
  summary.kinds = {{"AllReduce", 1 << 26, "RING", "SIMPLE"}};
  GroupOperations group;
  Randomness random(1);
  for (int i = 0; i < operations; ++i) {
    const TimeNs start = i * TimeNs{1'000'000} + random.From(0, 100'000);
    group.start.push_back(start);
    group.end.push_back(start + random.From(200'000, 300'000));
    group.launch.push_back(start - random.From(50'000, 5'000'000));
    group.exposed_ns.push_back((group.end.back() - start) * 2 / 3);
    group.blocked_ns.push_back(group.exposed_ns.back());
    group.kind.push_back(0);
    group.peer.push_back(-1);
    group.sequence.push_back(i);
    group.step.push_back(kNone);
  }
  summary.groups.push_back(std::move(group));
  job.ranks.push_back(std::move(summary));
  return job;
}

TEST(SummaryFileTest, AnOperationTakesFewBytes) {
  constexpr int kOperations = 10'000;
  // Start, length, time since the launch and exposed time, of three or four bytes, and its number.
  EXPECT_LT(Written(TrainingJob(kOperations)).size(), 15U * kOperations);
}

TEST(SummaryFileTest, WhatIsCutOffOrDamagedIsRefused) {
  const std::string block = Written(TrainingJob(20));
  for (std::size_t length = 0; length < block.size(); ++length)
    EXPECT_FALSE(ReadSummaries(block.substr(0, length), "x").ok()) << length;
  EXPECT_FALSE(ReadSummaries(block + "x", "x").ok());
  for (std::size_t at = 0; at < block.size(); ++at) {
    std::string damaged = block;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(ReadSummaries(damaged, "x").ok()) << at;
  }
}

// With the right length and checksum.
std::string Block(const std::string& message, std::uint32_t version = kSummaryVersion) {
  std::string block = "TRJRANKS";
  const auto append = [&block](auto number) {
    char bytes[sizeof(number)];
    std::memcpy(bytes, &number, sizeof(number));
    block.append(bytes, sizeof(number));
  };
  append(version);
  append(static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(message.data()), message.size())));
  append(std::uint64_t{message.size()});
  return block + message;
}

TEST(SummaryFileTest, OtherFormatsAreRefusedWithBothVersions) {
  const auto newer = ReadSummaries(Block("", kSummaryVersion + 1), "run.summary");
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error(),
            "run.summary: this summary has format 2; this analyze reads formats up to 1. Use the "
            "version that wrote it, or a newer one");
  EXPECT_FALSE(ReadSummaries(Block("", 0), "x").ok());
  const auto other = ReadSummaries("SQLite format 3 and so on, and more", "run.db");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().find("not a rank summary"), std::string::npos);
}

// The message of TrainingJob, changed. Returns what is said of it; empty: it was read.
template <typename Change>
std::string SaidOf(Change change) {
  proto::Summaries message;
  EXPECT_TRUE(message.ParseFromString(Written(TrainingJob(3)).substr(kHeaderBytes)));
  change(*message.mutable_ranks(0));
  const auto read = ReadSummaries(Block(message.SerializeAsString()), "x");
  return read.ok() ? "" : read.error();
}

// Links and networks came later, within the version.
TEST(SummaryFileTest, WhatOlderFilesDoNotHoldIsNotKnown) {
  proto::Summaries message;
  Job job = TrainingJob(3);
  job.ranks[0].host_link = "PCIe 5.0 x16";
  job.ranks[0].host_link_gb_per_s = 63;
  job.ranks[0].groups[0].network_gb_per_s = 50;
  ASSERT_TRUE(message.ParseFromString(Written(job).substr(kHeaderBytes)));
  proto::RankSummary& rank = *message.mutable_ranks(0);
  EXPECT_EQ(rank.host_link_gb_per_s(), 63);
  rank.clear_host_link();
  rank.clear_host_link_gb_per_s();
  rank.mutable_groups(0)->clear_network_gb_per_s();
  const auto read = ReadSummaries(Block(message.SerializeAsString()), "x");
  ASSERT_TRUE(read.ok()) << read.error();
  ExpectSame(read.value().ranks[0], TrainingJob(3).ranks[0]);
}

TEST(SummaryFileTest, WhatContradictsItselfIsRefused) {
  using Rank = proto::RankSummary;
  const auto group = [](Rank& rank) -> proto::GroupOperations& { return *rank.mutable_groups(0); };
  EXPECT_EQ(SaidOf([](Rank&) {}), "");
  const auto expect = [](const std::string& said, const char* words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect(SaidOf([&](Rank& r) { group(r).add_length(1); }), "different lengths");
  expect(SaidOf([&](Rank& r) { group(r).mutable_exposed_ns()->RemoveLast(); }),
         "different lengths");
  expect(SaidOf([&](Rank& r) { group(r).add_peer(1); }), "different lengths");
  expect(SaidOf([&](Rank& r) { group(r).set_length(0, -1); }), "the times of an operation");
  expect(SaidOf([&](Rank& r) { group(r).set_start(1, INT64_MAX); }), "the times of an operation");
  expect(SaidOf([&](Rank& r) { group(r).set_exposed_ns(0, 1'000'000'000); }), "the exposed time");
  expect(SaidOf([&](Rank& r) { group(r).add_exposed_before_ns(1); }), "different lengths");
  expect(SaidOf([&](Rank& r) {
           for (int i = 0; i < 3; ++i) group(r).add_kind(1);
         }),
         "the kind");
  expect(SaidOf([&](Rank& r) {
           for (int i = 0; i < 3; ++i) group(r).add_step(1);
         }),
         "the step");
  expect(SaidOf([&](Rank& r) { group(r).set_size(1U << 31); }), "size and rank");
  expect(SaidOf([&](Rank& r) { group(r).set_network_gb_per_s(-1); }), "the rate of the network");
  expect(SaidOf([&](Rank& r) { r.set_host_link_gb_per_s(INFINITY); }), "the rate of a link");
  expect(SaidOf([&](Rank& r) {
           group(r).set_size(4);
           group(r).set_rank(4);
         }),
         "size and rank");
  expect(SaidOf([](Rank& r) { r.set_world_size(1 << 30); }), "its rank");
  expect(SaidOf([](Rank& r) { r.set_throttled_share(2); }), "the clock");
  expect(SaidOf([](Rank& r) { r.set_busy_sm_clock_mhz(std::numeric_limits<double>::quiet_NaN()); }),
         "the clock");
  for (const double drift : {1.0, -1e300, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
    expect(SaidOf([&](Rank& r) { r.set_clock_drift(drift); }), "its clock was aligned");
  expect(SaidOf([](Rank& r) { r.set_clock_shift(INT64_MIN); }), "its clock was aligned");
  expect(SaidOf([](Rank& r) { r.set_recording_step_ns(-1); }), "its host takes");
  const auto add_step = [](Rank& rank, TimeNs length, TimeNs compute) {
    rank.mutable_steps()->add_after(0);
    rank.mutable_steps()->add_length(length);
    rank.mutable_steps()->add_compute_ns(compute);
  };
  EXPECT_EQ(SaidOf([&](Rank& r) { add_step(r, 5, 5); }), "");
  expect(SaidOf([&](Rank& r) { add_step(r, 5, 4); }), "do not add up");
  expect(SaidOf([&](Rank& r) { add_step(r, 5, 6); }), "do not add up");
  expect(SaidOf([&](Rank& r) { add_step(r, -5, -5); }), "the times of its steps");
  expect(SaidOf([&](Rank& r) {
           add_step(r, 5, 4);
           r.mutable_steps()->add_idle()->set_cause("boredom");
         }),
         "unknown idle cause");
}

TEST(SummaryFileTest, NoBytesDoHarm) {
  std::mt19937 engine(7);
  for (unsigned i = 0; i < 20'000; ++i) {
    std::string damaged = Written(RandomJob(i % 50)).substr(kHeaderBytes);
    for (int changes = 1 + static_cast<int>(engine() % 4); changes > 0; --changes)
      damaged[engine() % damaged.size()] = static_cast<char>(engine());
    // Refused or read; whatever is read can be written.
    const auto read = ReadSummaries(Block(damaged), "x");
    EXPECT_TRUE(!read.ok() || WriteSummaries(read.value()).ok());
  }
}

TEST(SummaryFileTest, FilesMayBeJoined) {
  const TemporaryFolder folder;
  Job first_job = TrainingJob(3);
  RankSummary& rank = first_job.ranks.front();
  rank.work_kinds = {"forward"};
  rank.work = {{100, 300}, {200, 500}, {0, 0}, {0, 1}, {kNone, kNone}};
  Job later = first_job;
  later.base_ns += 1'000;
  const std::string block = Written(first_job), path = folder / "job.summary";
  WriteText(path, Written(later) + block);
  EXPECT_TRUE(IsSummaryFile(path));
  const auto job = ReadSummaryFile(path);
  ASSERT_TRUE(job.ok()) << job.error();
  EXPECT_EQ(job.value().base_ns, first_job.base_ns);
  ASSERT_EQ(job.value().ranks.size(), 2U);
  const GroupOperations &first = job.value().ranks[0].groups.at(0),
                        &second = job.value().ranks[1].groups.at(0);
  EXPECT_EQ(first.start.at(2), second.start.at(2) + 1'000) << "on one base";
  EXPECT_EQ(first.launch.at(2), second.launch.at(2) + 1'000);
  EXPECT_EQ(job.value().ranks[0].work.start, (std::vector<TimeNs>{1'100, 1'300}));
  EXPECT_EQ(job.value().ranks[0].work.end, (std::vector<TimeNs>{1'200, 1'500}));
  EXPECT_EQ(job.value().ranks[1].work.start, (std::vector<TimeNs>{100, 300}));
  WriteText(path, block + block.substr(0, block.size() - 1));
  EXPECT_FALSE(ReadSummaryFile(path).ok());
  WriteText(path, "");
  EXPECT_FALSE(ReadSummaryFile(path).ok());
  EXPECT_FALSE(IsSummaryFile(path));
  EXPECT_FALSE(ReadSummaryFile(folder / "nowhere").ok());
  EXPECT_FALSE(ReadSummaryFile(folder.path().string()).ok());
}

TEST(SummaryFileTest, WhatCannotBeIsNotWritten) {
  Job job = TrainingJob(3);
  job.ranks[0].groups[0].exposed_ns[1] = -1;
  EXPECT_FALSE(WriteSummaries(job).ok());
}

}  // namespace
}  // namespace traceinject
