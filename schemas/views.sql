-- Views for people: names instead of ids, absolute times (ns since the epoch), readable enumerations.
-- They live in every run.db, so that `sqlite3 run.db "SELECT ... FROM kernels"` works with no tool of ours.

CREATE VIEW kernels AS
SELECT k.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, k.dur AS dur_ns,
       s.proc, s.device, s.context, s.stream_id AS stream, n.text AS name,
       h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z, h.registers,
       h.static_shared_bytes + h.dynamic_shared_bytes AS shared_bytes,
       k.correlation, g.graph_id, g.node_id AS graph_node_id
FROM kernel k JOIN stream s ON s.id = k.stream JOIN kernel_shape h ON h.id = k.shape JOIN string n ON n.id = h.name
LEFT JOIN graph_node g ON g.id = k.graph_node;

CREATE VIEW memcpys AS
SELECT m.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, m.dur AS dur_ns,
       s.proc, s.device, s.context, s.stream_id AS stream,
       CASE m.kind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 3 THEN 'HtoA' WHEN 4 THEN 'AtoH' WHEN 5 THEN 'AtoA'
                   WHEN 6 THEN 'AtoD' WHEN 7 THEN 'DtoA' WHEN 8 THEN 'DtoD' WHEN 9 THEN 'HtoH' WHEN 10 THEN 'PtoP'
                   ELSE 'unknown' END AS kind,
       CASE m.src_kind WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned' WHEN 3 THEN 'device' WHEN 4 THEN 'array'
                       WHEN 5 THEN 'managed' WHEN 6 THEN 'device static' WHEN 7 THEN 'managed static'
                       ELSE 'unknown' END AS src_kind,
       CASE m.dst_kind WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned' WHEN 3 THEN 'device' WHEN 4 THEN 'array'
                       WHEN 5 THEN 'managed' WHEN 6 THEN 'device static' WHEN 7 THEN 'managed static'
                       ELSE 'unknown' END AS dst_kind,
       m.async, m.bytes, m.bytes * 1.0 / NULLIF(m.dur, 0) AS gb_per_s, m.correlation, m.src_device, m.dst_device
FROM memcpy m JOIN stream s ON s.id = m.stream;

CREATE VIEW memsets AS
SELECT m.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, m.dur AS dur_ns,
       s.proc, s.device, s.context, s.stream_id AS stream, m.value, m.bytes, m.correlation
FROM memset m JOIN stream s ON s.id = m.stream;

CREATE VIEW api_calls AS
SELECT a.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, a.dur AS dur_ns,
       t.proc, t.tid, n.name, a.correlation, a.result
FROM api a JOIN thread t ON t.id = a.thread JOIN api_name n ON n.id = a.name;

CREATE VIEW syncs AS
SELECT y.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, y.dur AS dur_ns, t.proc, t.tid,
       CASE y.kind WHEN 1 THEN 'event record' WHEN 2 THEN 'stream waits for event' WHEN 3 THEN 'host waits for event'
                   WHEN 4 THEN 'host waits for stream' END AS kind,
       y.event, s.device, s.stream_id AS stream
FROM sync y JOIN thread t ON t.id = y.thread LEFT JOIN stream s ON s.id = y.stream;

CREATE VIEW nvtx_ranges AS
SELECT x.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, x.dur AS dur_ns, t.proc, t.tid,
       CASE x.kind WHEN 1 THEN 'push/pop' WHEN 2 THEN 'start/end' WHEN 3 THEN 'mark' END AS kind,
       d.name AS domain, s.text, c.name AS category, x.color, x.payload
FROM nvtx x JOIN thread t ON t.id = x.thread JOIN nvtx_domain d ON d.id = x.domain LEFT JOIN string s ON s.id = x.text
LEFT JOIN nvtx_category c ON c.domain = x.domain AND c.category = x.category;

CREATE VIEW collectives AS
SELECT c.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, c.dur AS dur_ns, t.proc, t.tid,
       f.text AS function, c.bytes, m.size AS comm_size, m.rank AS comm_rank, printf('0x%x', m.hash) AS comm,
       c.reduction, c.peer, c.root, m.name AS comm_name, m.nodes AS comm_nodes,
       a.text AS algorithm, o.text AS protocol, p.channels, p.warps, p.sequence, d.text AS datatype, p.count
FROM collective c JOIN thread t ON t.id = c.thread JOIN string f ON f.id = c.function
LEFT JOIN communicator m ON m.id = c.communicator
-- Of several plans the first: an operation is one row.
LEFT JOIN (SELECT min(rowid) AS first, collective FROM collective_plan GROUP BY collective) q ON q.collective = c.id
LEFT JOIN collective_plan p ON p.rowid = q.first
LEFT JOIN string a ON a.id = p.algorithm LEFT JOIN string o ON o.id = p.protocol LEFT JOIN string d ON d.id = p.datatype;

