-- run.db: what one process recorded. The contract between the injector (writes) and every reader.
--
-- Conventions that hold for every table:
--   * All times are int64 nanoseconds on CLOCK_REALTIME, relative to meta.base_ns (they may be negative: work that began
--     before the file was opened). An interval is [start, start + dur). Columns named start, end, time, created, realtime, cupti and
--     *_start hold times, dur and *_dur lengths that begin at start and *_start: analyze merge goes by these names.
--   * `dur` NULL: the end was not seen (still open at the end of the file, or the process was killed).
--   * Text is interned: a column that says "-> string" holds string.id. analyze merge goes by these words, too: behind the arrow, on the
--     column's own line, stands the table that it refers to.
--   * Ids of the dictionary tables (string, thread, stream, ...) are dense and start at 1; a dictionary row is committed no later
--     than the first row that refers to it. 0 is never an id, so a plain 0 costs no byte and NULL means "does not apply".
--     Where old rows were dropped (TRACEINJECT_KEEP_LAST) some ids are missing: those that only dropped rows referred to.
--   * A merged file (analyze merge) holds several processes, each with dictionary rows of its own, on the clock of one of them.
--   * Event rows are narrow: what repeats stands in a dictionary, and the process follows from `thread` or `stream`.
--   * Event tables are append-only and *not* sorted by time: CUPTI delivers buffers out of order. No index exists during capture.
--
-- PRAGMA application_id says that the file is ours ('TRJ1'), PRAGMA user_version is the version of this schema. Readers accept
-- every older version and refuse newer ones. Change anything here: bump user_version and keep a fixture of the old one.

PRAGMA application_id = 0x54524A31;
PRAGMA user_version = 8;

-- One fact a row about the file itself.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,  -- base_ns: CLOCK_REALTIME of time 0, ns since the epoch. tool_version. run_id: the same for all ranks
                           -- and restarts-in-place of one attempt of one job (job or rendezvous id, restart count, start time).
                           -- closed: 1 once the process ended and everything was flushed; absent after a kill. In a merged file
                           -- tool_version is that of analyze, and closed is 1.
  value                    -- integer or text, as the key says
) WITHOUT ROWID;

-- The recorded process: one row in a file as recorded, several in a merged one.
CREATE TABLE process (
  proc           INTEGER PRIMARY KEY,  -- dense id, 1 in a file as recorded
  pid            INTEGER NOT NULL,     -- process id in its own pid namespace
  parent_pid     INTEGER,
  host           TEXT NOT NULL,        -- gethostname()
  rank           INTEGER,              -- global rank (RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID); NULL: not a job of ranks
  local_rank     INTEGER,              -- rank on the host; NULL: unknown
  world_size     INTEGER,              -- ranks in the job; NULL: unknown
  local_world_size INTEGER,            -- ranks on this host; NULL: unknown
  run_id         TEXT NOT NULL,        -- as meta.run_id
  restart        INTEGER,              -- restart count of the launcher (TORCHELASTIC_RESTART_COUNT, SLURM_RESTART_COUNT); NULL: unknown
  start          INTEGER NOT NULL,     -- when recording began (ns, relative to base_ns)
  end            INTEGER,              -- when recording ended; NULL: the process was killed or is still running
  executable     TEXT,                 -- /proc/self/exe
  command_line   TEXT,                 -- arguments, values of secrets replaced by ***
  working_directory TEXT,
  launcher       TEXT,                 -- torchrun, mpi, slurm; NULL: none recognized
  driver_version INTEGER,              -- cuDriverGetVersion, e.g. 13000
  runtime_version INTEGER,             -- cudaRuntimeGetVersion of the loaded libcudart; NULL: no shared libcudart
  cupti_version  INTEGER,              -- cuptiGetVersion, e.g. 24 (12.6), 130001 (13.0 update 1); NULL: no CUPTI
  cupti_path     TEXT,                 -- the libcupti that was bound
  nccl_version   INTEGER,              -- ncclGetVersion, e.g. 22809; NULL: no NCCL seen
  -- Of a process in a merged file, since version 5; NULL in a file as recorded:
  tool_version   TEXT,                 -- meta.tool_version of the recording
  closed         INTEGER,              -- 1: meta.closed of the recording was; 0: it was killed, or still running
  clock_shift    INTEGER,              -- ns that were added to its times in the middle of its recording, to have them on the clock of the
                                       -- job; 0 where all ran on one host
  clock_drift    REAL                  -- by how much that grows per ns
);

-- GPUs that the process can see. Values that the driver does not report are NULL.
CREATE TABLE device (
  proc            INTEGER NOT NULL,    -- -> process
  device          INTEGER NOT NULL,    -- CUDA ordinal in this process, as in stream.device
  name            TEXT NOT NULL,       -- e.g. NVIDIA H200
  uuid            TEXT,                -- GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx: the same card in two processes has one uuid
  pci_bus_id      TEXT,                -- dddd:bb:dd.f
  sm_count        INTEGER,             -- streaming multiprocessors
  cc_major        INTEGER,             -- compute capability
  cc_minor        INTEGER,
  sm_clock_khz    INTEGER,             -- peak SM clock, kHz
  memory_clock_khz INTEGER,            -- peak memory clock, kHz
  memory_bus_bits INTEGER,             -- width of the memory bus, bits
  memory_bytes    INTEGER,             -- total global memory
  l2_bytes        INTEGER,
  PRIMARY KEY (proc, device)
) WITHOUT ROWID;

