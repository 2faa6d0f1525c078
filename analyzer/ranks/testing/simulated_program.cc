// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/testing/simulated_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/ranks/testing/simulated_chance.h"

namespace traceinject {
namespace {

// Writes the instructions of one stage.
class Writer {
 public:
  Writer(const JobPlan& plan, int stage, std::vector<OperationKind>& kinds)
      : plan_(plan), stage_(stage), kinds_(kinds) {}

  std::vector<Instruction> BeforeTheFirstStep() {
    if (plan_.data < 2 || Shards()) return {};
    // The parameters of rank 0.
    for (int i = 0; i < 2; ++i)
      JoinLast(Issue(CommunicatorKind::kData, "Broadcast", plan_.layer_bytes));
    return std::move(program_);
  }

  std::vector<Instruction> Step() {
    Add({.kind = Instruction::Kind::kIdle, .length_ns = plan_.host_ns});
    if (plan_.pipeline > 1) {
      OneForwardOneBackward();
    } else if (Shards()) {
      Sharded();
    } else {
      Forward();
      Backward(true);
    }
    JoinAll();
    if (plan_.pipeline > 1) JoinLast(Issue(CommunicatorKind::kModel, "AllReduce", 8));
    if (Shards()) JoinLast(Issue(CommunicatorKind::kData, "AllReduce", 4));
    Compute(2, plan_.optimizer_ns);
    return std::move(program_);
  }

 private:
  bool Shards() const { return plan_.sharded && plan_.data > 1 && plan_.pipeline == 1; }
  void Add(const Instruction& instruction) { program_.push_back(instruction); }
  void Compute(int kernel, TimeNs length) {
    Add({.kind = Instruction::Kind::kCompute, .length_ns = length, .kernel = kernel});
  }
  std::uint32_t KindOf(const char* function, std::int64_t bytes) {
    OperationKind kind{function, bytes};
    if (plan_.tell_sequences) kind.algorithm = "RING", kind.protocol = "SIMPLE";
    const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
    if (found == kinds_.end()) kinds_.push_back(kind);
    return static_cast<std::uint32_t>(std::find(kinds_.begin(), kinds_.end(), kind) -
                                      kinds_.begin());
  }
  CommunicatorKind Issue(CommunicatorKind on, const char* function, std::int64_t bytes,
                         int peer = -1) {
    Add({.kind = Instruction::Kind::kIssue,
         .communicator = on,
         .operation = KindOf(function, bytes),
         .peer = peer});
    ++issued_[static_cast<std::size_t>(on)];
    return on;
  }
  void Join(CommunicatorKind on, int number) {
    Add({.kind = Instruction::Kind::kJoin, .communicator = on, .number = number});
  }
  void JoinLast(CommunicatorKind on) { Join(on, issued_[static_cast<std::size_t>(on)] - 1); }
  void JoinAll() {
    for (std::size_t kind = 0; kind < kCommunicatorKinds; ++kind) {
      if (issued_[kind] > 0) JoinLast(static_cast<CommunicatorKind>(kind));
    }
  }

  // Attention and feed-forward: a tensor-parallel reduction after each.
  void Layer(int kernel, TimeNs length) {
    if (plan_.tensor < 2) return Compute(kernel, length);
    for (int half = 0; half < 2; ++half) {
      Compute(kernel, length / 2);
      JoinLast(Issue(CommunicatorKind::kTensor, "AllReduce", plan_.activation_bytes));
    }
  }
  TimeNs Share(TimeNs length) const {
    return plan_.stage_work.empty()
               ? length
               : static_cast<TimeNs>(static_cast<double>(length) *
                                     plan_.stage_work[static_cast<std::size_t>(stage_)]);
  }
  void Forward() {
    for (int layer = 0; layer < plan_.layers; ++layer) Layer(0, Share(plan_.forward_ns));
  }
  void Backward(bool reduce) {
    for (int layer = plan_.layers; layer-- > 0;) {
      Layer(1, Share(2 * plan_.forward_ns));
      // The first bucket is small, so that communication begins early.
      if (reduce && plan_.data > 1)
        Issue(CommunicatorKind::kData, "AllReduce",
              layer + 1 == plan_.layers ? plan_.layer_bytes / 8 : plan_.layer_bytes);
    }
  }

  // Parameters are gathered one layer ahead, gradients scattered behind.
  void Sharded() {
    constexpr CommunicatorKind kData = CommunicatorKind::kData;
    std::vector<int> gathered(static_cast<std::size_t>(plan_.layers) + 1);
    const auto gather = [&](int layer) {
      if (layer < 0 || layer >= plan_.layers) return;
      gathered[static_cast<std::size_t>(layer)] = issued_[0];
      Issue(kData, "AllGather", plan_.layer_bytes);
    };
    gather(0);
    for (int layer = 0; layer < plan_.layers; ++layer) {
      gather(layer + 1);
      Join(kData, gathered[static_cast<std::size_t>(layer)]);
      Layer(0, plan_.forward_ns);
    }
    gather(plan_.layers - 1);
    for (int layer = plan_.layers; layer-- > 0;) {
      gather(layer - 1);
      Join(kData, gathered[static_cast<std::size_t>(layer)]);
      Layer(1, 2 * plan_.forward_ns);
      Issue(kData, "ReduceScatter", plan_.layer_bytes);
    }
  }

