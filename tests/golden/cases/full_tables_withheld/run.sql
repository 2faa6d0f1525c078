-- One kernel in ten has no launch call: nobody can say why the GPU was idle, nor in which range they were launched.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 50000000);
INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200');
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO stream (id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7);
INSERT INTO string VALUES (1, 'ampere_bf16_s16816gemm_bf16_128x128_nn'), (2, 'forward');
INSERT INTO kernel_shape VALUES (1, 1, 64, 32, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1);
INSERT INTO nvtx_domain VALUES (1, 1, '');
INSERT INTO nvtx (start, dur, thread, kind, domain, text) VALUES (1000000, 9000000, 1, 1, 1, 2);
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO api SELECT 1000000 * i, 10000, 1, 1, i, 0 FROM n WHERE i % 10 > 0;
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO kernel SELECT 1000000 * i + 20000, 500000, 1, 1, i, NULL FROM n;
INSERT INTO health VALUES (1, 'kernel', 'seen', 40, NULL), (1, 'kernel', 'stored', 40, NULL);