CREATE TABLE string (
  id   INTEGER PRIMARY KEY,
  text TEXT NOT NULL                   -- UTF-8; other bytes as recorded. One that was not used for long may come again under another id
);

CREATE TABLE thread (
  id   INTEGER PRIMARY KEY,
  proc INTEGER NOT NULL,               -- -> process
  tid  INTEGER NOT NULL,               -- gettid(); of another namespace in CUPTI records of old versions, see health
  name INTEGER                         -- -> string, /proc/self/task/<tid>/comm or nvtxNameOsThread; NULL: unknown
);

-- A CUDA stream as CUPTI numbers it.
CREATE TABLE stream (
  id        INTEGER PRIMARY KEY,
  proc      INTEGER NOT NULL,          -- -> process
  device    INTEGER NOT NULL,          -- -> device (with proc)
  context   INTEGER NOT NULL,          -- CUPTI context id, unique in the process
  stream_id INTEGER NOT NULL,          -- CUPTI stream id, unique in the context
  priority  INTEGER,                   -- the lower the more urgent, 0 by default, since version 3; NULL: unknown (only the kind stream
                                       -- of TRACEINJECT_KINDS tells, of streams created while it recorded)
  flags     INTEGER,                   -- CUpti_ActivityStreamFlag, since version 3: 1 waits for the default stream and it for this one,
                                       -- 2 non-blocking, 3 the default stream; NULL: unknown
  name      INTEGER                    -- -> string, given by the program (nvtxNameCudaStream, nvtxNameCuStream), since version 3;
                                       -- NULL: none
);

-- Everything about a kernel launch that repeats from step to step.
CREATE TABLE kernel_shape (
  id                   INTEGER PRIMARY KEY,
  name                 INTEGER NOT NULL,  -- -> string, mangled as CUPTI gives it or demangled where CUPTI did
  grid_x               INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,    -- blocks
  block_x              INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,  -- threads
  cluster_x            INTEGER, cluster_y INTEGER, cluster_z INTEGER,  -- blocks; NULL: launched without clusters
  registers            INTEGER NOT NULL,  -- per thread
  static_shared_bytes  INTEGER NOT NULL,  -- per block
  dynamic_shared_bytes INTEGER NOT NULL,  -- per block
  local_bytes          INTEGER NOT NULL   -- local memory per thread
);

-- A node of a CUDA graph that ran.
CREATE TABLE graph_node (
  id         INTEGER PRIMARY KEY,
  graph_id   INTEGER NOT NULL,         -- CUPTI graph id
  node_id    INTEGER NOT NULL          -- CUPTI graph node id (64 bits)
);

CREATE TABLE kernel (
  start       INTEGER NOT NULL,        -- on the GPU
  dur         INTEGER NOT NULL,
  stream      INTEGER NOT NULL,        -- -> stream
  shape       INTEGER NOT NULL,        -- -> kernel_shape
  correlation INTEGER NOT NULL,        -- joins api.correlation of the same process; all nodes of one graph launch share it
  graph_node  INTEGER                  -- -> graph_node; NULL: launched by itself
);

CREATE TABLE memcpy (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  stream      INTEGER NOT NULL,        -- -> stream; for peer copies the stream that ran it
  kind        INTEGER NOT NULL,        -- CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 3 HtoA, 4 AtoH, 5 AtoA, 6 AtoD, 7 DtoA,
                                       -- 8 DtoD, 9 HtoH, 10 PtoP
  src_kind    INTEGER NOT NULL,        -- CUpti_ActivityMemoryKind: 0 unknown, 1 pageable, 2 pinned, 3 device, 4 array, 5 managed,
                                       -- 6 device static, 7 managed static
  dst_kind    INTEGER NOT NULL,        -- likewise
  async       INTEGER NOT NULL,        -- 1: asynchronous for the host
  bytes       INTEGER NOT NULL,
  correlation INTEGER NOT NULL,        -- as in kernel
  graph_node  INTEGER,                 -- -> graph_node, as in kernel
  src_device  INTEGER,                 -- CUDA ordinal; NULL: not a peer copy
  dst_device  INTEGER                  -- likewise
);

-- Where many short ones were left out, there are none later than health memset.left_out_ms; their calls are in api.
CREATE TABLE memset (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  stream      INTEGER NOT NULL,        -- -> stream
  value       INTEGER NOT NULL,        -- what was stored
  memory_kind INTEGER NOT NULL,        -- as memcpy.src_kind
  bytes       INTEGER NOT NULL,
  correlation INTEGER NOT NULL,        -- as in kernel
  graph_node  INTEGER                  -- -> graph_node, as in kernel
);

-- Memory that the program took from CUDA or gave back (cudaMalloc, cudaHostAlloc, cudaMallocAsync, ..., and their opposites), since
-- version 3, where the kind memory of TRACEINJECT_KINDS was on. What a caching allocator hands out of what it holds is not in it. How
-- long the call took says the row of api.
CREATE TABLE memory_operation (
  time        INTEGER NOT NULL,        -- when it began, on the host
  proc        INTEGER NOT NULL,        -- -> process
  device      INTEGER NOT NULL,        -- -> device (with proc)
  kind        INTEGER NOT NULL,        -- 1 allocation, 2 release
  memory_kind INTEGER NOT NULL,        -- as memcpy.src_kind
  bytes       INTEGER NOT NULL,        -- of the allocation
  address     INTEGER NOT NULL,        -- leads from a release to its allocation: the last one before it with this address
  stream      INTEGER,                 -- -> stream in whose order it happens; NULL: at once
  pool        INTEGER NOT NULL,        -- 1: out of a memory pool (cudaMallocAsync)
  correlation INTEGER NOT NULL         -- as in kernel
);

