-- A process that ended before its first GPU operation.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'r'), ('closed', 1);
INSERT INTO process (proc, pid, host, run_id, start, end) VALUES (1, 5, 'node-a', 'r', 0, 10);
