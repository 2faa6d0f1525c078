-- python -c with several lines, and what a terminal would obey.
INSERT INTO meta VALUES ('base_ns', 1785589200000000000), ('closed', 1), ('run_id', 'job' || char(27) || '[2J');
INSERT INTO process (proc, pid, host, run_id, start, end, command_line)
VALUES (1, 100, 'node' || char(155) || '1', 'job', 0, 100, 'python -c import torch' || char(10) || 'train()');
INSERT INTO health VALUES (1, 'start', 'failed', 1, 'no' || char(7) || 'CUPTI');
INSERT INTO system_fact (proc, kind, key, value) VALUES (1, 'env', 'NCCL_DEBUG', 'INFO' || char(13) || char(10));