-- A CUDA function of the allow-list.
CREATE TABLE api_name (
  id     INTEGER PRIMARY KEY,
  domain INTEGER NOT NULL,             -- 1 runtime (cuda*), 2 driver (cu*)
  cbid   INTEGER NOT NULL,             -- CUPTI callback id in that domain
  name   TEXT NOT NULL,                -- without the _vNNNN suffix, e.g. cudaLaunchKernel
  class  INTEGER NOT NULL              -- 1 launch, 2 copy, 3 memset, 4 synchronize, 5 event, 6 allocate, 7 graph launch, 8 other
);

-- A call of such a function on the host. A runtime call and the driver call nested in it share the correlation id; only the outer
-- one is stored unless the driver function was called directly.
CREATE TABLE api (
  start       INTEGER NOT NULL,
  dur         INTEGER NOT NULL,
  thread      INTEGER NOT NULL,        -- -> thread
  name        INTEGER NOT NULL,        -- -> api_name
  correlation INTEGER NOT NULL,        -- unique per call in the process; 32 bits in CUPTI, widened when it wraps
  result      INTEGER NOT NULL         -- 0 success, else cudaError_t or CUresult
);

-- Ordering on the device and waits for it, with the handles that API records lack: what a wrapper around the call saw.
CREATE TABLE sync (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,             -- the call's time on the host
  thread INTEGER NOT NULL,             -- -> thread
  kind   INTEGER NOT NULL,             -- 1 event record, 2 stream waits for event, 3 host waits for event, 4 host waits for stream
  event  INTEGER,                      -- -> the event, a dense number per handle (which may come back for another event after
                                       -- it was destroyed); a wait refers to the last record of that number that began before
                                       -- it. NULL for kind 4
  stream INTEGER                       -- -> stream. NULL for kind 3, and where CUPTI could not name the stream
);

CREATE TABLE nvtx_domain (
  id   INTEGER PRIMARY KEY,
  proc INTEGER NOT NULL,               -- -> process
  name TEXT NOT NULL                   -- '' is the default domain
);

CREATE TABLE nvtx_category (
  domain   INTEGER NOT NULL,           -- -> nvtx_domain
  category INTEGER NOT NULL,           -- the program's number
  name     TEXT NOT NULL,
  PRIMARY KEY (domain, category)
) WITHOUT ROWID;

CREATE TABLE nvtx (
  start    INTEGER NOT NULL,
  dur      INTEGER,                    -- NULL: still open, see top; 0 for marks
  thread   INTEGER NOT NULL,           -- -> thread (that started it)
  kind     INTEGER NOT NULL,           -- 1 push/pop (nests per thread and domain), 2 start/end, 3 mark
  domain   INTEGER NOT NULL,           -- -> nvtx_domain
  text     INTEGER,                    -- -> string; NULL: no message
  category INTEGER,                    -- NULL: none
  color    INTEGER,                    -- ARGB; NULL: none
  payload                              -- integer or real as the program gave it, blob for an extended payload; NULL: none
);

CREATE TABLE communicator (
  id     INTEGER PRIMARY KEY,
  proc   INTEGER NOT NULL,             -- -> process
  hash   INTEGER NOT NULL,             -- ncclComm's commHash, the same on all ranks of the communicator. Of two rows with one
                                       -- hash, an operation used the one created last before it
  created INTEGER,                     -- time; NULL: it was there before recording began
  size   INTEGER,                      -- ranks; NULL: unknown, so no bus bandwidth
  rank   INTEGER,                      -- own rank in it; NULL: unknown
  device INTEGER,                      -- CUDA ordinal; NULL: unknown
  parent INTEGER,                      -- -> communicator it was split from; NULL: none or unknown
  nodes  INTEGER,                      -- hosts that its ranks are on, since version 3; NULL: unknown
  name   TEXT                          -- given by the program, at most 63 bytes, since version 3; NULL: none or unknown
);

-- An NCCL operation as the program issued it (the call on the host, not the kernel), each once: as NVTX tells it, or, where NVTX
-- tells nothing, as NCCL's profiler interface does.
CREATE TABLE collective (
  id           INTEGER PRIMARY KEY,    -- since version 3 explicit, ascending in the order in which the operations became known
  start        INTEGER NOT NULL,
  dur          INTEGER,                -- of the call on the host. From the profiler interface alone: until NCCL had queued the
                                       -- operation; 0 before version 5 of it, where only the moment after the launch is known
  thread       INTEGER NOT NULL,       -- -> thread. Its kernel is launched on this thread inside [start, start + dur), or, between
                                       -- ncclGroupStart and ncclGroupEnd, inside the outermost ncclGroupEnd
  function     INTEGER NOT NULL,       -- -> string: AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather,
                                       -- Scatter, Send, Recv
  communicator INTEGER,                -- -> communicator; NULL: this NCCL does not report (before 2.25)
  bytes        INTEGER NOT NULL,       -- count x type size of the call's own count argument: per rank for AllGather,
                                       -- ReduceScatter (received), AlltoAll, Gather, Scatter; -1: unknown
  reduction    INTEGER,                -- 0 sum, 1 product, 2 max, 3 min, 4 average, above: user-defined; NULL: none, or not
                                       -- told (by versions 2 and later of the profiler interface alone)
  peer         INTEGER,                -- rank in the communicator, Send and Recv; NULL otherwise
  root         INTEGER                 -- rank in the communicator, rooted operations; NULL otherwise
);

