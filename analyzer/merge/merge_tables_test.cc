// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_tables.h"

#include <gtest/gtest.h>

#include "schemas/run_db_sql.h"

namespace traceinject {
namespace {

std::string TextOf(const std::vector<MergeTable>& tables) {
  std::string text;
  for (const MergeTable& table : tables) {
    text += table.name + ":";
    for (const MergeColumn& column : table.columns) {
      switch (column.kind) {
        case ColumnKind::kCopied:
          break;
        case ColumnKind::kOwnId:
          text += " " + column.name + "=id";
          break;
        case ColumnKind::kReference:
          text += " " + column.name + "->" + tables[column.other].name;
          break;
        case ColumnKind::kTime:
          text += " " + column.name + "=time";
          break;
        case ColumnKind::kDuration:
          text += " " + column.name + "-from-" + table.columns[column.other].name;
          break;
      }
    }
    text += "\n";
  }
  return text;
}

// A new table or column shows here: look whether its comment and its name say what it is.
TEST(MergeTablesTest, CommentsAndNamesOfTheSchemaSayWhatBecomesOfColumns) {
  auto database = Database::Open(":memory:", SQLITE_OPEN_READWRITE, nullptr, "schema");
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database.value().Execute(k_run_db_sql).ok());
  const auto tables = DescribeTables(database.value());
  ASSERT_TRUE(tables.ok()) << tables.error();
  EXPECT_EQ(TextOf(tables.value()),
            R"(process: proc=id start=time end=time
device: proc->process
string: id=id
thread: id=id proc->process name->string
stream: id=id proc->process name->string
kernel_shape: id=id name->string
graph_node: id=id
kernel: start=time dur-from-start stream->stream shape->kernel_shape graph_node->graph_node
memcpy: start=time dur-from-start stream->stream graph_node->graph_node
memset: start=time dur-from-start stream->stream graph_node->graph_node
memory_operation: time=time proc->process stream->stream
api_name: id=id
api: start=time dur-from-start thread->thread name->api_name
sync: start=time dur-from-start thread->thread stream->stream
nvtx_domain: id=id proc->process
nvtx_category: domain->nvtx_domain
nvtx: start=time dur-from-start thread->thread domain->nvtx_domain text->string
communicator: id=id proc->process created=time parent->communicator
collective: id=id start=time dur-from-start thread->thread function->string communicator->communicator
collective_plan: collective->collective time=time thread->thread datatype->string algorithm->string protocol->string launch_start=time launch_dur-from-launch_start
nccl_setup: id=id proc->process communicator->communicator network->string
nccl_link: id=id proc->process setup->nccl_setup transport->string detail->string network->string
gemm_shape: id=id function->string
gemm: start=time dur-from-start thread->thread shape->gemm_shape
attention_shape: id=id
attention: start=time dur-from-start thread->thread shape->attention_shape
data_loader: id=id proc->process
data_wait: start=time dur-from-start thread->thread loader->data_loader
step_mark: time=time thread->thread
host_span: start=time dur-from-start thread->thread
code_place: id=id function->string file->string
stack: id=id parent->stack place->code_place module->string
stack_sample: time=time thread->thread stack->stack
profiler_range: start=time dur-from-start thread->thread name->string input_shapes->string
system_fact: proc->process
device_sample: time=time proc->process
device_slow_sample: time=time proc->process
counter_set: id=id proc->process
counter: counter_set->counter_set
counter_sample: start=time dur-from-start proc->process counter_set->counter_set
allocator_sample: time=time proc->process
host_sample: time=time thread->thread
worker: id=id proc->process loader->data_loader start=time end=time
worker_sample: time=time worker->worker
clock_pair: proc->process realtime=time cupti=time
capture_gap: start=time dur-from-start proc->process
health: proc->process
)");
}

}  // namespace
}  // namespace traceinject
