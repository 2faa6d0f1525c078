-- Four ranks on two hosts: twelve steps of a product and an AllReduce. Rank 2 takes 12 ms for the product, the others 10 ms; the clock of
-- its host is a second ahead. This is rank 0.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, rank, local_rank, world_size, run_id, start, end)
  VALUES (1, 4000, 'node-a', 0, 0, 4, 'job-7', 0, 200000000);
INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200');
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO stream (id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7), (2, 1, 0, 1, 20);
INSERT INTO string VALUES (1, 'ampere_bf16_s16816gemm_bf16_128x128_nn'), (2, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'), (3, 'AllReduce');
INSERT INTO kernel_shape VALUES (1, 1, 64, 32, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0),
  (2, 2, 24, 1, 1, 544, 1, 1, NULL, NULL, NULL, 96, 0, 0, 0);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1);
INSERT INTO communicator VALUES (1, 1, 4096, 0, 4, 0, 0, NULL, 2, 'data_parallel');
-- A step lasts 13 ms: 12 ms until the last rank has come, 1 ms for the data.
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 13000000 FROM step WHERE n < 11)
  INSERT INTO api SELECT t - 500000, 10000, 1, 1, 2 * n + 1, 0 FROM step UNION ALL SELECT t - 400000, 10000, 1, 1, 2 * n + 2, 0 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 13000000 FROM step WHERE n < 11)
  INSERT INTO collective SELECT n + 1, t - 410000, 30000, 1, 3, 1, 33554432, 0, NULL, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 13000000 FROM step WHERE n < 11)
  INSERT INTO kernel SELECT t, 10000000 - 1000 * (n % 3), 1, 1, 2 * n + 1, NULL FROM step
  UNION ALL SELECT t + 10000000, 3000000 - 0, 2, 2, 2 * n + 2, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 13000000 FROM step WHERE n < 11)
  INSERT INTO step_mark SELECT t - 300000, 1, 1 FROM step;
INSERT INTO health VALUES (1, 'kernel', 'seen', 24, NULL), (1, 'kernel', 'stored', 24, NULL);
