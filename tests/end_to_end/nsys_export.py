# SPDX-License-Identifier: Apache-2.0
"""Writes what `nsys export --type sqlite` would write of a program that a run.db was recorded of: the tables and
columns of NVIDIA's schema reference (Nsight Systems user guide, "SQLite Schema Reference") that analyze reads, and some
that it passes over."""

import contextlib
import sqlite3

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL,
  stopTime INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL,
  nameEnum INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, l2CacheSize INTEGER,
  totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, uuid TEXT, cuDevice INTEGER,
  computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER);
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL,
  processId INTEGER NOT NULL, contextId INTEGER NOT NULL, priority INTEGER NOT NULL, flag INTEGER NOT NULL);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
  gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER,
  graphId INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER,
  srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER,
  graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,
  memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
  int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
  jsonText TEXT, binaryData TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable');
INSERT INTO SCHED_EVENTS VALUES (0, 3, 1, 7);
"""

# Parts of queries: globalPid of a process p; globalTid of its thread t; a graph's node g, with its graph in the upper half.
PID = "((1 << 48) | (p.pid << 24))"
TID = "((1 << 48) | (p.pid << 24) | (t.tid & 0xFFFFFF))"
NODE = "(g.graph_id << 32) | (g.node_id & 0xFFFFFFFF)"
STREAM = (
    "FROM recorded.{table} o JOIN recorded.stream s ON s.id = o.stream JOIN recorded.process p ON p.proc = s.proc "
    "LEFT JOIN recorded.graph_node g ON g.id = o.graph_node"
)
OPERATION = "o.start, o.start + o.dur, s.device, s.context, NULL, s.stream_id, o.correlation, " + PID


def kind(column):
    """ENUM_CUDA_MEM_KIND of a kind of memory as we store it."""
    return f"CASE o.{column} WHEN 0 THEN 7 ELSE o.{column} - 1 END"


# Behind the texts of the recording stand the names of calls.
API_NAME = "(SELECT max(id) FROM recorded.string) + {id}"
COPY = [
    "INSERT INTO StringIds SELECT id, text FROM recorded.string",
    f"INSERT INTO StringIds SELECT {API_NAME.format(id='id')}, name || '_v11060' FROM recorded.api_name",
    "INSERT INTO TARGET_INFO_SESSION_START_TIME SELECT value, '', '' FROM recorded.meta WHERE key = 'base_ns'",
    "INSERT INTO ANALYSIS_DETAILS SELECT 0, max(end) - min(start), min(start), max(end) FROM recorded.process "
    "WHERE end IS NOT NULL HAVING count(*) > 0",
    "INSERT INTO TARGET_INFO_SYSTEM_ENV SELECT 0, 'State', 'Hostname', 1, host FROM recorded.process LIMIT 1",
    f"INSERT INTO PROCESSES SELECT {PID}, p.pid, p.executable FROM recorded.process p",
    # Of the machine, so that ids are not those of the process.
    "INSERT INTO TARGET_INFO_GPU SELECT 0, device + 5, name, pci_bus_id, l2_bytes, memory_bytes, 1, sm_clock_khz * 1000, "
    "sm_count, substr(uuid, 5), device, cc_major, cc_minor, cc_major, cc_minor FROM recorded.device",
    "INSERT INTO TARGET_INFO_CUDA_DEVICE SELECT d.device + 5, d.device, p.pid, d.uuid, d.sm_count "
    "FROM recorded.device d JOIN recorded.process p ON p.proc = d.proc",
    f"INSERT INTO ThreadNames SELECT t.name, 0, {TID} "
    "FROM recorded.thread t JOIN recorded.process p ON p.proc = t.proc WHERE t.name IS NOT NULL",
    f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT {OPERATION}, h.name, h.name, h.name, 1, 0, h.registers, "
    "h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z, h.static_shared_bytes, h.dynamic_shared_bytes, "
    f"h.local_bytes, 0, o.rowid, NULL, {NODE}, NULL, g.graph_id, h.cluster_x, h.cluster_y, h.cluster_z "
    f"{STREAM.format(table='kernel')} JOIN recorded.kernel_shape h ON h.id = o.shape",
    f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT {OPERATION}, o.bytes, o.kind, NULL, {kind('src_kind')}, "
    f"{kind('dst_kind')}, o.src_device, NULL, o.dst_device, NULL, NULL, {NODE}, NULL, 1 {STREAM.format(table='memcpy')}",
    f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET SELECT {OPERATION}, o.value, o.bytes, {NODE}, {kind('memory_kind')} "
    f"{STREAM.format(table='memset')}",
    f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT o.start, o.start + o.dur, n.domain - 1, {TID}, o.correlation, "
    f"{API_NAME.format(id='o.name')}, o.result, NULL FROM recorded.api o JOIN recorded.api_name n ON n.id = o.name "
    "JOIN recorded.thread t ON t.id = o.thread JOIN recorded.process p ON p.proc = t.proc",
    f"INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) SELECT 0, 75, d.name, {PID}, d.id "
    "FROM recorded.nvtx_domain d JOIN recorded.process p ON p.proc = d.proc WHERE d.name <> ''",
    # A message is registered before, or passed with the range.
    "INSERT INTO NVTX_EVENTS (start, end, eventType, category, text, textId, globalTid, domainId) SELECT o.start, "
    "CASE o.kind WHEN 3 THEN NULL ELSE o.start + o.dur END, CASE o.kind WHEN 1 THEN 59 WHEN 2 THEN 60 ELSE 34 END, "
    f"o.category, CASE o.rowid % 2 WHEN 0 THEN x.text END, CASE o.rowid % 2 WHEN 1 THEN o.text END, {TID}, o.domain "
    "FROM recorded.nvtx o JOIN recorded.thread t ON t.id = o.thread JOIN recorded.process p ON p.proc = t.proc "
    "LEFT JOIN recorded.string x ON x.id = o.text",
]

# What an export has no place for, and how what is left says that it was imported.
WITHOUT = (
    "sync collective collective_plan communicator nccl_setup nccl_link gemm gemm_shape attention attention_shape data_wait "
    "data_loader step_mark host_span device_sample device_slow_sample allocator_sample host_sample worker worker_sample "
    "stack_sample stack code_place memory_operation clock_pair capture_gap health system_fact nvtx_category"
).split()
LEAVE = [
    "UPDATE process SET parent_pid = NULL, rank = NULL, local_rank = NULL, world_size = NULL, local_world_size = NULL, "
    "run_id = '', restart = NULL, command_line = NULL, working_directory = NULL, launcher = NULL, driver_version = NULL, "
    "runtime_version = NULL, cupti_version = NULL, cupti_path = NULL, nccl_version = NULL",
    "UPDATE device SET memory_clock_khz = NULL, memory_bus_bits = NULL",
    "UPDATE meta SET value = '' WHERE key = 'run_id'",
    "INSERT OR REPLACE INTO meta VALUES ('closed', 1)",
    "INSERT INTO system_fact (proc, kind, key, value) SELECT proc, 'import', 'source', 'nsys' FROM process",
]


def connect(path):
    return contextlib.closing(sqlite3.connect(path))


def write_export(recording, path):
    """The export of what `recording`, a run.db, was recorded of."""
    with connect(path) as database:
        database.executescript(SCHEMA)
        database.execute("ATTACH ? AS recorded", (str(recording),))
        for statement in COPY:
            database.execute(statement)
        database.commit()


def leave_exported(recording, path):
    """A copy of `recording` with what an export holds of it, and nothing else."""
    with connect(recording) as source, connect(path) as database:
        source.backup(database)
        there = {name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        for table in WITHOUT:
            if table in there:
                database.execute(f"DELETE FROM {table}")
        for statement in LEAVE:
            database.execute(statement)
        database.commit()
