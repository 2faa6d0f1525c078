// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/write_checklist.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

const Checklist kLines = {{CheckStatus::kOk, "driver", "580.65.06", "", ""},
                          {CheckStatus::kUnknown, "PCIe bridges", "shown to root only", "", ""},
                          {CheckStatus::kWarn, "governor", "powersave", "performance", "a manual"},
                          {CheckStatus::kFail, "CUPTI", "was not\x1b[2J found", "install it", ""}};

TEST(WriteChecklist, ALineACheckAndTheSum) {
  TextPage page(false);
  WriteChecklist(kLines, page);
  EXPECT_EQ(page.text(),
            "OK    driver: 580.65.06\n"
            "?     PCIe bridges: shown to root only\n"
            "WARN  governor: powersave\n"
            "        try: performance\n"
            "        [a manual]\n"
            "FAIL  CUPTI: was not [2J found\n"
            "        try: install it\n\n"
            "1 OK, 1 warnings, 1 failed, 1 unknown\n");
}

TEST(WriteChecklist, OnlyAFailureFails) {
  EXPECT_TRUE(HasFailed(kLines));
  EXPECT_FALSE(HasFailed({kLines.begin(), kLines.end() - 1}));
}

}  // namespace
}  // namespace traceinject