  void Exchange(const char* function, int peer) {
    if (peer < 0 || peer >= plan_.pipeline) return;
    JoinLast(Issue(CommunicatorKind::kPipeline, function, plan_.activation_bytes, peer));
  }
  // The schedule of Megatron: warm-up, one forward and one backward in turns, cool-down.
  void OneForwardOneBackward() {
    const int next = stage_ + 1, before = stage_ - 1;
    const int warm_up = std::min(plan_.pipeline - stage_ - 1, plan_.micro_batches);
    const int steady = plan_.micro_batches - warm_up;
    for (int i = 0; i < warm_up; ++i) {
      Exchange("Recv", before);
      Forward();
      Exchange("Send", next);
    }
    if (steady > 0) Exchange("Recv", before);
    for (int i = 0; i < steady; ++i) {
      Forward();
      Exchange("Send+Recv", next);
      Backward(warm_up == 0 && i + 1 == steady);
      Exchange(i + 1 == steady ? "Send" : "Send+Recv", before);
    }
    for (int i = 0; i < warm_up; ++i) {
      Exchange("Recv", next);
      Backward(i + 1 == warm_up);
      Exchange("Send", before);
    }
  }

  const JobPlan& plan_;
  int stage_;
  std::vector<OperationKind>& kinds_;
  std::vector<Instruction> program_;
  std::array<int, kCommunicatorKinds> issued_{};
};

}  // namespace

SimulatedLayout LayOut(const JobPlan& plan) {
  SimulatedLayout layout;
  std::array<int, kCommunicatorKinds> none;
  none.fill(-1);
  layout.of_rank.assign(static_cast<std::size_t>(plan.ranks()), none);
  layout.own_rank = layout.of_rank;
  const auto add = [&](CommunicatorKind kind, const char* name, std::vector<int> ranks) {
    if (ranks.size() < 2) return;
    const std::size_t at = static_cast<std::size_t>(kind);
    for (std::size_t own = 0; own < ranks.size(); ++own) {
      const std::size_t rank = static_cast<std::size_t>(ranks[own]);
      layout.of_rank[rank][at] = static_cast<int>(layout.communicators.size());
      layout.own_rank[rank][at] = static_cast<int>(own);
    }
    const std::uint64_t hash = Chance(17).Bits({layout.communicators.size()});
    layout.communicators.push_back({kind, hash, name, std::move(ranks)});
  };
  const int stage = plan.tensor * plan.data;
  for (int first = 0; first < plan.ranks(); first += plan.tensor) {
    std::vector<int> ranks;
    for (int i = 0; i < plan.tensor; ++i) ranks.push_back(first + i);
    add(CommunicatorKind::kTensor, "TENSOR_MODEL_PARALLEL_GROUP", std::move(ranks));
  }
  for (int first = 0; first < plan.ranks(); first += stage) {
    for (int column = 0; column < plan.tensor; ++column) {
      std::vector<int> ranks;
      for (int i = 0; i < plan.data; ++i) ranks.push_back(first + column + i * plan.tensor);
      add(CommunicatorKind::kData, "DATA_PARALLEL_GROUP", std::move(ranks));
    }
  }
  if (plan.pipeline == 1) return layout;
  for (int first = 0; first < stage; ++first) {
    std::vector<int> ranks;
    for (int i = 0; i < plan.pipeline; ++i) ranks.push_back(first + i * stage);
    add(CommunicatorKind::kPipeline, "PIPELINE_MODEL_PARALLEL_GROUP", std::move(ranks));
  }
  for (int replica = 0; replica < plan.data; ++replica) {
    std::vector<int> ranks;
    for (int i = 0; i < plan.pipeline; ++i) {
      for (int column = 0; column < plan.tensor; ++column)
        ranks.push_back(i * stage + replica * plan.tensor + column);
    }
    add(CommunicatorKind::kModel, "MODEL_PARALLEL_GROUP", std::move(ranks));
  }
  return layout;
}

SimulatedPrograms WritePrograms(const JobPlan& plan) {
  SimulatedPrograms programs;
  for (int stage = 0; stage < plan.pipeline; ++stage) {
    programs.first.push_back(Writer(plan, stage, programs.kinds).BeforeTheFirstStep());
    programs.step.push_back(Writer(plan, stage, programs.kinds).Step());
  }
  return programs;
}

}  // namespace traceinject
