// SPDX-License-Identifier: Apache-2.0
// What the names of options and variables, and values by themselves, say of secrets. Names that
// training programs use for other things (--max-tokens, --text_key) are known.
#pragma once

#include <cstddef>
#include <string_view>

namespace traceinject {

// Whether the name of an option or variable says that its value is a secret.
bool IsSecretName(std::string_view name);

// Whether a value is none although its name may say so: --token 512, --pass 3, "key": "q_proj",
// token=None. A password may well be a number or a word.
bool IsHarmlessValue(std::string_view name, std::string_view value);

// "8", "1_000", "300B": a count, which may be of tokens.
bool IsCount(std::string_view value, std::size_t most_digits);

// "true", "off", "None".
bool IsSwitch(std::string_view value);

}  // namespace traceinject
