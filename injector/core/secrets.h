// SPDX-License-Identifier: Apache-2.0
// Keeps passwords, keys and tokens out of recordings, which people send around: what programs are
// started with has them in many forms. What looks like one is replaced by ***, and no more than its
// value. Better one too many than one too few, but names that training programs use for other
// things (--max-tokens 512, --text_key=text) are known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// Whether the name of an option or variable says that its value is a secret.
bool IsSecretName(std::string_view name);

// The same text with the secrets that it tells by itself masked: passwords in URLs, values of names
// that IsSecretName() knows (key=..., "token": "...", Authorization: Bearer ...), tokens of
// well-known services. O(characters).
std::string MaskSecrets(std::string_view text);

// The value of a variable.
std::string MaskedValue(std::string_view name, std::string_view value);

// The arguments joined by spaces, each masked, and the values of options in arguments of their own.
std::string MaskedCommandLine(const std::vector<std::string>& arguments);

}  // namespace traceinject
