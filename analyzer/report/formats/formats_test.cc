// SPDX-License-Identifier: Apache-2.0
// All formats carry the same message.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/formats/pb.h"
#include "analyzer/report/testing/sample_runs.h"

namespace traceinject {
namespace {

using google::protobuf::util::MessageDifferencer;

TEST(FormatsTest, BinaryReadsBackTheSame) {
  const Report report = BuildReport(SampleRun(), {});
  Report read_back;
  ASSERT_TRUE(read_back.ParseFromString(WritePb(report)));
  EXPECT_TRUE(MessageDifferencer::Equals(report, read_back));
}

TEST(FormatsTest, JsonReadsBackTheSame) {
  for (const traceinject::Run& run : {SampleRun(), DamagedRun(), traceinject::Run{}}) {
    const Report report = BuildReport(run, {});
    const Result<std::string> json = WriteJson(report);
    ASSERT_TRUE(json.ok()) << json.error();
    Report read_back;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json.value(), &read_back).ok());
    EXPECT_TRUE(MessageDifferencer::Equals(report, read_back));
  }
}

TEST(FormatsTest, JsonNamesFieldsAsTheSchemaAndPrintsZeros) {
  const std::string json = WriteJson(BuildReport(DamagedRun(), {})).value();
  EXPECT_NE(json.find("\"exposed_communication_ns\": \"1000000\""), std::string::npos);
  EXPECT_NE(json.find("\"exposed_copy_ns\": \"0\""), std::string::npos);
  // Unknown is absent.
  EXPECT_EQ(json.find("\"mfu_percent\""), std::string::npos);
  EXPECT_EQ(json.find("\"busbw_gb_per_s\""), std::string::npos);
}

}  // namespace
}  // namespace traceinject
