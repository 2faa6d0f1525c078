// SPDX-License-Identifier: Apache-2.0
// What it costs to turn activity records into rows: the part of the writer path that comes before
// RunFile::Write (store_bench measures that one, and the bare SQLite loop to compare with).
//
//   BM_Decode      records/s of ActivityDecoder::Decode, half kernels and half launch calls
//   BM_WriterPath  the same records decoded and written into a file
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "injector/cupti/decoder.h"
#include "injector/store/run_file.h"

namespace traceinject {
namespace {

// Alternating kernel and launch records, as in a launch-bound program: 300 shapes, 4 streams, 1
// thread.
constexpr std::size_t kPairs = 100'000;
constexpr std::size_t kPairBytes = sizeof(KernelRecord) + sizeof(ApiRecord);

std::vector<std::uint8_t> MakeBuffer() {
  static char names[300][32];
  std::vector<std::uint8_t> buffer(kPairs * kPairBytes);
  for (std::size_t i = 0; i < kPairs; ++i) {
    const std::size_t shape = i * 7 % 300;
    std::snprintf(names[shape], sizeof names[shape], "kernel_%zu", shape);
    KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = 1'000'000'000 + i * 10'000, kernel.end = kernel.start + 3000 + i % 197'000;
    kernel.streamId = static_cast<std::uint32_t>(7 + i % 4);
    kernel.contextId = 1;
    kernel.gridX = static_cast<std::int32_t>(shape), kernel.gridY = 1, kernel.gridZ = 1;
    kernel.blockX = 256, kernel.blockY = 1, kernel.blockZ = 1;
    kernel.correlationId = static_cast<std::uint32_t>(i + 1);
    kernel.name = names[shape];
    ApiRecord call{};
    call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    call.cbid = 307;
    call.start = kernel.start - 8000, call.end = call.start + 4000;
    call.threadId = 1;
    call.correlationId = kernel.correlationId;
    std::memcpy(&buffer[i * kPairBytes], &kernel, sizeof kernel);
    std::memcpy(&buffer[i * kPairBytes + sizeof kernel], &call, sizeof call);
  }
  return buffer;
}

CUptiResult CUPTIAPI NextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                CUpti_Activity** record) {
  std::size_t offset = 0;
  if (*record != nullptr) {
    offset =
        static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) +
        ((*record)->kind == CUPTI_ACTIVITY_KIND_DRIVER ? sizeof(ApiRecord) : sizeof(KernelRecord));
  }
  if (offset >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
  return CUPTI_SUCCESS;
}

struct Bench {
  Bench() {
    cupti.ActivityGetNextRecord = NextRecord;
    cupti.ActivityEnableRuntimeApi = cupti.ActivityEnableDriverApi =
        [](CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; };
  }
  void DecodeAll() {
    decoder.Decode({buffer.data(), buffer.size()});
    decoder.EndFlush(false);
  }

  CuptiLibrary cupti;
  Batch batch;
  Dictionary dictionary{&batch};
  ActivityDecoder decoder{&cupti, 0, &dictionary, &batch};
  std::vector<std::uint8_t> buffer = MakeBuffer();
};

void BM_Decode(benchmark::State& state) {
  Bench bench;
  for (auto _ : state) {
    bench.DecodeAll();
    bench.batch = Batch();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * kPairs));
}

void BM_WriterPath(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "decoder_bench.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no temporary folder");
  RunFile::Header header;
  header.process.host = header.process.run_id = "bench";
  header.journal = RunFile::Journal::kWriteAhead;
  std::string why;
  const auto file = RunFile::Create(folder + "/run.db", header, &why);
  if (!file) return state.SkipWithError(why.c_str());
  Bench bench;
  for (auto _ : state) {
    bench.DecodeAll();
    if (!file->Write(bench.batch)) state.SkipWithError(file->last_error().c_str());
    bench.batch = Batch();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * kPairs));
  file->Finish(0);
  std::filesystem::remove_all(folder);
}

BENCHMARK(BM_Decode)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WriterPath)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject

BENCHMARK_MAIN();
