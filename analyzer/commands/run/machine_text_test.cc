// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/machine_text.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(MachineText, NothingWithoutFactsOfTheMachine) {
  EXPECT_EQ(MachineText({}), "");
  EXPECT_EQ(MachineText({{"env", "NCCL_DEBUG", "INFO", ""}}), "");
}

TEST(MachineText, AFewLines) {
  const std::string text = MachineText({
      {"host", "nvidia_driver", "580.65", ""},
      {"host", "cpus_online", "0-63", ""},
      {"host", "cpu_affinity", "0-7", ""},
      {"host", "cpu_governor", "", "no cpufreq"},
      {"gpu", "0.pcie_generation", "4", ""},
      {"gpu", "0.pcie_width", "8", ""},
      {"gpu", "0.pcie_generation_most", "5", ""},
      {"gpu", "0.pcie_width_most", "16", ""},
      {"gpu", "0.power_limit_mw", "700000", ""},
      {"gpu", "0.ecc", "on", ""},
      {"gpu", "0.acs", "", "root only"},
      {"gpu", "1.acs", "", "root only"},
      {"nvlink", "0.0", "active, to 00000000:80:00.0", ""},
      {"nvlink", "0.1", "inactive", ""},
      {"p2p", "0 00000000:19:00.0", "read: ok", ""},
      {"p2p", "0 00000000:1A:00.0", "read: ok", ""},
      {"infiniband", "mlx5_0.1", "ACTIVE", ""},
  });
  EXPECT_EQ(text,
            "  machine\n"
            "    host                 driver 580.65, CPUs 0-63, this process may run on 0-7\n"
            "    GPU 0                PCIe 4 x8 of 5 x16, 700 W, ECC on\n"
            "    NVLink of 0          1 of 2 links active\n"
            "    peers of 0           2 devices: read: ok\n"
            "    InfiniBand mlx5_0.1  ACTIVE\n"
            "    unknown              host cpu_governor: no cpufreq\n"
            "    unknown              gpu 0.acs, gpu 1.acs: root only\n");
}

TEST(MachineText, AdaptersOfNccl) {
  EXPECT_EQ(MachineText({{"nccl_net", "IB.0", "mlx5_0:1/RoCE", ""},
                         {"nccl_net", "IB.0.gpu_direct_rdma", "enabled", ""},
                         {"nccl_net", "Socket.0", "eth0", ""}}),
            "  machine\n"
            "    NCCL adapter IB.0      mlx5_0:1/RoCE, GPUDirect RDMA enabled\n"
            "    NCCL adapter Socket.0  eth0\n");
}

}  // namespace
}  // namespace traceinject
