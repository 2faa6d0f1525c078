-- A recording as schema version 5 wrote it: tables and rows, kept as they were when later versions change them.
PRAGMA application_id = 0x54524A31;
PRAGMA user_version = 5;
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value
) WITHOUT ROWID;
CREATE TABLE process (
  proc           INTEGER PRIMARY KEY,
  pid            INTEGER NOT NULL,
  parent_pid     INTEGER,
  host           TEXT NOT NULL,
  rank           INTEGER,
  local_rank     INTEGER,
  world_size     INTEGER,
  local_world_size INTEGER,
  run_id         TEXT NOT NULL,
  restart        INTEGER,
  start          INTEGER NOT NULL,
  end            INTEGER,
  executable     TEXT,
  command_line   TEXT,
  working_directory TEXT,
  launcher       TEXT,
  driver_version INTEGER,
  runtime_version INTEGER,
  cupti_version  INTEGER,
  cupti_path     TEXT,
  nccl_version   INTEGER,
  tool_version   TEXT,
  closed         INTEGER,
  clock_shift    INTEGER,
  clock_drift    REAL
);
CREATE TABLE device (
  proc            INTEGER NOT NULL,
  device          INTEGER NOT NULL,
  name            TEXT NOT NULL,
  uuid            TEXT,
  pci_bus_id      TEXT,
  sm_count        INTEGER,
  cc_major        INTEGER,
  cc_minor        INTEGER,
  sm_clock_khz    INTEGER,
  memory_clock_khz INTEGER,
  memory_bus_bits INTEGER,
  memory_bytes    INTEGER,
  l2_bytes        INTEGER,
  PRIMARY KEY (proc, device)
) WITHOUT ROWID;
CREATE TABLE string (
  id   INTEGER PRIMARY KEY,
  text TEXT NOT NULL
);
CREATE TABLE thread (
  id   INTEGER PRIMARY KEY,
  proc INTEGER NOT NULL,
  tid  INTEGER NOT NULL,
  name INTEGER
);
CREATE TABLE stream (
  id        INTEGER PRIMARY KEY,
  proc      INTEGER NOT NULL,
  device    INTEGER NOT NULL,
  context   INTEGER NOT NULL,
  stream_id INTEGER NOT NULL,
  priority  INTEGER,
  flags     INTEGER,
  name      INTEGER
);
CREATE TABLE kernel_shape (
  id                   INTEGER PRIMARY KEY,
  name                 INTEGER NOT NULL,
  grid_x               INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
  block_x              INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  cluster_x            INTEGER, cluster_y INTEGER, cluster_z INTEGER,
  registers            INTEGER NOT NULL,
  static_shared_bytes  INTEGER NOT NULL,
  dynamic_shared_bytes INTEGER NOT NULL,
  local_bytes          INTEGER NOT NULL
);
CREATE TABLE graph_node (
  id         INTEGER PRIMARY KEY,
  graph_id   INTEGER NOT NULL,
  node_id    INTEGER NOT NULL
);
CREATE TABLE kernel (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  stream      INTEGER NOT NULL,
  shape       INTEGER NOT NULL,
  correlation INTEGER NOT NULL,
  graph_node  INTEGER
);
CREATE TABLE memcpy (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  stream      INTEGER NOT NULL,
  kind        INTEGER NOT NULL,
  src_kind    INTEGER NOT NULL,
  dst_kind    INTEGER NOT NULL,
  async       INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  correlation INTEGER NOT NULL,
  graph_node  INTEGER,
  src_device  INTEGER,
  dst_device  INTEGER
);
CREATE TABLE memset (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  stream      INTEGER NOT NULL,
  value       INTEGER NOT NULL,
  memory_kind INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  correlation INTEGER NOT NULL,
  graph_node  INTEGER
);
CREATE TABLE memory_operation (
  time        INTEGER NOT NULL,
  proc        INTEGER NOT NULL,
  device      INTEGER NOT NULL,
  kind        INTEGER NOT NULL,
  memory_kind INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  address     INTEGER NOT NULL,
  stream      INTEGER,
  pool        INTEGER NOT NULL,
  correlation INTEGER NOT NULL
);
CREATE TABLE api_name (
  id     INTEGER PRIMARY KEY,
  domain INTEGER NOT NULL,
  cbid   INTEGER NOT NULL,
  name   TEXT NOT NULL,
  class  INTEGER NOT NULL
);
CREATE TABLE api (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  thread      INTEGER NOT NULL,
  name        INTEGER NOT NULL,
  correlation INTEGER NOT NULL,
  result      INTEGER NOT NULL
);
CREATE TABLE sync (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  kind   INTEGER NOT NULL,
  event  INTEGER,
  stream INTEGER
);
CREATE TABLE nvtx_domain (
  id   INTEGER PRIMARY KEY,
  proc INTEGER NOT NULL,
  name TEXT NOT NULL
);
CREATE TABLE nvtx_category (
  domain   INTEGER NOT NULL,
  category INTEGER NOT NULL,
  name     TEXT NOT NULL,
  PRIMARY KEY (domain, category)
) WITHOUT ROWID;
CREATE TABLE nvtx (
  start    INTEGER NOT NULL,
  dur      INTEGER,
  thread   INTEGER NOT NULL,
  kind     INTEGER NOT NULL,
  domain   INTEGER NOT NULL,
  text     INTEGER,
  category INTEGER,
  color    INTEGER,
  payload
);
CREATE TABLE communicator (
  id     INTEGER PRIMARY KEY,
  proc   INTEGER NOT NULL,
  hash   INTEGER NOT NULL,
  created INTEGER,
  size   INTEGER,
  rank   INTEGER,
  device INTEGER,
  parent INTEGER,
  nodes  INTEGER,
  name   TEXT
);
CREATE TABLE collective (
  id           INTEGER PRIMARY KEY,
  start        INTEGER NOT NULL,
  dur          INTEGER,
  thread       INTEGER NOT NULL,
  function     INTEGER NOT NULL,
  communicator INTEGER,
  bytes        INTEGER NOT NULL,
  reduction    INTEGER,
  peer         INTEGER,
  root         INTEGER
);
CREATE TABLE collective_plan (
  collective   INTEGER NOT NULL,
  time         INTEGER NOT NULL,
  thread       INTEGER NOT NULL,
  sequence     INTEGER,
  count        INTEGER NOT NULL,
  datatype     INTEGER,
  algorithm    INTEGER,
  protocol     INTEGER,
  channels     INTEGER,
  warps        INTEGER,
  launch_start INTEGER,
  launch_dur   INTEGER
);
CREATE TABLE nccl_setup (
  id           INTEGER PRIMARY KEY,
  proc         INTEGER NOT NULL,
  communicator INTEGER,
  rank         INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  device       INTEGER NOT NULL,
  nodes        INTEGER,
  network      INTEGER,
  rings        INTEGER,
  trees        INTEGER,
  channels     INTEGER,
  nvls_channels INTEGER,
  p2p_channels INTEGER,
  p2p_channels_per_peer INTEGER,
  nvls         INTEGER NOT NULL
);
CREATE TABLE nccl_link (
  id         INTEGER PRIMARY KEY,
  proc       INTEGER NOT NULL,
  setup      INTEGER,
  rank       INTEGER NOT NULL,
  peer       INTEGER,
  sends      INTEGER NOT NULL,
  transport  INTEGER NOT NULL,
  detail     INTEGER,
  network    INTEGER,
  net_device INTEGER,
  gdrdma     INTEGER,
  proxy_rank INTEGER,
  channels   INTEGER NOT NULL
);
CREATE TABLE gemm_shape (
  id           INTEGER PRIMARY KEY,
  function     INTEGER NOT NULL,
  m            INTEGER NOT NULL,
  n            INTEGER NOT NULL,
  k            INTEGER NOT NULL,
  batch        INTEGER NOT NULL,
  trans_a      INTEGER NOT NULL,
  trans_b      INTEGER NOT NULL,
  type_a       INTEGER,
  type_b       INTEGER,
  type_c       INTEGER,
  compute_type INTEGER
);
CREATE TABLE gemm (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  shape  INTEGER NOT NULL
);
CREATE TABLE attention_shape (
  id              INTEGER PRIMARY KEY,
  library         INTEGER NOT NULL,
  batch           INTEGER,
  heads           INTEGER,
  kv_heads        INTEGER,
  query_length    INTEGER,
  key_length      INTEGER,
  head_size       INTEGER,
  value_head_size INTEGER,
  type            INTEGER,
  causal          INTEGER
);
CREATE TABLE attention (
  start     INTEGER NOT NULL,
  dur       INTEGER,
  thread    INTEGER NOT NULL,
  shape     INTEGER NOT NULL,
  direction INTEGER NOT NULL,
  gradient  INTEGER
);
CREATE TABLE data_loader (
  id                 INTEGER PRIMARY KEY,
  proc               INTEGER NOT NULL,
  workers            INTEGER NOT NULL,
  pin_memory         INTEGER NOT NULL,
  persistent_workers INTEGER NOT NULL,
  prefetch_factor    INTEGER,
  batch_size         INTEGER
);
CREATE TABLE data_wait (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  loader INTEGER,
  batch  INTEGER,
  samples INTEGER
);
CREATE TABLE step_mark (
  time      INTEGER NOT NULL,
  thread    INTEGER NOT NULL,
  optimizer INTEGER NOT NULL
);
CREATE TABLE host_span (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  kind   INTEGER NOT NULL,
  detail INTEGER
);
CREATE TABLE system_fact (
  proc   INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  key    TEXT NOT NULL,
  value  TEXT,
  reason TEXT,
  PRIMARY KEY (proc, kind, key)
) WITHOUT ROWID;
CREATE TABLE device_sample (
  time             INTEGER NOT NULL,
  proc             INTEGER NOT NULL,
  device           INTEGER NOT NULL,
  sm_clock_mhz     INTEGER,
  memory_clock_mhz INTEGER,
  power_mw         INTEGER,
  temperature_c    INTEGER,
  throttle_reasons INTEGER,
  sm_utilisation_pct INTEGER,
  memory_utilisation_pct INTEGER,
  memory_used_bytes INTEGER
);
CREATE TABLE device_slow_sample (
  time             INTEGER NOT NULL,
  proc             INTEGER NOT NULL,
  device           INTEGER NOT NULL,
  pcie_generation  INTEGER,
  pcie_width       INTEGER,
  pcie_tx_bytes_s  INTEGER,
  pcie_rx_bytes_s  INTEGER,
  pcie_replays     INTEGER,
  nvlink_tx_bytes  INTEGER,
  nvlink_rx_bytes  INTEGER,
  nvlink_replays   INTEGER,
  nvlink_recoveries INTEGER,
  nvlink_crc_errors INTEGER,
  ecc_corrected    INTEGER,
  ecc_uncorrected  INTEGER
);
CREATE TABLE allocator_sample (
  time                 INTEGER NOT NULL,
  proc                 INTEGER NOT NULL,
  device               INTEGER NOT NULL,
  allocated_bytes      INTEGER,
  reserved_bytes       INTEGER,
  active_bytes         INTEGER,
  peak_allocated_bytes INTEGER,
  peak_reserved_bytes  INTEGER,
  retries              INTEGER,
  ooms                 INTEGER
);
CREATE TABLE host_sample (
  time                 INTEGER NOT NULL,
  thread               INTEGER NOT NULL,
  cpu_ns               INTEGER NOT NULL,
  runqueue_ns          INTEGER,
  minor_faults         INTEGER,
  major_faults         INTEGER,
  voluntary_switches   INTEGER,
  involuntary_switches INTEGER
);
CREATE TABLE worker (
  id     INTEGER PRIMARY KEY,
  proc   INTEGER NOT NULL,
  pid    INTEGER NOT NULL,
  loader INTEGER,
  start  INTEGER NOT NULL,
  end    INTEGER
);
CREATE TABLE worker_sample (
  time         INTEGER NOT NULL,
  worker       INTEGER NOT NULL,
  cpu_ns       INTEGER,
  read_bytes   INTEGER,
  states       INTEGER NOT NULL,
  states_disk  INTEGER NOT NULL
);
CREATE TABLE clock_pair (
  proc      INTEGER NOT NULL,
  realtime  INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  monotonic_raw INTEGER NOT NULL,
  boottime  INTEGER NOT NULL,
  cupti     INTEGER
);
CREATE TABLE capture_gap (
  start  INTEGER NOT NULL,
  dur    INTEGER,
  proc   INTEGER NOT NULL,
  reason TEXT NOT NULL
);
CREATE TABLE health (
  proc    INTEGER NOT NULL,
  source  TEXT NOT NULL,
  counter TEXT NOT NULL,
  value   INTEGER NOT NULL,
  detail  TEXT,
  PRIMARY KEY (proc, source, counter)
) WITHOUT ROWID;
-- Four steps of 10 ms. In each the main thread waits 2 ms for data, uploads it, launches a product in "forward", waits for the autograd
-- thread, which launches another, and exchanges and applies gradients in "optimizer". Then it waits for the GPU.
INSERT INTO meta VALUES ('base_ns', 1700000000000000000), ('tool_version', '0.1.0'), ('run_id', 'job-7'), ('closed', 1);
INSERT INTO process (proc, pid, host, rank, world_size, run_id, start, end) VALUES (1, 4000, 'node-a', 0, 2, 'job-7', 0, 50000000);
INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200');
INSERT INTO thread VALUES (1, 1, 4000, NULL), (2, 1, 4001, NULL);
INSERT INTO stream (id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7), (2, 1, 0, 1, 20);
INSERT INTO string VALUES (1, 'ampere_bf16_s16816gemm_bf16_128x128_nn'), (2, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
  (3, 'void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)'), (4, 'AllReduce'), (5, 'ncclBfloat16'),
  (6, 'RING'), (7, 'SIMPLE'), (8, 'forward'), (9, 'optimizer'), (10, 'ncclAllReduce');
INSERT INTO kernel_shape VALUES (1, 1, 64, 32, 1, 128, 1, 1, NULL, NULL, NULL, 168, 0, 98304, 0),
  (2, 2, 24, 1, 1, 544, 1, 1, 4, 1, 1, 96, 0, 83000, 0), (3, 3, 320, 1, 1, 512, 1, 1, NULL, NULL, NULL, 40, 0, 0, 0);
INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1), (2, 1, 41, 'cudaMemcpyAsync', 2), (3, 1, 131, 'cudaStreamSynchronize', 4),
  (4, 1, 20, 'cudaMalloc', 6);