-- How NCCL executed an operation, from its profiler interface (NCCL_PROFILER_PLUGIN), since version 3. One row an operation;
-- several for AlltoAll, Gather and Scatter, which are executed as sends and receives; none where the interface was not there.
-- Several operations fused in one kernel have a row each, with the same launch. An operation captured in a CUDA graph has the row
-- of its capture.
CREATE TABLE collective_plan (
  collective   INTEGER NOT NULL,       -- -> collective
  time         INTEGER NOT NULL,       -- when NCCL told: on the host, after the kernel was launched
  thread       INTEGER NOT NULL,       -- -> thread that launched the kernel. Where launch_start is NULL: that NCCL told on, and the
                                       -- kernel's launch is the last one on it that began before `time`
  sequence     INTEGER,                -- number of the operation among those of its function on its communicator, the same on all
                                       -- ranks; those captured in a graph do not count up. NULL: not reported, as of Send and Recv
  count        INTEGER NOT NULL,       -- elements of `datatype`; bytes where that is NULL
  datatype     INTEGER,                -- -> string: ncclFloat32, ncclBfloat16, ...; NULL: AllGather and Broadcast before version 5
                                       -- of the interface, which NCCL tells of in bytes
  algorithm    INTEGER,                -- -> string: RING, TREE, COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE, PAT; NULL: Send, Recv
  protocol     INTEGER,                -- -> string: LL, LL128, SIMPLE; NULL: Send, Recv
  channels     INTEGER,                -- blocks of the kernel that work on it (before version 4 at most); NULL: not reported
  warps        INTEGER,                -- in each block; NULL: not reported
  launch_start INTEGER,                -- the CUDA call that launched the kernel is the one on `thread` that began inside
  launch_dur   INTEGER                 -- [launch_start, launch_start + launch_dur): its correlation leads to the kernel. NULL:
                                       -- before version 5 of the interface, or not known which; launch_dur alone: end not seen
);

-- A communicator, from NCCL's own log, since version 3: only with TRACEINJECT_NCCL_LOG=1.
CREATE TABLE nccl_setup (
  id           INTEGER PRIMARY KEY,
  proc         INTEGER NOT NULL,       -- -> process
  communicator INTEGER,                -- -> communicator; NULL: it is not known which, or this NCCL tells of none (before 2.23)
  rank         INTEGER NOT NULL,       -- own rank in it
  size         INTEGER NOT NULL,       -- ranks
  device       INTEGER NOT NULL,       -- CUDA ordinal
  nodes        INTEGER,                -- as NCCL counts: ranks of one host that may use neither P2P nor SHM are on several;
                                       -- NULL: not reported
  network      INTEGER,                -- -> string: Socket, IB, or a plug-in's name: what carries traffic between nodes, if there
                                       -- is any; NULL: not reported
  rings        INTEGER,                -- NULL: not reported
  trees        INTEGER,                -- NULL: not reported
  channels     INTEGER,                -- for collectives; NULL: not reported
  nvls_channels INTEGER,               -- for NVLink SHARP; NULL: not reported
  p2p_channels INTEGER,                -- for Send and Recv; NULL: not reported
  p2p_channels_per_peer INTEGER,       -- NULL: not reported
  nvls         INTEGER NOT NULL        -- 1: buffers for NVLink SHARP were made
);

-- How NCCL connected a rank of this process with a peer, from its log, since version 3. Each end tells of what it sends, and of
-- what it receives through a network. Connections come when they are first needed (NCCL 2.22 and later).
CREATE TABLE nccl_link (
  id         INTEGER PRIMARY KEY,
  proc       INTEGER NOT NULL,         -- -> process
  setup      INTEGER,                  -- -> nccl_setup; NULL: the ranks fit several communicators, and NCCL does not say which
  rank       INTEGER NOT NULL,         -- own rank in the communicator
  peer       INTEGER,                  -- the other's; NULL: CollNet, which the network itself reduces in
  sends      INTEGER NOT NULL,         -- 1: data goes to the peer, 0: it comes from it
  transport  INTEGER NOT NULL,         -- -> string: P2P (GPU to GPU, NVLink or PCIe), SHM (through memory of the host), NET, COLLNET
  detail     INTEGER,                  -- -> string, as NCCL writes it: CUMEM, IPC, direct pointer, MNNVL, indirect/.., with /read and
                                       -- /CE; direct/direct; GDRDMA, GDRDMA(PCI), Shared; NULL: nothing more was told
  network    INTEGER,                  -- -> string: Socket (TCP), IB, or a plug-in's name; NULL: not over a network
  net_device INTEGER,                  -- number of its adapter, see system_fact of kind nccl_net; NULL: not over a network
  gdrdma     INTEGER,                  -- 1: the adapter reads and writes the GPU's memory, 0: through memory of the host; NULL: not
                                       -- over a network
  proxy_rank INTEGER,                  -- the rank whose adapter is used (PXN); NULL: its own, or not over a network
  channels   INTEGER NOT NULL          -- channels connected in this way
);