CREATE VIEW gemms AS
SELECT g.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, g.dur AS dur_ns, t.proc, t.tid, f.text AS function,
       s.m, s.n, s.k, s.batch, s.trans_a, s.trans_b, s.type_a, s.type_b, s.type_c, s.compute_type,
       s.m * s.n * s.k * s.batch * (CASE WHEN s.type_a IN (4, 5, 6, 15) THEN 8 ELSE 2 END) AS flops
FROM gemm g JOIN thread t ON t.id = g.thread JOIN gemm_shape s ON s.id = g.shape JOIN string f ON f.id = s.function;

CREATE VIEW streams AS
SELECT s.proc, s.device, s.context, s.stream_id AS stream, n.text AS name, s.priority,
       CASE s.flags WHEN 1 THEN 'blocking' WHEN 2 THEN 'non-blocking' WHEN 3 THEN 'default' END AS kind
FROM stream s LEFT JOIN string n ON n.id = s.name;

CREATE VIEW memory_operations AS
SELECT m.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, m.proc, m.device,
       CASE m.kind WHEN 1 THEN 'allocation' WHEN 2 THEN 'release' END AS kind,
       CASE m.memory_kind WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned' WHEN 3 THEN 'device' WHEN 4 THEN 'array' WHEN 5 THEN 'managed'
                          WHEN 6 THEN 'device static' WHEN 7 THEN 'managed static' ELSE 'unknown' END AS memory,
       m.bytes, printf('0x%x', m.address) AS address, s.stream_id AS stream, m.pool, c.tid, c.name AS call, c.dur AS dur_ns
FROM memory_operation m LEFT JOIN stream s ON s.id = m.stream
LEFT JOIN (SELECT a.correlation, a.dur, t.proc, t.tid, n.name FROM api a JOIN api_name n ON n.id = a.name JOIN thread t ON t.id = a.thread
           WHERE n.class = 6) c ON c.correlation = m.correlation AND c.proc = m.proc;

CREATE VIEW attentions AS
SELECT a.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, a.dur AS dur_ns, t.proc, t.tid,
       CASE a.direction WHEN 1 THEN 'forward' WHEN 2 THEN 'backward' END AS direction, a.gradient,
       s.library, s.batch, s.heads, s.kv_heads, s.query_length, s.key_length, s.head_size, s.value_head_size, s.type, s.causal,
       -- As torch.utils.flop_counter: the full square, two products forward, five backward.
       2 * s.batch * s.heads * s.query_length * s.key_length
         * CASE a.direction WHEN 1 THEN s.head_size + s.value_head_size ELSE 3 * s.head_size + 2 * s.value_head_size END AS flops
FROM attention a JOIN thread t ON t.id = a.thread JOIN attention_shape s ON s.id = a.shape;

CREATE VIEW data_waits AS
SELECT w.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, w.dur AS dur_ns, t.proc, t.tid, w.loader, w.batch, w.samples,
       l.workers, l.pin_memory, l.persistent_workers, l.prefetch_factor, l.batch_size
FROM data_wait w JOIN thread t ON t.id = w.thread LEFT JOIN data_loader l ON l.id = w.loader;

CREATE VIEW step_marks AS
SELECT m.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, t.proc, t.tid, m.optimizer
FROM step_mark m JOIN thread t ON t.id = m.thread;

CREATE VIEW host_spans AS
SELECT h.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, h.dur AS dur_ns, t.proc, t.tid,
       CASE h.kind WHEN 1 THEN 'checkpoint' WHEN 2 THEN 'garbage collection' WHEN 3 THEN 'GPU wait' END AS kind,
       CASE h.kind WHEN 2 THEN h.detail END AS generation
FROM host_span h JOIN thread t ON t.id = h.thread;

CREATE VIEW device_samples AS
SELECT x.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, x.proc, x.device, d.name,
       x.sm_clock_mhz, x.memory_clock_mhz, x.power_mw / 1000.0 AS power_w, x.temperature_c, x.sm_utilisation_pct,
       x.memory_utilisation_pct, x.memory_used_bytes / 1e9 AS memory_used_gb,
       x.throttle_reasons & 1 AS idle, x.throttle_reasons >> 2 & 1 AS power_cap,
       (x.throttle_reasons & 96) <> 0 AS too_hot, (x.throttle_reasons & 136) <> 0 AS hardware_slowdown
FROM device_sample x LEFT JOIN device d ON d.proc = x.proc AND d.device = x.device;

CREATE VIEW device_slow_samples AS
SELECT x.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, x.proc, x.device, x.pcie_generation, x.pcie_width,
       x.pcie_tx_bytes_s / 1e9 AS pcie_tx_gb_s, x.pcie_rx_bytes_s / 1e9 AS pcie_rx_gb_s, x.pcie_replays,
       x.nvlink_tx_bytes / 1e9 AS nvlink_tx_gb, x.nvlink_rx_bytes / 1e9 AS nvlink_rx_gb,
       x.nvlink_replays, x.nvlink_recoveries, x.nvlink_crc_errors, x.ecc_corrected, x.ecc_uncorrected
FROM device_slow_sample x;

