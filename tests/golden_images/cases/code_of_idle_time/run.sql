-- Twenty steps of 10 ms. In each the thread loads for 6 ms, prepares for 1 ms, and launches a kernel of 2.9 ms. It is sampled every 2 ms;
-- of every fourth launch the stack is known.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 202000000);
INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200');
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO stream (id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7);
INSERT INTO string VALUES (1, 'sm90_xmma_gemm_bf16bf16_bf16f32'), (2, 'train'), (3, 'load_batch'), (4, 'choice'), (5, 'Linear.forward'),
  (6, '/src/train.py'), (7, '/src/data.py'), (8, '/opt/venv/lib/python3.12/site-packages/numpy/random/mtrand.py'),
  (9, '/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py');
INSERT INTO kernel_shape VALUES (1, 1, 64, 32, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1);
INSERT INTO code_place VALUES (1, 2, 6, 9, 5), (2, 3, 7, 41, 30), (3, 4, 8, 970, 960), (4, 2, 6, 12, 5), (5, 5, 9, 125, 124);
INSERT INTO stack VALUES (1, NULL, 1, NULL), (2, 1, 2, NULL), (3, 2, 3, NULL), (4, NULL, 4, NULL), (5, 4, 5, NULL);
INSERT INTO system_fact VALUES (1, 'stacks', 'period_ns', '2000000', NULL);
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 19)
  INSERT INTO api SELECT t + 7000000, 40000, 1, 1, n + 1, 0 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 19)
  INSERT INTO kernel SELECT t + 7050000, 2900000, 1, 1, n + 1, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 19)
  INSERT INTO step_mark SELECT t + 7100000, 1, 1 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 19)
  INSERT INTO stack_sample SELECT t + 500000, 1, 3, 1, NULL, NULL, NULL FROM step
  UNION ALL SELECT t + 2500000, 1, 2, 1, NULL, NULL, NULL FROM step UNION ALL SELECT t + 4500000, 1, 3, 1, NULL, NULL, NULL FROM step
  UNION ALL SELECT t + 6500000, 1, 5, 1, NULL, NULL, NULL FROM step UNION ALL SELECT t + 8500000, 1, 4, 1, NULL, NULL, NULL FROM step
  UNION ALL SELECT t + 7000000, 1, 5, 3, n + 1, NULL, NULL FROM step WHERE n % 4 = 0;
