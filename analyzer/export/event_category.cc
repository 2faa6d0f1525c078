// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/event_category.h"

namespace traceinject {

EventCategory CategoryOf(const Rank& rank, const HostEvent& event) {
  switch (event.kind) {
    case HostEventKind::kNvtx:
      return {"nvtx", "user_annotation"};
    case HostEventKind::kProfiled:
      return rank.profiled.kind[event.row] == ProfiledKind::kOperator
                 ? EventCategory{"operator", "cpu_op"}
                 : EventCategory{"python", "python_function"};
    case HostEventKind::kDataWait:
      return {"data_wait", "user_annotation"};
    case HostEventKind::kHostSpan:
      return {"host", "user_annotation"};
    case HostEventKind::kStepMark:
      return {"step", "user_annotation"};
    case HostEventKind::kCollective:
      return {"nccl", "cpu_op"};
    case HostEventKind::kAttention:
      return {"attention", "cpu_op"};
    case HostEventKind::kGemm:
      return {"gemm", "cpu_op"};
    case HostEventKind::kApi:
    case HostEventKind::kCount:
      break;
  }
  const bool driver = rank.api_names[rank.api.name[event.row]].domain == ApiDomain::kDriver;
  return driver ? EventCategory{"cuda_driver", "cuda_driver"}
                : EventCategory{"cuda_runtime", "cuda_runtime"};
}

EventCategory CategoryOf(OpKind kind) {
  switch (kind) {
    case OpKind::kMemcpy:
      return {"gpu_memcpy", "gpu_memcpy"};
    case OpKind::kMemset:
      return {"gpu_memset", "gpu_memset"};
    case OpKind::kKernel:
      break;
  }
  return {"kernel", "kernel"};
}

}  // namespace traceinject