CREATE VIEW allocator_samples AS
SELECT x.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, x.proc, x.device, x.allocated_bytes / 1e9 AS allocated_gb,
       x.reserved_bytes / 1e9 AS reserved_gb, x.active_bytes / 1e9 AS active_gb, x.peak_allocated_bytes / 1e9 AS peak_allocated_gb,
       x.peak_reserved_bytes / 1e9 AS peak_reserved_gb, x.retries, x.ooms
FROM allocator_sample x;

CREATE VIEW host_samples AS
SELECT x.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, t.proc, t.tid, n.text AS name,
       x.cpu_ns, x.runqueue_ns, x.minor_faults, x.major_faults, x.voluntary_switches, x.involuntary_switches
FROM host_sample x JOIN thread t ON t.id = x.thread LEFT JOIN string n ON n.id = t.name;

CREATE VIEW workers AS
SELECT w.id, w.proc, w.pid, w.loader, w.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns,
       w.end + (SELECT value FROM meta WHERE key = 'base_ns') AS end_ns, s.cpu_s, s.read_gb, s.disk_wait_share
FROM worker w LEFT JOIN (
  SELECT worker, max(cpu_ns) / 1e9 AS cpu_s, max(read_bytes) / 1e9 AS read_gb,
         sum(states_disk) * 1.0 / NULLIF(sum(states), 0) AS disk_wait_share
  FROM worker_sample GROUP BY worker) s ON s.worker = w.id;

CREATE VIEW worker_samples AS
SELECT x.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, w.proc, w.pid, w.loader, x.cpu_ns, x.read_bytes,
       x.states, x.states_disk
FROM worker_sample x JOIN worker w ON w.id = x.worker;

-- The innermost frame; stack_frames has the others.
CREATE VIEW stack_samples AS
SELECT x.time + (SELECT value FROM meta WHERE key = 'base_ns') AS time_ns, t.proc, t.tid,
       CASE x.kind WHEN 1 THEN 'sample' WHEN 2 THEN 'wait' WHEN 3 THEN 'launch' WHEN 4 THEN 'stall' END AS kind,
       x.stack, f.text AS function, n.text AS file, p.line, x.correlation,
       1 + coalesce(x.repeats, 0) AS samples
FROM stack_sample x JOIN thread t ON t.id = x.thread LEFT JOIN stack s ON s.id = x.stack LEFT JOIN code_place p ON p.id = s.place
LEFT JOIN string f ON f.id = p.function LEFT JOIN string n ON n.id = p.file;

-- Of each stack all frames, from the innermost on (depth 0).
CREATE VIEW stack_frames AS
WITH RECURSIVE frame(stack, depth, parent, place, module) AS (
  SELECT id, 0, parent, place, module FROM stack
  UNION ALL SELECT f.stack, f.depth + 1, s.parent, s.place, s.module FROM frame f JOIN stack s ON s.id = f.parent)
SELECT f.stack, f.depth, n.text AS function, t.text AS file, p.line, p.first_line, m.text AS module
FROM frame f JOIN code_place p ON p.id = f.place JOIN string n ON n.id = p.function JOIN string t ON t.id = p.file
LEFT JOIN string m ON m.id = f.module;

CREATE VIEW profiler_ranges AS
SELECT r.start + (SELECT value FROM meta WHERE key = 'base_ns') AS start_ns, r.dur AS dur_ns, t.proc, t.tid,
       CASE r.kind WHEN 1 THEN 'operator' WHEN 2 THEN 'python' END AS kind, n.text AS name, s.text AS input_shapes, r.sequence,
       r.forward_thread
FROM profiler_range r JOIN thread t ON t.id = r.thread JOIN string n ON n.id = r.name LEFT JOIN string s ON s.id = r.input_shapes;

CREATE VIEW nccl_setups AS
SELECT u.id, u.proc, printf('0x%x', m.hash) AS comm, m.name AS comm_name, u.rank, u.size, u.device, u.nodes, n.text AS network,
       u.rings, u.trees, u.channels, u.nvls_channels, u.p2p_channels, u.p2p_channels_per_peer, u.nvls
FROM nccl_setup u LEFT JOIN communicator m ON m.id = u.communicator LEFT JOIN string n ON n.id = u.network;

CREATE VIEW nccl_links AS
SELECT l.id, l.proc, l.setup, printf('0x%x', m.hash) AS comm, m.name AS comm_name, u.size AS comm_size, l.rank, l.peer,
       CASE l.sends WHEN 1 THEN 'send' ELSE 'receive' END AS direction,
       t.text || coalesce('/' || n.text || '/' || l.net_device, '') || coalesce('/' || d.text, '') AS via,
       t.text AS transport, n.text AS network, l.net_device, l.gdrdma, l.proxy_rank, l.channels
FROM nccl_link l JOIN string t ON t.id = l.transport LEFT JOIN string d ON d.id = l.detail LEFT JOIN string n ON n.id = l.network
LEFT JOIN nccl_setup u ON u.id = l.setup LEFT JOIN communicator m ON m.id = u.communicator;
