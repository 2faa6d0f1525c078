// SPDX-License-Identifier: Apache-2.0
// What libtraceinject.so reads in the process of a program: of CUPTI, NVTX, NCCL, and Python.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "injector/cupti/decoder.h"
#include "injector/cupti/record_walk.h"
#include "injector/nccl/log_decoder.h"
#include "injector/nccl/nccl_payload.h"
#include "tests/fuzz/guest/code_target.h"
#include "tests/fuzz/guest/nvtx_target.h"
#include "tests/fuzz/guest/python_targets.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/target.h"

namespace traceinject {
namespace {

// As CUPTI's, which knows the sizes of its records.
std::vector<std::size_t> g_record_bytes;
CUptiResult CUPTIAPI FuzzedNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                      CUpti_Activity** record) {
  std::size_t offset = 0, index = 0;
  if (*record != nullptr) {
    const auto at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
    while (offset <= at && index < g_record_bytes.size()) offset += g_record_bytes[index++];
  }
  if (offset >= valid_bytes || index >= g_record_bytes.size()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
  return CUPTI_SUCCESS;
}

constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMCPY2,
                               CUPTI_ACTIVITY_KIND_MEMSET,
                               CUPTI_ACTIVITY_KIND_MEMORY2,
                               CUPTI_ACTIVITY_KIND_STREAM,
                               CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_DRIVER,
                               CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                               CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                               CUPTI_ACTIVITY_KIND_OVERHEAD,
                               static_cast<CUpti_ActivityKind>(10'000)};

// Appends a record of any kind with any fields. Only the name of a kernel is a text, as
// name_table.h leaves it.
void AddRecord(InputBytes& input, std::vector<std::uint8_t>& buffer) {
  const CUpti_ActivityKind kind = kKinds[input.Below(kKinds.size())];
  const std::size_t appended = 8 * (input.Byte() % 8);
  const std::size_t bytes = (BytesRead(kind) + 7) / 8 * 8 + appended;
  std::vector<std::uint8_t> record(bytes);
  const std::string_view fields = input.Take(bytes);
  std::copy(fields.begin(), fields.end(), record.begin());
  std::memcpy(record.data(), &kind, sizeof kind);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL) {
    static constexpr std::array<const char*, 3> kNames = {"", "gemm", "\xff\xfe"};
    const char* name = kNames[input.Below(kNames.size())];
    std::memcpy(record.data() + offsetof(KernelRecord, name), &name, sizeof name);
  }
  buffer.insert(buffer.end(), record.begin(), record.end());
  g_record_bytes.push_back(bytes);
}

template <typename Rows>
void ExpectLengths(const char* what, const Rows& rows, std::string* wrong) {
  for (const auto& row : rows)
    if (row.dur < 0) *wrong += std::string(what) + " of negative length\n";
}

std::string FuzzCuptiBuffer(std::string_view input) {
  constexpr std::int64_t kBaseNs = 1'700'000'000'000'000'000;
  CuptiLibrary cupti{};
  cupti.ActivityGetNextRecord = FuzzedNextRecord;
  cupti.ActivityEnableRuntimeApi =
      cupti.ActivityEnableDriverApi = [](CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; };
  Batch batch;
  Dictionary dictionary(&batch);
  ActivityDecoder decoder(&cupti, kBaseNs, &dictionary, &batch);
  InputBytes bytes(input);
  for (bool more = true; more; more = !bytes.is_empty()) {
    const std::uint8_t flags = bytes.Byte();
    std::vector<std::uint8_t> records;
    g_record_bytes.clear();
    for (int count = flags % 8; count >= 0; --count) AddRecord(bytes, records);
    // Of its own length, so that a sanitizer sees what is read behind it.
    const std::size_t valid =
        (flags & 8) != 0 ? bytes.Number(2) % (records.size() + 1) : records.size();
    const std::unique_ptr<std::uint8_t[]> buffer(new std::uint8_t[valid]);
    std::copy_n(records.begin(), valid, buffer.get());
    CompletedBuffer completed;
    completed.data = buffer.get();
    completed.valid_bytes = valid;
    completed.copied = (flags & 16) != 0;
    completed.taken_away = flags >> 6;
    decoder.Decode(completed);
    if ((flags & 32) != 0) decoder.EndFlush(false);
  }
  decoder.EndFlush(true);
  std::string wrong;
  ExpectLengths("a kernel", batch.kernels, &wrong);
  ExpectLengths("a copy", batch.memcpys, &wrong);
  ExpectLengths("a memset", batch.memsets, &wrong);
  ExpectLengths("a call", batch.apis, &wrong);
  return wrong;
}

std::string FuzzNcclLog(std::string_view input) {
  Batch batch;
  Dictionary dictionary(&batch);
  NcclCommunicators communicators(&batch);
  NcclLogDecoder decoder(&dictionary, &batch, &communicators);
  for (std::size_t end; !input.empty(); input.remove_prefix(std::min(end + 1, input.size()))) {
    end = std::min(input.find('\n'), input.size());
    decoder.Decode(input.substr(0, end));
    if (end % 8 == 7) decoder.EndFlush();
  }
  decoder.EndFlush();
  return {};
}

std::string FuzzNcclPayload(std::string_view input) {
  InputBytes bytes(input);
  const std::uint64_t schema = bytes.Byte() % 2 == 0 ? (1 << 24) + bytes.Byte() : bytes.Number(8);
  const std::string payload(bytes.Rest());
  const std::vector<std::uint8_t> data(payload.begin(), payload.end());
  std::string wrong;
  if (const auto operation = ParseNcclOperation(schema, data.data(), data.size())) {
    if (operation->bytes < 0) wrong += "an operation of negative size\n";
    if (operation->function.empty()) wrong += "an operation without a name\n";
  }
  if (const auto made = ParseNcclCommunicator(schema, data.data(), data.size())) {
    if (made->size < -1 || made->rank < -1) wrong += "a communicator of negative size\n";
  }
  return wrong;
}

constexpr FuzzTarget kTargets[] = {
    {"cupti", "buffers of CUPTI with any records, cut anywhere", FuzzCuptiBuffer},
    {"nccl_log", "lines of NCCL's log", FuzzNcclLog},
    {"nccl_payload", "what NCCL attaches to its NVTX ranges", FuzzNcclPayload, 256},
    {"nvtx", "NVTX events in any order", FuzzNvtx},
    {"object", "files of machine code with changed bytes", FuzzObject},
    {"python_memory", "an interpreter's memory with anything in it", FuzzPythonMemory, 1 << 14},
    {"python_objects", "the structures of an interpreter, changed", FuzzPythonObjects},
    {"unwind", "unwind tables with any instructions", FuzzUnwind},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

}  // namespace traceinject