-- A GEMM as the program asked cuBLAS or cuBLASLt for it, since version 3: batch x (m x k times k x n), that is
-- 2 m n k batch floating-point operations (8 m n k batch for complex types). Since version 8 a convolution that cuDNN was asked for, too,
-- as the product that it amounts to: m output channels of a group, n places of all outputs of the batch, k channels of a group times places
-- of the filter, batch groups. Its backwards have the sizes of the forward, as they take as many operations.
CREATE TABLE gemm_shape (
  id           INTEGER PRIMARY KEY,
  function     INTEGER NOT NULL,       -- -> string: cublasGemmEx, cublasLtMatmul, ...; cudnnConvolutionForward, ..., of a plan of
                                       -- cuDNN's backend cudnnBackendExecute with (forward), (backward data) or (backward filter)
  m            INTEGER NOT NULL,       -- rows of the result, as the library sees it (column-major)
  n            INTEGER NOT NULL,       -- columns of the result
  k            INTEGER NOT NULL,
  batch        INTEGER NOT NULL,       -- products in the call; of a grouped call those of one group, which has a row of its own
  trans_a      INTEGER NOT NULL,       -- cublasOperation_t: 0 as it is, 1 transposed, 2 conjugate transposed
  trans_b      INTEGER NOT NULL,       -- likewise
  type_a       INTEGER,                -- cudaDataType of the first matrix: 0 float, 1 double, 2 half, 14 bfloat16, 28 fp8 e4m3,
                                       -- 29 fp8 e5m2, ...; NULL: unknown
  type_b       INTEGER,                -- likewise
  type_c       INTEGER,                -- of the result
  compute_type INTEGER,                -- cublasComputeType_t: 64 half, 68 float, 77 float by TF32, ...; NULL: the call has none
  least_bytes  INTEGER                 -- of a convolution: bytes of input, weights and output, each once; 0: a type is not known; NULL: of
                                       -- matrices. Since version 8
);

-- A call of such a function, since version 3; one that cuBLAS makes of cuBLASLt is part of the outer one. Its kernels are those
-- launched on the thread inside [start, start + dur).
CREATE TABLE gemm (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,             -- -> thread
  shape  INTEGER NOT NULL              -- -> gemm_shape
);

-- An attention call as the program asked for it, since version 3. Where the lengths of the sequences are on the GPU (packed sequences
-- of flash_attn) they and the batch are NULL: nobody waits for the GPU to read them.
CREATE TABLE attention_shape (
  id              INTEGER PRIMARY KEY,
  library         INTEGER NOT NULL,    -- 1 torch.nn.functional.scaled_dot_product_attention, 2 flash_attn
  batch           INTEGER,             -- all dimensions in front of the heads
  heads           INTEGER,             -- of the queries
  kv_heads        INTEGER,             -- of keys and values: fewer where several heads of queries share one
  query_length    INTEGER,
  key_length      INTEGER,
  head_size       INTEGER,             -- of queries and keys
  value_head_size INTEGER,
  type            INTEGER,             -- cudaDataType of the result: 0 float, 1 double, 2 half, 14 bfloat16, ...; NULL: another one
  causal          INTEGER              -- 1: by its argument; a mask may make it so without
);

-- An attention call on the host, since version 3; eager calls only: what runs inside a compiled region has no row. The backward of
-- scaled_dot_product_attention has none since version 4: the nodes of a graph run in reverse order, so that its kernels tell. One captured in a CUDA graph has the row of its capture. Its kernels are those launched on the thread inside [start, start + dur).
CREATE TABLE attention (
  start     INTEGER NOT NULL,
  dur       INTEGER,                   -- NULL: only the beginning is known (backward in version 3); its kernels are those of attention
                                       -- launched on the thread before its next row here or in gemm
  thread    INTEGER NOT NULL,          -- -> thread
  shape     INTEGER NOT NULL,          -- -> attention_shape, of the forward call
  direction INTEGER NOT NULL,          -- 1 forward, 2 backward
  gradient  INTEGER                    -- 1: the result can have a backward; 0: it cannot; NULL: not reported. In version 3 there was `fused`
                                       -- instead: 1 one kernel did it, 0 separate products, NULL a call without gradients
);

-- A torch.utils.data.DataLoader that the program iterated over, since version 2. Recognized by its sampler and its settings: a
-- loader that is gone may share its row with a later one of the same settings.
CREATE TABLE data_loader (
  id                 INTEGER PRIMARY KEY,
  proc               INTEGER NOT NULL, -- -> process
  workers            INTEGER NOT NULL, -- num_workers; 0: the data is prepared inside next()
  pin_memory         INTEGER NOT NULL, -- 1: batches are copied into pinned memory
  persistent_workers INTEGER NOT NULL, -- 1: workers stay between passes
  prefetch_factor    INTEGER,          -- batches a worker prepares ahead; NULL: no workers
  batch_size         INTEGER           -- NULL: unknown, no batches, or a batch sampler without a fixed size
);

-- Time that a thread spent in next() of a loader's iterator, since version 2. Making the iterator (starting the workers) is not in it.
CREATE TABLE data_wait (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,             -- -> thread
  loader INTEGER,                      -- -> data_loader; NULL: unknown
  batch  INTEGER,                      -- index of the batch in this pass over the loader, from 0; NULL: none came (the last call of
                                       -- a pass, in which workers may be joined, or an error), or unknown
  samples INTEGER                      -- in the batch, as the first dimension of its first tensor tells, since version 3; NULL: unknown
);

-- The end of an optimizer's step on the host, since version 2. Steps inside a compiled region (torch.compile of step itself) have none.
CREATE TABLE step_mark (
  time      INTEGER NOT NULL,
  thread    INTEGER NOT NULL,          -- -> thread
  optimizer INTEGER NOT NULL           -- dense number of the optimizer object, from 1
);

