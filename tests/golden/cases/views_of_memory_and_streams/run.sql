-- An allocation with its call, one in the order of a stream without, and a release whose id a copy's call shares.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 40000);
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO string VALUES (1, 'copies');
INSERT INTO stream VALUES (1, 1, 0, 1, 7, NULL, NULL, NULL), (2, 1, 0, 1, 13, -5, 2, 1);
INSERT INTO api_name VALUES (1, 1, 20, 'cudaMalloc', 6), (2, 1, 41, 'cudaMemcpyAsync', 2);
INSERT INTO api VALUES (1000, 250, 1, 1, 5, 0), (3000, 9, 1, 2, 7, 0);
INSERT INTO memory_operation VALUES (1010, 1, 0, 1, 3, 4096, 139637976727552, NULL, 0, 5),
  (2000, 1, 0, 1, 3, 512, 139637976731648, 2, 1, 6), (3000, 1, 0, 2, 2, 64, 4096, NULL, 0, 7);