INSERT INTO nvtx_domain VALUES (1, 1, ''), (2, 1, 'NCCL');
INSERT INTO communicator VALUES (1, 1, 4096, NULL, 2, 0, 0, NULL, 1, 'data_parallel');
INSERT INTO data_loader VALUES (1, 1, 2, 1, 0, 2, 32);
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO string SELECT 100 + n, 'step ' || n FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO nvtx (start, dur, thread, kind, domain, text)
  SELECT t, 9500000, 1, 1, 1, 100 + n FROM step UNION ALL SELECT t + 2000000, 1000000, 1, 1, 1, 8 FROM step
  UNION ALL SELECT t + 4000000, 500000, 1, 1, 1, 9 FROM step UNION ALL SELECT t + 4100000, 200000, 1, 1, 2, 10 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO data_wait SELECT t, 2000000, 1, 1, n, 32 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO api SELECT t + 2050000, 20000, 1, 4, 10 * n + 6, 0 FROM step WHERE n < 2
  UNION ALL SELECT t + 2100000, 40000, 1, 2, 10 * n + 1, 0 FROM step
  UNION ALL SELECT t + 2300000, 10000, 1, 1, 10 * n + 2, 0 FROM step UNION ALL SELECT t + 3200000, 10000, 2, 1, 10 * n + 3, 0 FROM step
  UNION ALL SELECT t + 4150000, 10000, 1, 1, 10 * n + 4, 0 FROM step UNION ALL SELECT t + 4400000, 10000, 1, 1, 10 * n + 5, 0 FROM step
  UNION ALL SELECT t + 4600000, 4400000, 1, 3, 10 * n + 9, 0 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO collective SELECT n + 1, t + 4100000, 200000, 1, 4, 1, 33554432, 0, NULL, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO collective_plan SELECT n + 1, t + 4170000, 1, n, 16777216, 5, 6, 7, 24, 17, t + 4140000, 30000 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO memcpy SELECT t + 2200000, 300000, 1, 1, 1, 3, 1, 8000000, 10 * n + 1, NULL, NULL, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO kernel SELECT t + 2500000, 2000000 + 1000 * n, 1, 1, 10 * n + 2, NULL FROM step
  UNION ALL SELECT t + 4510000, 3000000, 1, 1, 10 * n + 3, NULL FROM step
  UNION ALL SELECT t + 7000000, 1500000, 2, 2, 10 * n + 4, NULL FROM step
  UNION ALL SELECT t + 8520000, 400000, 1, 3, 10 * n + 5, NULL FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO step_mark SELECT t + 9400000, 1, 1 FROM step;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO memory_operation SELECT t + 2060000, 1, 0, 1, 3, 4194304, 4096 * (n + 1), NULL, 0, 10 * n + 6 FROM step WHERE n < 2;