-- What else kept a thread of the program busy, since version 2.
CREATE TABLE host_span (
  start  INTEGER NOT NULL,
  dur    INTEGER NOT NULL,
  thread INTEGER NOT NULL,             -- -> thread
  kind   INTEGER NOT NULL,             -- 1 checkpoint (torch.save; since version 3 also save and the part of
                                       -- async_save of torch.distributed.checkpoint that blocks; one inside another is part
                                       -- of it), 2 garbage collection by Python (those of generation 0 from 0.1 ms), 3 the part of a
                                       -- call that waits for the GPU up to when a stall was noticed (see capture_gap); once the call
                                       -- returns it has a row of api, too
  detail INTEGER                       -- generation of a collection; of kind 3 what is waited for: 3 an event, 4 a stream, 5 the
                                       -- device; NULL otherwise
);

-- A place in the program's Python code, since version 6: the line at which a function stood. Or, in programs without Python, a function
-- of machine code: line 0 and first_line NULL.
CREATE TABLE code_place (
  id         INTEGER PRIMARY KEY,
  function   INTEGER NOT NULL,         -- -> string: its qualified name (since CPython 3.11; before, the name alone); ? where it
                                       -- could not be read. Of machine code its symbol, as C++ mangles it; without one the name of the
                                       -- file and where in it the function begins, program+0x12a0
  file       INTEGER NOT NULL,         -- -> string, as the code object names it, which may be relative; ? where it could not be read. Of
                                       -- machine code the program or library
  line       INTEGER NOT NULL,         -- where it stood; 0: unknown
  first_line INTEGER                   -- where the function begins; NULL: unknown
);

-- The stacks of Python, or of machine code, since version 6, as a tree: a stack is its innermost frame, and leads to its callers.
CREATE TABLE stack (
  id     INTEGER PRIMARY KEY,
  parent INTEGER,                      -- -> stack of the caller, below this one; NULL: the outermost frame
  place  INTEGER NOT NULL,             -- -> code_place
  module INTEGER                       -- -> string, since version 7: the frame is PyTorch's call of this module, named as in
                                       -- named_modules(), behind the class of the outermost one ("GPT.h.3.attn"); NULL: of none, or not
                                       -- known
);

-- Where a thread stood in Python at a moment, since version 6: of threads that have Python frames, TRACEINJECT_STACKS_HZ times a
-- second, and exactly at some calls. In programs without Python where it stood in machine code, at such calls only. A thread that ran no Python at a moment has no row of kind 1 for it. The frames of a sample may
-- have changed while they were read; what was seen to be torn is left out, see health.
CREATE TABLE stack_sample (
  time        INTEGER NOT NULL,        -- of kinds 2 and 3 when the call began
  thread      INTEGER NOT NULL,        -- -> thread; one of a data loader's worker has the worker's process id as its tid, see worker
  stack       INTEGER,                 -- -> stack; NULL: no Python frame
  kind        INTEGER NOT NULL,        -- 1 sampled by time; 2 the thread's own at a call that waited or took memory of the device, for as
                                       -- long as that took; 3 the thread's own at a launch; 4 at a stall, of each thread
  correlation INTEGER,                 -- of kinds 2 and 3, as in kernel: joins api.correlation; NULL: the call has no row of api
  repeats     INTEGER,                 -- of kind 1: so many samples of the thread that followed found the same stack and have no row of
                                       -- their own; NULL: none
  span        INTEGER                  -- ns from this sample to the last of those; NULL: none
);

-- What the trace of another profiler tells of threads, in files that analyze import made: operators of the framework, functions of
-- Python. The stacks that follow from the latter are in stack_sample.
CREATE TABLE profiler_range (
  start          INTEGER NOT NULL,
  dur            INTEGER NOT NULL,
  thread         INTEGER NOT NULL,     -- -> thread
  kind           INTEGER NOT NULL,     -- 1 operator; 2 function of Python
  name           INTEGER NOT NULL,     -- -> string
  input_shapes   INTEGER,              -- -> string, a list in JSON: of an operator's inputs; NULL: not recorded
  sequence       INTEGER,              -- autograd's number of an operator, the same of a forward operator and its backward; NULL: none
  forward_thread INTEGER               -- of a backward operator the profiler's number of the thread of the forward one; NULL: it is none
);

