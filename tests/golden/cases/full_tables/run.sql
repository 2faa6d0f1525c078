-- Four steps of 10 ms. In each the main thread waits 2 ms for data, uploads it, launches a product in "forward", waits for the autograd
-- thread, which launches another, and exchanges and applies gradients in "optimizer". Then it waits for the GPU.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, rank, world_size, run_id, start, end) VALUES (1, 4000, 'node-a', 0, 2, 'job-7', 0, 50000000);
INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200');
INSERT INTO thread VALUES (1, 1, 4000, NULL), (2, 1, 4001, NULL);
INSERT INTO stream (id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7), (2, 1, 0, 1, 20);
INSERT INTO string VALUES (1, 'ampere_bf16_s16816gemm_bf16_128x128_nn'), (2, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
  (3, 'void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)'), (4, 'AllReduce'), (5, 'ncclBfloat16'),
  (6, 'RING'), (7, 'SIMPLE'), (8, 'forward'), (9, 'optimizer'), (10, 'ncclAllReduce');
INSERT INTO kernel_shape VALUES (1, 1, 64, 32, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0),
  (2, 2, 24, 1, 1, 544, 1, 1, 4, 1, 1, 96, 0, 83000, 0), (3, 3, 320, 1, 1, 512, 1, 1, NULL, NULL, NULL, 40, 0, 0, 0);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1), (2, 1, 41, 'cudaMemcpyAsync', 2), (3, 1, 131, 'cudaStreamSynchronize', 4),
  (4, 1, 20, 'cudaMalloc', 6);
INSERT INTO nvtx_domain VALUES (1, 1, ''), (2, 1, 'NCCL');
INSERT INTO communicator VALUES (1, 1, 4096, NULL, 2, 0, 0, NULL, 1, 'data_parallel');
INSERT INTO data_loader VALUES (1, 1, 2, 1, 0, 2, 32);
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO string SELECT 100 + n, 'step ' || n FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO nvtx (start, dur, thread, kind, domain, text)
  SELECT t, 9500000, 1, 1, 1, 100 + n FROM step UNION ALL SELECT t + 2000000, 1000000, 1, 1, 1, 8 FROM step
  UNION ALL SELECT t + 4000000, 500000, 1, 1, 1, 9 FROM step UNION ALL SELECT t + 4100000, 200000, 1, 1, 2, 10 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO data_wait SELECT t, 2000000, 1, 1, n, 32 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO api SELECT t + 2050000, 20000, 1, 4, 10 * n + 6, 0 FROM step WHERE n < 2
  UNION ALL SELECT t + 2100000, 40000, 1, 2, 10 * n + 1, 0 FROM step
  UNION ALL SELECT t + 2300000, 10000, 1, 1, 10 * n + 2, 0 FROM step UNION ALL SELECT t + 3200000, 10000, 2, 1, 10 * n + 3, 0 FROM step
  UNION ALL SELECT t + 4150000, 10000, 1, 1, 10 * n + 4, 0 FROM step UNION ALL SELECT t + 4400000, 10000, 1, 1, 10 * n + 5, 0 FROM step
  UNION ALL SELECT t + 4600000, 4400000, 1, 3, 10 * n + 9, 0 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO collective SELECT n + 1, t + 4100000, 200000, 1, 4, 1, 33554432, 0, NULL, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO collective_plan SELECT n + 1, t + 4170000, 1, n, 16777216, 5, 6, 7, 24, 17, t + 4140000, 30000 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO memcpy SELECT t + 2200000, 300000, 1, 1, 1, 3, 1, 8000000, 10 * n + 1, NULL, NULL, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO kernel SELECT t + 2500000, 2000000 + 1000 * n, 1, 1, 10 * n + 2, NULL FROM step
  UNION ALL SELECT t + 4510000, 3000000, 1, 1, 10 * n + 3, NULL FROM step
  UNION ALL SELECT t + 7000000, 1500000, 2, 2, 10 * n + 4, NULL FROM step
  UNION ALL SELECT t + 8520000, 400000, 1, 3, 10 * n + 5, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO step_mark SELECT t + 9400000, 1, 1 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO memory_operation SELECT t + 2060000, 1, 0, 1, 3, 4194304, 4096 * (n + 1), NULL, 0, 10 * n + 6 FROM step WHERE n < 2;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO allocator_sample SELECT t + 5000000, 1, 0, 1000000000 + 1000000 * n, 3000000000, 1500000000, 2000000000, 4000000000, n / 2, 0 FROM step;
INSERT INTO worker VALUES (1, 1, 5001, 1, 500000, NULL), (2, 1, 5002, 1, 500000, NULL);
INSERT INTO worker_sample VALUES (4000000, 1, 0, 0, 4, 0), (4000000, 2, 0, 0, 4, 0), (39000000, 1, 30000000, 4000000, 8, 2),
  (39000000, 2, 20000000, 4000000, 8, 0);
INSERT INTO health VALUES (1, 'kernel', 'seen', 16, NULL), (1, 'kernel', 'stored', 16, NULL), (1, 'memcpy', 'seen', 4, NULL),
  (1, 'memcpy', 'stored', 4, NULL);
