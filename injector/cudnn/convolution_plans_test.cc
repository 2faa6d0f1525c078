// SPDX-License-Identifier: Apache-2.0
#include "injector/cudnn/convolution_plans.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

using namespace cudnn;

// Builds plans as a program does. Descriptors are addresses alone.
class Program {
 public:
  ConvolutionPlans plans;

  const void* Tensor(std::vector<std::int64_t> sizes, int type = kBfloat16) {
    const void* tensor = New();
    plans.Set(tensor, kTensorDataType, kTypeDataType, 1, &type);
    plans.Set(tensor, kTensorDimensions, kTypeInt64, static_cast<std::int64_t>(sizes.size()),
              sizes.data());
    return tensor;
  }
  void Name(const void* descriptor, int attribute, const void* other) {
    plans.Set(descriptor, attribute, kTypeDescriptor, 1, &other);
  }
  const void* Forward(std::int64_t batch) {
    const void* operation = New();
    Name(operation, kForwardInput, Tensor({batch, 3, 8, 8}));
    Name(operation, kForwardWeights, Tensor({16, 3, 3, 3}));
    Name(operation, kForwardOutput, Tensor({batch, 16, 6, 6}));
    return operation;
  }
  const void* Graph(std::vector<const void*> operations) {
    const void* graph = New();
    plans.Set(graph, kGraphOperations, kTypeDescriptor,
              static_cast<std::int64_t>(operations.size()), operations.data());
    return graph;
  }
  const void* Made(int attribute, const void* from) {
    const void* descriptor = New();
    Name(descriptor, attribute, from);
    return descriptor;
  }
  const void* PlanOf(const void* graph) {
    return Made(kPlanConfiguration, Made(kConfigurationEngine, Made(kEngineGraph, graph)));
  }
  const void* New() { return &descriptors_[next_++]; }

 private:
  char descriptors_[1000] = {};
  std::size_t next_ = 0;
};

TEST(ConvolutionPlansTest, FromTensorsToThePlan) {
  Program program;
  const auto found = program.plans.Find(program.PlanOf(program.Graph({program.Forward(32)})));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, ConvolutionKind::kForward);
  EXPECT_EQ(found->m, 16);
  EXPECT_EQ(found->n, 32 * 36);
  EXPECT_EQ(found->k, 27);
  EXPECT_EQ(found->type_a, 14);
}

TEST(ConvolutionPlansTest, BackwardsHaveTheirOwnAttributes) {
  Program program;
  const void* input = program.Tensor({4, 3, 8, 8});
  const void* weights = program.Tensor({16, 3, 3, 3});
  const void* output = program.Tensor({4, 16, 6, 6});
  const void* data = program.New();
  program.Name(data, kBackwardDataInput, input);
  program.Name(data, kBackwardDataWeights, weights);
  program.Name(data, kBackwardDataOutput, output);
  const void* filter = program.New();
  program.Name(filter, kBackwardFilterInput, input);
  program.Name(filter, kBackwardFilterWeights, weights);
  program.Name(filter, kBackwardFilterOutput, output);
  EXPECT_EQ(program.plans.Find(program.PlanOf(program.Graph({data})))->kind,
            ConvolutionKind::kBackwardData);
  EXPECT_EQ(program.plans.Find(program.PlanOf(program.Graph({filter})))->kind,
            ConvolutionKind::kBackwardFilter);
}

// Heuristics fill in configurations; a program may take their engine for one of its own.
TEST(ConvolutionPlansTest, ConfigurationsThatTheLibraryGives) {
  Program program;
  const void* heuristics = program.Made(kHeuristicsGraph, program.Graph({program.Forward(8)}));
  const void* given[] = {program.New(), program.New(), program.New()};
  program.plans.Get(heuristics, kHeuristicsResults, kTypeDescriptor, 2, given);
  EXPECT_TRUE(program.plans.Find(program.Made(kPlanConfiguration, given[1])));
  EXPECT_FALSE(program.plans.Find(program.Made(kPlanConfiguration, given[2]))) << "not filled in";
  const void* engine = program.New();
  program.plans.Get(given[0], kConfigurationEngine, kTypeDescriptor, 1, &engine);
  const void* own = program.Made(kConfigurationEngine, engine);
  EXPECT_EQ(program.plans.Find(program.Made(kPlanConfiguration, own))->n, 8 * 36);
}

TEST(ConvolutionPlansTest, OperationsAroundItDoNotMatter) {
  Program program;
  const void* pointwise = program.New();
  const void* one = program.Graph({pointwise, program.Forward(2), program.New()});
  EXPECT_TRUE(program.plans.Find(program.PlanOf(one)));
  EXPECT_FALSE(program.plans.Find(program.PlanOf(program.Graph({pointwise}))));
  const void* two = program.Graph({program.Forward(2), program.Forward(2)});
  EXPECT_FALSE(program.plans.Find(program.PlanOf(two))) << "which part is whose is not told";
}

TEST(ConvolutionPlansTest, AnAddressThatIsUsedAgainIsAnother) {
  Program program;
  const void* graph = program.Graph({program.Forward(2)});
  const void* plan = program.PlanOf(graph);
  program.plans.Forget(graph);
  EXPECT_TRUE(program.plans.Find(plan)) << "it needs its graph no longer";
  EXPECT_FALSE(program.plans.Find(program.PlanOf(graph)));
  program.Name(plan, kPlanConfiguration, program.New());
  EXPECT_FALSE(program.plans.Find(plan));
  EXPECT_FALSE(program.plans.Find(graph));
}

TEST(ConvolutionPlansTest, ValuesThatMakeNoSenseAreLeftOut) {
  Program program;
  const void* tensor = program.New();
  const std::int64_t sizes[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  program.plans.Set(tensor, kTensorDimensions, kTypeInt64, 9, sizes);
  program.plans.Set(tensor, kTensorDimensions, kTypeInt64, 3, nullptr);
  program.plans.Set(tensor, kTensorDataType, kTypeInt64, -1, sizes);
  program.plans.Get(tensor, kHeuristicsResults, kTypeDescriptor, 1, nullptr);
  const void* operation = program.New();
  program.Name(operation, kForwardInput, tensor);
  program.Name(operation, kForwardWeights, operation);
  program.Name(operation, kForwardOutput, nullptr);
  EXPECT_FALSE(program.plans.Find(program.PlanOf(program.Graph({operation}))));
}

TEST(ConvolutionPlansTest, FromSeveralThreads) {
  Program program;
  std::vector<const void*> plans;
  for (std::int64_t batch = 1; batch <= 4; ++batch)
    plans.push_back(program.PlanOf(program.Graph({program.Forward(batch)})));
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> wrong{0};
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const auto batch = static_cast<std::int64_t>(thread) + 1;
      for (int turn = 0; turn < 2000; ++turn) {
        const auto found = program.plans.Find(plans[thread]);
        if (found && found->n != batch * 36) ++wrong;
        char other = 0;
        const void* graph = plans[thread];
        program.plans.Set(&other, kEngineGraph, kTypeDescriptor, 1, &graph);
        program.plans.Forget(&other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace traceinject