-- Facts about the machine and the job that are not columns above. The environment and our options since version 1, the others
-- since version 3.
CREATE TABLE system_fact (
  proc   INTEGER NOT NULL,             -- -> process
  kind   TEXT NOT NULL,                -- env: an environment variable that changes GPU, NCCL or PyTorch behaviour
                                       -- or tells the program's commit (secrets masked); option: an option of ours that is not at its default;
                                       -- host: of the machine and the process' place on it; gpu: of a device, key '<device>.<name>'
                                       -- (nvtx_name: as the program named it);
                                       -- nvlink: of one link, key '<device>.<link>'; p2p: what two devices can do directly, key
                                       -- '<device> <PCI bus id of the other>'; infiniband: of one port, key '<adapter>.<port>';
                                       -- nccl_net: an adapter that NCCL found, from its log, key '<network>.<number>' (its name)
                                       -- and '<network>.<number>.gpu_direct_rdma' (enabled, disabled);
                                       -- stacks: of the samples of Python stacks: python (the interpreter's version), period_ns; native:
                                       -- stacks of machine code were taken, of this processor
                                       -- (between two looks), or why there are none;
                                       -- spool: of TRACEINJECT_SPOOL: target, where the file is to go, or not used, and why;
                                       -- try: of a lever of TRACEINJECT_TRY, which changed the program (try_levers.h), key
                                       -- '<lever>=<value>': '<times that it took effect>: <where and what>', or why it did not;
                                       -- of losses=1 the losses, as C's %a, parted by commas;
                                       -- import: of a file that analyze import made: source (kineto, nsys), the
                                       -- profiler; note.NNNN, what was left out of its trace, in words
  key    TEXT NOT NULL,
  value  TEXT,                         -- NULL: unknown, see reason
  reason TEXT,                         -- why the value is unknown, in words, since version 3; NULL: the value is known
  PRIMARY KEY (proc, kind, key)
) WITHOUT ROWID;

-- What NVML told about a device at a moment, since version 3: TRACEINJECT_TELEMETRY_HZ times a second, of the devices that the
-- process works on. All figures are of the whole card, other processes on it included. NULL: this card or driver does not report.
CREATE TABLE device_sample (
  time             INTEGER NOT NULL,
  proc             INTEGER NOT NULL,   -- -> process
  device           INTEGER NOT NULL,   -- -> device (with proc)
  sm_clock_mhz     INTEGER,
  memory_clock_mhz INTEGER,
  power_mw         INTEGER,            -- of the board, averaged by the card (over 1 s on most since Ampere)
  temperature_c    INTEGER,
  throttle_reasons INTEGER,            -- bits, 0 none: 1 idle, 2 application clocks, 4 power cap, 8 hardware slowdown, 16 sync boost,
                                       -- 32 software thermal, 64 hardware thermal, 128 power brake, 256 display clock
  sm_utilisation_pct INTEGER,          -- share of the card's own last sample period (1/6 to 1 s) in which some kernel ran
  memory_utilisation_pct INTEGER,      -- likewise, in which device memory was read or written
  memory_used_bytes INTEGER            -- taken on the device by all processes and the driver
);

-- The same once a second, since version 3: what changes slowly or takes long to ask.
CREATE TABLE device_slow_sample (
  time             INTEGER NOT NULL,
  proc             INTEGER NOT NULL,   -- -> process
  device           INTEGER NOT NULL,   -- -> device (with proc)
  pcie_generation  INTEGER,            -- of the link now; falls while the card idles
  pcie_width       INTEGER,            -- lanes of the link now
  pcie_tx_bytes_s  INTEGER,            -- bytes a second sent by the card, over the last 20 ms
  pcie_rx_bytes_s  INTEGER,            -- likewise received
  pcie_replays     INTEGER,            -- transfers repeated after an error, since the driver started
  nvlink_tx_bytes  INTEGER,            -- data sent over all links, since the driver started
  nvlink_rx_bytes  INTEGER,            -- likewise received
  nvlink_replays   INTEGER,            -- transfers repeated after an error, all links, since the driver started
  nvlink_recoveries INTEGER,           -- times a link was trained anew, likewise
  nvlink_crc_errors INTEGER,           -- packets with a wrong checksum, likewise
  ecc_corrected    INTEGER,            -- memory errors since the driver started
  ecc_uncorrected  INTEGER             -- likewise, those that could not be repaired
);

-- Sets of hardware counters that were sampled, since version 8, where TRACEINJECT_COUNTERS asks for them.
CREATE TABLE counter_set (
  id        INTEGER PRIMARY KEY,
  proc      INTEGER NOT NULL,          -- -> process
  source    TEXT NOT NULL,             -- pm_sampling: CUPTI, by the GPU's clock; gpm: NVML's GPM metrics, by the host's
  name      TEXT NOT NULL,             -- of the set, as TRACEINJECT_COUNTERS names it; of gpm: gpm
  chip      TEXT,                      -- as CUPTI names it, such as GH100; NULL: not asked
  period_ns INTEGER NOT NULL           -- how long a sample was to be
);

-- The counters of a set, since version 8.
CREATE TABLE counter (
  counter_set INTEGER NOT NULL,        -- -> counter_set
  position    INTEGER NOT NULL,        -- from 0: which of the values of a sample it is
  name        TEXT NOT NULL,           -- ours, the same whatever the source: sm_active, tensor_active, dram_read, ... (schemas/counters.h)
  unit        TEXT NOT NULL,           -- permille: of the most that the GPU can do, or of all cases; MiB/s
  metric      TEXT NOT NULL,           -- the name of CUPTI's metric, or of NVML's
  PRIMARY KEY (counter_set, position)
) WITHOUT ROWID;

-- Samples of the counters, since version 8: one row a run of samples of a device, of a second at most. They are of the whole device,
-- other processes on it included, and one process of a host takes them for all. Where one sample does not begin at the end of the one
-- before, some are missing.
CREATE TABLE counter_sample (
  start       INTEGER NOT NULL,        -- of the first sample, on the host's clock as well as it was known then; readers learn the
                                       -- difference between the clocks from gpu_time, lead and lag, and from the kernels
  dur         INTEGER NOT NULL,        -- to the end of the last
  proc        INTEGER NOT NULL,        -- -> process
  device      INTEGER NOT NULL,        -- -> device (with proc)
  counter_set INTEGER NOT NULL,        -- -> counter_set
  samples     INTEGER NOT NULL,        -- how many
  gpu_time    INTEGER,                 -- the same moment as start by the GPU's own clock, ns; NULL: start is by the host's clock
  lead        INTEGER,                 -- ns from when sampling was asked to begin to start: the true start is at most so much earlier;
                                       -- NULL: not the first row since sampling began
  lag         INTEGER,                 -- ns from the end of the last sample to when it had been read, of the reading with the least: all
                                       -- are at most so much later than they say (earlier, if it is negative); NULL where gpu_time is
  data        BLOB NOT NULL            -- the samples (schemas/counter_codec.h)
);

-- PyTorch's CUDA caching allocator, since version 3: about once a second, at the end of an optimizer step. NULL: not reported.
CREATE TABLE allocator_sample (
  time                 INTEGER NOT NULL,
  proc                 INTEGER NOT NULL,  -- -> process
  device               INTEGER NOT NULL,  -- -> device (with proc)
  allocated_bytes      INTEGER,        -- in tensors
  reserved_bytes       INTEGER,        -- taken from the driver
  active_bytes         INTEGER,        -- in tensors, or in blocks that a stream still uses
  peak_allocated_bytes INTEGER,        -- since the program began, or reset the peaks
  peak_reserved_bytes  INTEGER,        -- likewise
  retries              INTEGER,        -- times the driver had no memory left, and unused blocks were given back for another try
  ooms                 INTEGER         -- times there was none even then
);

-- What a thread of the process had used up to a moment, since version 3: once a second, cumulative. A thread without change gets no
-- row, but one at the last moment before it changes again: values hold from one row to the next.
CREATE TABLE host_sample (
  time                 INTEGER NOT NULL,
  thread               INTEGER NOT NULL,  -- -> thread
  cpu_ns               INTEGER NOT NULL,  -- user and system time; in steps of 10 ms where runqueue_ns is NULL
  runqueue_ns          INTEGER,        -- time it could run but had no processor; NULL: the kernel does not account for it
  minor_faults         INTEGER,        -- page faults without reading from storage; NULL: not reported
  major_faults         INTEGER,        -- page faults that read from storage; NULL: not reported
  voluntary_switches   INTEGER,        -- times it waited; NULL: the kernel does not account for it
  involuntary_switches INTEGER         -- times it lost its processor to others; likewise
);

-- A process that prepares data for this one, since version 3: a data loader's worker, or, where loader is NULL, another Python process
-- that it started and that uses no GPU.
CREATE TABLE worker (
  id     INTEGER PRIMARY KEY,
  proc   INTEGER NOT NULL,             -- -> process that it works for
  pid    INTEGER NOT NULL,
  loader INTEGER,                      -- -> data_loader; NULL: of no loader that is known
  start  INTEGER NOT NULL,             -- when the process was started, to 10 ms
  end    INTEGER                       -- when it was found ended, up to 0.25 s late; NULL: it outlived the recording, or was killed with it
);

-- What a worker had used up to a moment, since version 3: about once a second, cumulative where nothing else is said.
CREATE TABLE worker_sample (
  time         INTEGER NOT NULL,
  worker       INTEGER NOT NULL,       -- -> worker
  cpu_ns       INTEGER,                -- user and system time of all its threads, in steps of 10 ms; NULL: not reported
  read_bytes   INTEGER,                -- read from storage, not from the page cache; NULL: the kernel does not report
  states       INTEGER NOT NULL,       -- how often its main thread was looked at since the last row, four times a second
  states_disk  INTEGER NOT NULL        -- of these, how often it waited for storage (state D)
);

-- The same moment on several clocks, once a second, to detect steps and drift and to line up hosts.
CREATE TABLE clock_pair (
  proc      INTEGER NOT NULL,          -- -> process, since version 5; before, files had one only
  realtime  INTEGER NOT NULL,          -- CLOCK_REALTIME relative to base_ns
  monotonic INTEGER NOT NULL,          -- CLOCK_MONOTONIC, ns
  monotonic_raw INTEGER NOT NULL,      -- CLOCK_MONOTONIC_RAW, ns
  boottime  INTEGER NOT NULL,          -- CLOCK_BOOTTIME, ns
  cupti     INTEGER                    -- cuptiGetTimestamp relative to base_ns; NULL: no CUPTI
);

-- Time in which something was not recorded.
CREATE TABLE capture_gap (
  start  INTEGER NOT NULL,
  dur    INTEGER,                      -- NULL: to the end
  proc   INTEGER NOT NULL,             -- -> process, as in clock_pair
  reason TEXT NOT NULL                 -- max_size: TRACEINJECT_MAX_SIZE was reached; write_errors: the file could not be written;
                                       -- out_of_memory: of the process; other_client: another client of CUPTI took it away
                                       -- (cuptiFinalize), or took the records, until we began anew; what was told of CUPTI in
                                       -- this time may be there in part; keep_last: it was recorded, and dropped
                                       -- again as TRACEINJECT_KEEP_LAST asks (what ended after it is all there, of what ended
                                       -- in it some rows may be left); window: outside of the windows of TRACEINJECT_WINDOW and
                                       -- of what analyze trigger asked for, and in the unrecorded blocks of TRACEINJECT_AB: GPU work
                                       -- that was launched before one may have its row in it, and what was launched in one runs
                                       -- after it without a row (but for its last millisecond, in which one kind of work after the
                                       -- other begins to be recorded); stalled:
                                       -- nothing completed for TRACEINJECT_STALL or more although work was launched: from the end of the last operation, or from the launch of the
                                       -- first outstanding one if that is later, to the start of the next one that is recorded. What
                                       -- is outstanding has rows of api and collective, and none of kernel; proton: Triton's Proton
                                       -- recorded, whose copy of CUPTI cannot be used beside ours
);

-- How good the recording is. The counters, their severity and meaning are listed in health_counters.h.
CREATE TABLE health (
  proc    INTEGER NOT NULL,            -- -> process
  source  TEXT NOT NULL,               -- kernel, memcpy, ..., python, buffers, writer, start
  counter TEXT NOT NULL,               -- seen, stored, dropped, repaired, ...
  value   INTEGER NOT NULL,
  detail  TEXT,                        -- the reason in words, where there is one
  PRIMARY KEY (proc, source, counter)
) WITHOUT ROWID;
