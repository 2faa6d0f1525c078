// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/import/kineto/kineto_event.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What a copy or memset of a trace moved. Its kinds of memory stand in its name, "Memcpy HtoD
// (Pageable -> Device)"; words that are not known give kind 0. Whether it was asynchronous is not
// told.
Transfer TransferOf(const KinetoEvent& event);

// The other way round: what such a trace calls a copy.
std::string KinetoCopyName(const Transfer& transfer);

}  // namespace traceinject