WITH RECURSIVE step(n, t) AS (VALUES (0, 1000000) UNION ALL SELECT n + 1, t + 10000000 FROM step WHERE n < 3)
  INSERT INTO allocator_sample SELECT t + 5000000, 1, 0, 1000000000 + 1000000 * n, 3000000000, 1500000000, 2000000000, 4000000000, n / 2, 0 FROM step;
INSERT INTO worker VALUES (1, 1, 5001, 1, 500000, NULL), (2, 1, 5002, 1, 500000, NULL);
INSERT INTO worker_sample VALUES (4000000, 1, 0, 0, 4, 0), (4000000, 2, 0, 0, 4, 0), (39000000, 1, 30000000, 4000000, 8, 2),
  (39000000, 2, 20000000, 4000000, 8, 0);
INSERT INTO health VALUES (1, 'kernel', 'seen', 16, NULL), (1, 'kernel', 'stored', 16, NULL), (1, 'memcpy', 'seen', 4, NULL),
  (1, 'memcpy', 'stored', 4, NULL);
INSERT INTO clock_pair VALUES (1, 0, 500, 500, 500, 10), (1, 1000000000, 1000000500, 1000000500, 1000000500, NULL);
INSERT INTO capture_gap VALUES (45000000, NULL, 1, 'max_size');
INSERT INTO attention_shape VALUES (1, 1, 2, 8, 8, 128, 128, 64, 64, 14, 1);
INSERT INTO attention VALUES (3200000, 100000, 1, 1, 1, 1);
