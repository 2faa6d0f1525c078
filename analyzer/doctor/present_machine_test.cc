// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/present_machine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

constexpr const char* kEnvironment[] = {"NCCL_P2P_DISABLE=1", "=odd", "alone", nullptr};

TEST(PresentMachine, FactsOfTheHostAndTheEnvironment) {
  const FakeRoot root;
  root.Write("proc/sys/kernel/osrelease", "6.1.0\n");
  const PresentMachine machine = LookAtMachine(root.path(), kEnvironment);
  const auto has = [&](const char* kind, const char* key, const char* value) {
    return std::any_of(machine.facts.begin(), machine.facts.end(), [&](const SystemFact& fact) {
      return fact.kind == kind && fact.key == key && fact.value == value;
    });
  };
  EXPECT_TRUE(has("host", "kernel", "6.1.0"));
  EXPECT_TRUE(has("env", "NCCL_P2P_DISABLE", "1"));
  EXPECT_EQ(std::count_if(machine.facts.begin(), machine.facts.end(),
                          [](const SystemFact& fact) { return fact.kind == "env"; }),
            1);
}

TEST(PresentMachine, CardsOnTheBus) {
  const FakeRoot root;
  EXPECT_EQ(LookAtMachine(root.path(), kEnvironment).cards, 0);
  const auto add = [&](const std::string& place, const char* vendor, const char* kind) {
    root.Write("sys/bus/pci/devices/" + place + "/vendor", vendor);
    root.Write("sys/bus/pci/devices/" + place + "/class", kind);
  };
  add("0000:18:00.0", "0x10de\n", "0x030200\n");
  add("0000:18:00.1", "0x10de\n", "0x040300\n");  // its sound
  add("0000:05:00.0", "0x10de\n", "0x068000\n");  // a switch of NVLink
  add("0000:00:02.0", "0x8086\n", "0x030000\n");
  EXPECT_EQ(LookAtMachine(root.path(), kEnvironment).cards, 1);
}

}  // namespace
}  // namespace traceinject
