-- A recording as schema version 2 wrote it: tables and rows, kept as they were when later versions change them.
PRAGMA application_id = 0x54524A31;
PRAGMA user_version = 2;
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
  nccl_version   INTEGER
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
  stream_id INTEGER NOT NULL
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
  parent INTEGER
);
CREATE TABLE collective (
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
  batch  INTEGER
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
  proc  INTEGER NOT NULL,
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (proc, kind, key)
) WITHOUT ROWID;
CREATE TABLE clock_pair (
  realtime  INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  monotonic_raw INTEGER NOT NULL,
  boottime  INTEGER NOT NULL,
  cupti     INTEGER
);
CREATE TABLE capture_gap (
  start  INTEGER NOT NULL,
  dur    INTEGER,
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
INSERT INTO "api" VALUES(1000,500,1,2,1,0);
INSERT INTO "api" VALUES(1600,400,1,1,2,0);
INSERT INTO "api" VALUES(2500,300,1,3,3,0);
INSERT INTO "api" VALUES(11000,500,1,2,4,0);
INSERT INTO "api" VALUES(11600,400,1,1,5,0);
INSERT INTO "api" VALUES(12500,300,1,3,6,0);
INSERT INTO "api" VALUES(21000,500,1,2,7,0);
INSERT INTO "api" VALUES(21600,400,1,1,8,0);
INSERT INTO "api" VALUES(22500,300,1,3,9,0);
INSERT INTO "api_name" VALUES(1,1,211,'cudaLaunchKernel',1);
INSERT INTO "api_name" VALUES(2,1,41,'cudaMemcpyAsync',2);
INSERT INTO "api_name" VALUES(3,2,652,'cuLaunchKernelEx',1);
INSERT INTO "collective" VALUES(2400,500,1,3,1,1048576,0,NULL,NULL);
INSERT INTO "collective" VALUES(12400,500,1,3,1,1048576,0,NULL,NULL);
INSERT INTO "collective" VALUES(22400,500,1,3,1,1048576,0,NULL,NULL);
INSERT INTO "communicator" VALUES(1,1,4096,0,2,0,0,NULL);
INSERT INTO "device" VALUES(1,0,'NVIDIA H200','GPU-0',NULL,132,9,0,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "health" VALUES(1,'kernel','seen',6,NULL);
INSERT INTO "health" VALUES(1,'kernel','stored',6,NULL);
INSERT INTO "kernel" VALUES(3000,4000,1,1,2,NULL);
INSERT INTO "kernel" VALUES(13000,4000,1,1,5,NULL);
INSERT INTO "kernel" VALUES(23000,4000,1,1,8,NULL);
INSERT INTO "kernel" VALUES(6000,3000,2,2,3,NULL);
INSERT INTO "kernel" VALUES(16000,3000,2,2,6,NULL);
INSERT INTO "kernel" VALUES(26000,3000,2,2,9,NULL);
INSERT INTO "kernel_shape" VALUES(1,1,132,1,1,384,1,1,2,1,1,168,0,229376,0);
INSERT INTO "kernel_shape" VALUES(2,2,16,1,1,544,1,1,NULL,NULL,NULL,96,0,0,0);
INSERT INTO "memcpy" VALUES(2000,1000,1,1,2,3,1,65536,1,NULL,NULL,NULL);
INSERT INTO "memcpy" VALUES(12000,1000,1,1,2,3,1,65536,4,NULL,NULL,NULL);
INSERT INTO "memcpy" VALUES(22000,1000,1,1,2,3,1,65536,7,NULL,NULL,NULL);
INSERT INTO "meta" VALUES('base_ns',1700000000000000000);
INSERT INTO "meta" VALUES('closed',1);
INSERT INTO "meta" VALUES('run_id','job-7');
INSERT INTO "meta" VALUES('tool_version','0.1.0');
INSERT INTO "process" VALUES(1,4000,NULL,'node-a',0,0,2,NULL,'job-7',NULL,0,40000,NULL,'python train.py --token=***',NULL,'torchrun',13000,NULL,NULL,NULL,22809);
INSERT INTO "stream" VALUES(1,1,0,1,7);
INSERT INTO "stream" VALUES(2,1,0,1,20);
INSERT INTO "string" VALUES(1,'nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT');
INSERT INTO "string" VALUES(2,'ncclDevKernel_AllReduce_Sum_bf16_RING_LL');
INSERT INTO "string" VALUES(3,'AllReduce');
INSERT INTO "system_fact" VALUES(1,'env','NCCL_DEBUG','WARN');
INSERT INTO "thread" VALUES(1,1,4000,NULL);
INSERT INTO "data_loader" VALUES(1,1,4,1,0,2,8);
INSERT INTO "data_wait" VALUES(500,300,1,1,0);
INSERT INTO "step_mark" VALUES(9500,1,1);
INSERT INTO "step_mark" VALUES(19500,1,1);
INSERT INTO "step_mark" VALUES(29500,1,1);
INSERT INTO "host_span" VALUES(30000,200,1,2,1);
