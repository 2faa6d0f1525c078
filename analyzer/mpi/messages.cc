// SPDX-License-Identifier: Apache-2.0
#include "analyzer/mpi/messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace traceinject {
namespace {

constexpr int kLengthTag = 1, kPieceTag = 2;
constexpr std::size_t kPieceBytes = std::size_t{64} << 20;

}  // namespace

void SendText(std::string_view text, int to, MPI_Comm processes) {
  const std::uint64_t length = text.size();
  MPI_Ssend(&length, 1, MPI_UINT64_T, to, kLengthTag, processes);
  for (std::size_t at = 0; at < text.size(); at += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, text.size() - at);
    MPI_Ssend(text.data() + at, static_cast<int>(piece), MPI_BYTE, to, kPieceTag, processes);
  }
}

std::string ReceiveText(int& from, MPI_Comm processes) {
  std::uint64_t length = 0;
  MPI_Status status;
  MPI_Recv(&length, 1, MPI_UINT64_T, from, kLengthTag, processes, &status);
  from = status.MPI_SOURCE;
  std::string text(length, '\0');
  for (std::size_t at = 0; at < text.size(); at += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, text.size() - at);
    MPI_Recv(text.data() + at, static_cast<int>(piece), MPI_BYTE, from, kPieceTag, processes,
             MPI_STATUS_IGNORE);
  }
  return text;
}

}  // namespace traceinject
