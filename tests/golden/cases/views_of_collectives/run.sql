-- An operation that NCCL told of, one with two plans, and one that only NVTX told of.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 40000);
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO string VALUES (1, 'AllReduce'), (2, 'AlltoAll'), (3, 'ncclBfloat16'), (4, 'RING'), (5, 'SIMPLE');
INSERT INTO communicator VALUES (1, 1, 4096, 0, 16, 0, 0, NULL, 2, 'data_parallel');
INSERT INTO collective VALUES (1, 1000, 50, 1, 1, 1, 2048, 0, NULL, NULL), (2, 2000, 50, 1, 2, 1, 1024, NULL, NULL, NULL),
  (3, 3000, 50, 1, 1, NULL, 512, 0, NULL, NULL);
INSERT INTO collective_plan VALUES (2, 2040, 1, NULL, 512, 3, NULL, NULL, 2, NULL, 2010, 20), (1, 1040, 1, 7, 1024, 3, 4, 5, 24, 17, 1010, 20),
  (2, 2041, 1, NULL, 512, 3, NULL, NULL, 2, NULL, 2010, 20);
