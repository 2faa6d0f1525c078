-- A process that waits for data, steps, saves and collects garbage.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 40000);
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO data_loader VALUES (1, 1, 4, 1, 0, 2, 32);
INSERT INTO data_wait VALUES (1000, 500, 1, 1, 0, 32), (3000, 70, 1, NULL, NULL, NULL);
INSERT INTO attention_shape VALUES (1, 1, 2, 8, 8, 128, 128, 64, 64, 14, 1);
INSERT INTO attention VALUES (1600, 30, 1, 1, 1, 1), (1700, NULL, 1, 1, 2, 1);
INSERT INTO allocator_sample VALUES (2000, 1, 0, 1000000000, 3000000000, 1500000000, 2000000000, 4000000000, 0, 0);
INSERT INTO step_mark VALUES (2000, 1, 1);
INSERT INTO host_span VALUES (2500, 90, 1, 1, NULL), (2700, 80, 1, 2, 2);
