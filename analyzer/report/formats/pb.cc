// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/formats/pb.h"

namespace traceinject {

// No field is a map, so the serialization is deterministic.
std::string WritePb(const google::protobuf::Message& report) { return report.SerializeAsString(); }

}  // namespace traceinject
