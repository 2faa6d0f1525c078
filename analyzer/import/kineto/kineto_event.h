// SPDX-License-Identifier: Apache-2.0
// One event of a PyTorch (Kineto) trace in Chrome's JSON format.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

// Higher ordinals of a device are no ordinals of a device.
inline constexpr int kHighestDevice = 1023;

enum class KinetoKind : std::uint8_t {
  kSkipped,  // nothing that the model holds: arrows, counters
  kKernel,
  kMemcpy,
  kMemset,
  kApi,
  kAnnotation,  // user ranges on the host, steps and data loaders among them
  kOperator,    // of PyTorch
  kPythonFunction,
  kSpan,         // the time that the profiler recorded
  kThreadName,   // metadata
  kProcessName,  // metadata
  kBroken,       // not valid JSON, or a field of the wrong type
};

// What NCCL kernels, and the operators around their launch, carry in newer traces.
struct KinetoCollective {
  std::string_view name, dtype, group_name, group_ranks;
  std::optional<std::int64_t> in_elements, out_elements, group_size;
  // Of a send or a receive: the other one's global rank, and its rank in the group (of other
  // functions the last is the own one).
  std::optional<std::int64_t> source, destination, rank;
};

// Fields that the trace does not have are empty. Text is valid until the next event is parsed.
struct KinetoEvent {
  KinetoKind kind = KinetoKind::kSkipped;
  std::string_view name, label;  // label: the name that a metadata event gives
  std::optional<std::int64_t> pid, tid;
  std::optional<TimeNs> start, dur;  // start as the trace counts
  std::optional<std::int64_t> correlation, device, context, stream;
  std::optional<std::int64_t> bytes, registers, shared_bytes, from_device, to_device;
  std::optional<std::int64_t> graph_id, graph_node_id;
  std::optional<std::int64_t> sequence, forward_thread, python_id, python_parent;
  // Of operators and annotations, lists in JSON: see operator_inputs.h.
  std::string_view input_shapes, input_types, concrete_inputs;
  std::string_view call_stack;  // of an operator in older traces, see python_stacks.h
  std::array<std::int32_t, 3> grid{}, block{};
  KinetoCollective collective;
};

class KinetoEventParser {
 public:
  KinetoEventParser();
  ~KinetoEventParser();

  // `text` is followed by JsonPieces::kPadding readable bytes. O(length).
  KinetoEvent Parse(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traceinject
