-- A process that waits for data, steps, saves and collects garbage.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 4000, 'node-a', 'job-7', 0, 40000);
INSERT INTO thread VALUES (1, 1, 4000, NULL);
INSERT INTO data_loader VALUES (1, 1, 4, 1, 0, 2, 32);
INSERT INTO data_wait VALUES (1000, 500, 1, 1, 0), (3000, 70, 1, NULL, NULL);
INSERT INTO step_mark VALUES (2000, 1, 1);
INSERT INTO host_span VALUES (2500, 90, 1, 1, NULL), (2700, 80, 1, 2, 2);
