// SPDX-License-Identifier: Apache-2.0
// Texts between processes arrive as they were sent, whatever their length: run by mpirun with two
// processes or more. Exit code 0 only then.
#include <cstdio>
#include <vector>

#include "analyzer/mpi/messages.h"

namespace {

// Below, at and beyond the length of a piece of a message.
constexpr std::size_t kLengths[] = {0, 1, 100'000, (64 << 20) - 1, 64 << 20, 130 << 20, 3};

std::string TextOf(int process, std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i)
    text[i] = static_cast<char>((i * 2'654'435'761 + static_cast<std::size_t>(process)) >> 7);
  return text;
}

int Receive(int processes) {
  std::vector<std::size_t> received(static_cast<std::size_t>(processes));
  for (std::size_t left = std::size(kLengths) * static_cast<std::size_t>(processes - 1); left > 0;
       --left) {
    int from = MPI_ANY_SOURCE;
    const std::string text = traceinject::ReceiveText(from, MPI_COMM_WORLD);
    const std::size_t length = kLengths[received[static_cast<std::size_t>(from)]++];
    if (text == TextOf(from, length)) continue;
    std::fprintf(stderr, "a text of %zu bytes of process %d arrived with %zu, or others\n", length,
                 from, text.size());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int process = 0, processes = 0, exit_code = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (process == 0) {
    exit_code = processes > 1 ? Receive(processes) : 1;
  } else {
    for (const std::size_t length : kLengths)
      traceinject::SendText(TextOf(process, length), 0, MPI_COMM_WORLD);
  }
  if (exit_code != 0) MPI_Abort(MPI_COMM_WORLD, exit_code);
  MPI_Finalize();
  return exit_code;
}
