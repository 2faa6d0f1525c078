// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/event_names.h"

#include <fmt/format.h>

#include "analyzer/common/printable.h"
#include "analyzer/import/kineto/kineto_transfer.h"
#include "analyzer/metrics/places/code_sites.h"

namespace traceinject {
namespace {

// Tables whose rows have names, beside those of HostEventKind.
constexpr auto kKinds = static_cast<std::uint64_t>(HostEventKind::kCount);
constexpr std::uint64_t kKernels = kKinds, kCopies = kKinds + 1, kMemsets = kKinds + 2,
                        kGaps = kKinds + 3, kSteps = kKinds + 4, kCode = kKinds + 5;

std::string DataWaitName(const Rank& rank, std::uint32_t loader) {
  // torch.profiler tells one kind from the other, and no more of the loader.
  const bool in_process = loader != kNone && rank.loaders[loader].workers == 0;
  return fmt::format("enumerate(DataLoader)#_{}DataLoaderIter.__next__",
                     in_process ? "SingleProcess" : "MultiProcessing");
}

std::string HostSpanName(HostSpanKind kind, std::int32_t detail) {
  switch (kind) {
    case HostSpanKind::kCheckpoint:
      return "checkpoint";
    case HostSpanKind::kGarbageCollection:
      return detail < 0 ? "garbage collection"
                        : fmt::format("garbage collection, generation {}", detail);
    case HostSpanKind::kGpuWait:
      return "wait for the GPU";
  }
  return "host";
}

std::string GemmName(const Rank& rank, const GemmShape& shape) {
  const std::string size = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  return shape.batch > 1 ? fmt::format("{} {} x {}", rank.string(shape.function), shape.batch, size)
                         : fmt::format("{} {}", rank.string(shape.function), size);
}

// A number of two parts: what a span is, and of which kind.
std::uint64_t Pair(std::int32_t high, std::uint32_t low) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high) & 0xffffff) << 8 | low;
}

}  // namespace

template <typename MakeText>
std::uint32_t EventNames::Number(std::uint64_t table, std::uint64_t index, MakeText make_text) {
  const auto [entry, is_new] =
      numbers_.try_emplace(table << 32 | index, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(Printable(make_text()));
  return entry->second;
}

std::uint32_t EventNames::Of(const HostEvent& event) {
  const auto table = static_cast<std::uint64_t>(event.kind);
  const std::uint32_t row = event.row;
  const auto text = [&](std::uint32_t id) {
    return Number(table, id, [&] { return std::string(rank_.string(id)); });
  };
  switch (event.kind) {
    case HostEventKind::kNvtx:
      return text(rank_.nvtx.text[row]);
    case HostEventKind::kProfiled:
      return text(rank_.profiled.name[row]);
    case HostEventKind::kDataWait: {
      const std::uint32_t loader = rank_.data_waits.loader[row];
      return Number(table, loader, [&] { return DataWaitName(rank_, loader); });
    }
    case HostEventKind::kHostSpan: {
      const HostSpanKind kind = rank_.host_spans.kind[row];
      const std::int32_t detail = rank_.host_spans.detail[row];
      return Number(table, Pair(detail, static_cast<std::uint32_t>(kind)),
                    [&] { return HostSpanName(kind, detail); });
    }
    case HostEventKind::kStepMark: {
      const std::uint32_t optimizer = rank_.step_marks.optimizer[row];
      return Number(table, optimizer,
                    [&] { return fmt::format("Optimizer.step#{}.step", optimizer); });
    }
    case HostEventKind::kCollective: {
      const std::uint32_t function = rank_.collectives.function[row];
      return Number(table, function, [&] { return fmt::format("nccl{}", rank_.string(function)); });
    }
    case HostEventKind::kAttention: {
      const bool backward = rank_.attentions.backward[row] != 0;
      return Number(table, backward ? 1 : 0,
                    [&] { return std::string(backward ? "attention backward" : "attention"); });
    }
    case HostEventKind::kGemm: {
      const std::uint32_t shape = rank_.gemms.shape[row];
      return Number(table, shape, [&] { return GemmName(rank_, rank_.gemm_shapes[shape]); });
    }
    case HostEventKind::kApi:
    case HostEventKind::kCount:
      break;
  }
  const std::uint32_t name = rank_.api.name[row];
  return Number(table, name, [&] { return rank_.api_names[name].name; });
}

std::uint32_t EventNames::OfGap(const CaptureGap& gap) {
  return Number(kGaps, static_cast<std::uint64_t>(&gap - rank_.gaps.data()),
                [&] { return fmt::format("not recorded: {}", gap.reason); });
}

std::uint32_t EventNames::OfStep(std::int64_t number) {
  return Number(kSteps, static_cast<std::uint64_t>(number),
                [&] { return fmt::format("step {}", number); });
}

std::uint32_t EventNames::Of(const GpuOps& ops, std::size_t row) {
  if (ops.kind[row] == OpKind::kKernel) {
    const std::uint32_t name = rank_.shapes[ops.detail[row]].name;
    return Number(kKernels, name, [&] { return std::string(rank_.string(name)); });
  }
  // Of which kind of memory, the model does not report.
  if (ops.kind[row] == OpKind::kMemset)
    return Number(kMemsets, 0, [] { return std::string("Memset (Unknown)"); });
  const Transfer& transfer = rank_.transfers[ops.detail[row]];
  const std::uint32_t kinds = static_cast<std::uint32_t>(transfer.kind) << 16 |
                              static_cast<std::uint32_t>(transfer.src_kind) << 8 |
                              transfer.dst_kind;
  return Number(kCopies, kinds, [&] { return KinetoCopyName(transfer); });
}

std::uint32_t EventNames::OfPlace(std::uint32_t place) {
  return Number(kCode, place, [&] { return FrameText(rank_, place); });
}

}  // namespace traceinject
