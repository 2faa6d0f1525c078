-- SPDX-License-Identifier: Apache-2.0
-- A trace of rocmProfileData (.rpd), schema version 3, as analyze export writes it: the tables and columns that its tools
-- ask for (tableSchema.cmd in github.com/ROCm/rocmProfileData), and views that give what its views of these names give
-- (utilitySchema.cmd). Times are ns; text that is absent is '', which has the id 1.

CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT NOT NULL);
CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT NOT NULL);  -- arguments: of markers their text

-- Calls and markers. pid and tid: of the second machine on + machine * pid_stride.
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, tid INTEGER NOT NULL, start INTEGER NOT NULL,
  "end" INTEGER NOT NULL, apiName_id INTEGER NOT NULL, category_id INTEGER NOT NULL, domain_id INTEGER NOT NULL,
  args_id INTEGER NOT NULL);
-- What a call launched, where it was one kernel or one copy.
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT NOT NULL, gridX INTEGER NOT NULL,
  gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, workgroupX INTEGER NOT NULL, workgroupY INTEGER NOT NULL,
  workgroupZ INTEGER NOT NULL, groupSegmentSize INTEGER NOT NULL, privateSegmentSize INTEGER NOT NULL,
  kernelName_id INTEGER NOT NULL);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT NOT NULL, size INTEGER NOT NULL,
  width INTEGER NOT NULL, height INTEGER NOT NULL, kind INTEGER NOT NULL, dst TEXT NOT NULL, src TEXT NOT NULL,
  dstDevice INTEGER NOT NULL, srcDevice INTEGER NOT NULL, sync INTEGER NOT NULL, pinned INTEGER NOT NULL);
-- Operations on GPUs. gpuId and queueId: of the second machine on + machine * gpu_stride.
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER NOT NULL, queueId INTEGER NOT NULL, sequenceId INTEGER NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, description_id INTEGER NOT NULL, opType_id INTEGER NOT NULL);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER NOT NULL, op_id INTEGER NOT NULL);
CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType TEXT NOT NULL, deviceId INTEGER NOT NULL,
  monitorType TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE rocpd_counter (id INTEGER PRIMARY KEY, value REAL NOT NULL, op_id INTEGER NOT NULL, name_id INTEGER NOT NULL);
CREATE TABLE rocpd_stackframe (id INTEGER PRIMARY KEY, api_ptr_id INTEGER NOT NULL, depth INTEGER NOT NULL,
  name_id INTEGER NOT NULL);

INSERT INTO rocpd_metadata (tag, value) VALUES ('schema_version', '3'), ('gpu_stride', '1000'), ('pid_stride', '10000000');

CREATE VIEW api AS
  SELECT a.id, a.pid, a.tid, a.start, a."end", domain.string AS domain, category.string AS category, name.string AS apiName,
    args.string AS args
  FROM rocpd_api a JOIN rocpd_string domain ON domain.id = a.domain_id JOIN rocpd_string category ON category.id = a.category_id
    JOIN rocpd_string name ON name.id = a.apiName_id JOIN rocpd_ustring args ON args.id = a.args_id;
CREATE VIEW op AS
  SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", description.string AS description, type.string AS opType
  FROM rocpd_op o JOIN rocpd_string description ON description.id = o.description_id
    JOIN rocpd_string type ON type.id = o.opType_id;
-- Kernels and copies that run side by side count twice.
CREATE VIEW busy AS
  WITH span(WallTime) AS (SELECT max("end") - min(start) FROM rocpd_op)
  SELECT gpuId, sum("end" - start) AS GpuTime, WallTime, 1.0 * sum("end" - start) / WallTime AS Busy
  FROM rocpd_op, span GROUP BY gpuId;
CREATE VIEW top AS
  WITH named(Name, ns) AS (SELECT CASE description WHEN '' THEN opType ELSE description END, "end" - start FROM op),
    everything(ns) AS (SELECT sum(ns) FROM named)
  SELECT Name, count(*) AS TotalCalls, sum(named.ns) / 1000 AS TotalDuration_us, avg(named.ns) / 1000 AS Ave_us,
    100.0 * sum(named.ns) / everything.ns AS Percentage
  FROM named, everything GROUP BY Name ORDER BY sum(named.ns) DESC;
CREATE VIEW kernel AS
  SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", o."end" - o.start AS duration, k.stream, k.gridX, k.gridY,
    k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ, k.groupSegmentSize, k.privateSegmentSize, name.string AS kernelName
  FROM rocpd_api_ops link JOIN rocpd_op o ON o.id = link.op_id JOIN rocpd_kernelapi k ON k.api_ptr_id = link.api_id
    JOIN rocpd_string name ON name.id = k.kernelName_id;
CREATE VIEW copy AS
  SELECT a.id, a.pid, a.tid, a.start, a."end", name.string AS apiName, c.stream, c.size, c.width, c.height, c.kind, c.dst, c.src,
    c.dstDevice, c.srcDevice, c.sync, c.pinned
  FROM rocpd_copyapi c JOIN rocpd_api a ON a.id = c.api_ptr_id JOIN rocpd_string name ON name.id = a.apiName_id;
CREATE VIEW copyop AS
  SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o."end", o."end" - o.start AS duration, c.stream, c.size, c.width,
    c.height, c.kind, c.dst, c.src, c.dstDevice, c.srcDevice, c.sync, c.pinned, name.string AS apiName
  FROM rocpd_api_ops link JOIN rocpd_op o ON o.id = link.op_id JOIN rocpd_copyapi c ON c.api_ptr_id = link.api_id
    JOIN rocpd_api a ON a.id = link.api_id JOIN rocpd_string name ON name.id = a.apiName_id;
CREATE VIEW stackframe AS
  SELECT a.id, name.string, f.depth, frame.string FROM rocpd_stackframe f JOIN rocpd_api a ON a.id = f.api_ptr_id
    JOIN rocpd_string name ON name.id = a.apiName_id JOIN rocpd_string frame ON frame.id = f.name_id;
CREATE VIEW napi AS
  WITH stride(n) AS (SELECT CAST(value AS INTEGER) FROM rocpd_metadata WHERE tag = 'pid_stride')
  SELECT id, pid / n AS node, pid % n AS pid, tid % n AS tid, start, "end", domain, category, apiName, args FROM api, stride;
CREATE VIEW nop AS
  WITH stride(n) AS (SELECT CAST(value AS INTEGER) FROM rocpd_metadata WHERE tag = 'gpu_stride')
  SELECT id, gpuId / n AS node, gpuId % n AS gpuId, queueId % n AS queueId, sequenceId, start, "end", description, opType
  FROM op, stride;
