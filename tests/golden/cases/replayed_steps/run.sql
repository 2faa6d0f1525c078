-- A program that trains four steps of 10 ms as its optimizer marks them, the last one while a CUDA graph is captured, and then replays
-- the graph twenty times, in 2 ms each: a convolution, a product, the optimizer.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 100000000);
INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200');
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO stream (id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7);
INSERT INTO string VALUES (1, 'sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc'),
  (2, 'ampere_bf16_s16816gemm_bf16_128x128_nn'),
  (3, 'void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)'), (4, 'cublasGemmEx');
INSERT INTO kernel_shape VALUES (1, 1, 64, 1, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0),
  (2, 2, 64, 32, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0), (3, 3, 320, 1, 1, 512, 1, 1, NULL, NULL, NULL, 40, 0, 0, 0);
INSERT INTO graph_node VALUES (1, 9, 1), (2, 9, 2), (3, 9, 3);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1), (2, 1, 311, 'cudaGraphLaunch', 7);
INSERT INTO gemm_shape VALUES (1, 4, 1000, 1000, 1000, 1, 0, 0, 14, 14, 14, 68, NULL);
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO api SELECT t, 10000, 1, 1, 10 * n + 1, 0 FROM step WHERE n < 3 UNION ALL SELECT t + 100000, 10000, 1, 1, 10 * n + 2, 0 FROM step
  WHERE n < 3 UNION ALL SELECT t + 200000, 10000, 1, 1, 10 * n + 3, 0 FROM step WHERE n < 3;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO gemm SELECT t + 90000, 30000, 1, 1 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 2)
  INSERT INTO kernel SELECT t + 300000, 500000, 1, 1, 10 * n + 1, NULL FROM step
  UNION ALL SELECT t + 900000, 500000, 1, 2, 10 * n + 2, NULL FROM step UNION ALL SELECT t + 1500000, 200000, 1, 3, 10 * n + 3, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO step_mark SELECT t + 9000000, 1, 1 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 50000000) UNION ALL SELECT n + 1, t + 2000000 FROM step WHERE n < 19)
  INSERT INTO api SELECT t, 20000, 1, 2, 1000 + n, 0 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 50000000) UNION ALL SELECT n + 1, t + 2000000 FROM step WHERE n < 19)
  INSERT INTO kernel SELECT t + 100000, 1000000, 1, 1, 1000 + n, 1 FROM step
  UNION ALL SELECT t + 1100000, 500000, 1, 2, 1000 + n, 2 FROM step UNION ALL SELECT t + 1600000, 300000, 1, 3, 1000 + n, 3 FROM step;
INSERT INTO health VALUES (1, 'kernel', 'seen', 69, NULL), (1, 'kernel', 'stored', 69, NULL);
