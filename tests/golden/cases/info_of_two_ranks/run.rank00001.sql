-- Rank 1 of two: three steps of a kernel, a copy and an all-reduce.
INSERT INTO meta VALUES ('base_ns', 1700000000000000500), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, rank, local_rank, world_size, run_id, start, end, command_line, launcher, driver_version, nccl_version)
  VALUES (1, 4001, 'node-a', 1, 1, 2, 'job-7', 0, 40000, 'python train.py --token=***', 'torchrun', 13000, 22809);
INSERT INTO device (proc, device, name, uuid, sm_count, cc_major, cc_minor) VALUES (1, 1, 'NVIDIA H200', 'GPU-1', 132, 9, 0);
INSERT INTO string VALUES (1, 'nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT'), (2, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'), (3, 'AllReduce');
INSERT INTO thread VALUES (1, 1, 4001, NULL);
INSERT INTO stream(id, proc, device, context, stream_id) VALUES (1, 1, 1, 1, 7), (2, 1, 1, 1, 20);
INSERT INTO kernel_shape VALUES (1, 1, 132, 1, 1, 384, 1, 1, 2, 1, 1, 168, 0, 229376, 0), (2, 2, 16, 1, 1, 544, 1, 1, NULL, NULL, NULL, 96, 0, 0, 0);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1), (2, 1, 41, 'cudaMemcpyAsync', 2), (3, 2, 652, 'cuLaunchKernelEx', 1);
INSERT INTO communicator VALUES (1, 1, 4096, 0, 2, 1, 1, NULL, NULL, NULL);
INSERT INTO api VALUES (1000, 500, 1, 2, 1, 0), (1600, 400, 1, 1, 2, 0), (2500, 300, 1, 3, 3, 0),
  (11000, 500, 1, 2, 4, 0), (11600, 400, 1, 1, 5, 0), (12500, 300, 1, 3, 6, 0),
  (21000, 500, 1, 2, 7, 0), (21600, 400, 1, 1, 8, 0), (22500, 300, 1, 3, 9, 0);
INSERT INTO memcpy VALUES (2000, 1000, 1, 1, 2, 3, 1, 65536, 1, NULL, NULL, NULL), (12000, 1000, 1, 1, 2, 3, 1, 65536, 4, NULL, NULL, NULL),
  (22000, 1000, 1, 1, 2, 3, 1, 65536, 7, NULL, NULL, NULL);
INSERT INTO kernel VALUES (3000, 4500, 1, 1, 2, NULL), (13000, 4500, 1, 1, 5, NULL), (23000, 4500, 1, 1, 8, NULL),
  (6000, 3000, 2, 2, 3, NULL), (16000, 3000, 2, 2, 6, NULL), (26000, 3000, 2, 2, 9, NULL);
INSERT INTO collective VALUES (NULL, 2400, 500, 1, 3, 1, 1048576, 0, NULL, NULL), (NULL, 12400, 500, 1, 3, 1, 1048576, 0, NULL, NULL),
  (NULL, 22400, 500, 1, 3, 1, 1048576, 0, NULL, NULL);
INSERT INTO health VALUES (1, 'kernel', 'seen', 6, NULL), (1, 'kernel', 'stored', 6, NULL), (1, 'buffers', 'exhausted', 2, NULL), (1, 'start', 'unknown_option', 1, 'TRACEINJECT_KIND');
INSERT INTO system_fact (proc, kind, key, value) VALUES (1, 'env', 'NCCL_DEBUG', 'WARN');
