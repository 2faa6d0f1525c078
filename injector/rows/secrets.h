// SPDX-License-Identifier: Apache-2.0
// Keeps passwords, keys and tokens out of recordings, which people send around: what programs are
// started with has them in many forms. What looks like one is replaced by ***, and no more than its
// value. Better one too many than one too few where a name says so (secret_names.h); without a name
// only what has the shape of a service's tokens, as paths and names of models tell what the run
// was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// The same text with the secrets that it tells by itself masked: passwords in URLs, values of names
// that IsSecretName() knows (key=..., "token": "...", Authorization: Bearer ...), tokens of
// well-known services. O(characters).
std::string MaskSecrets(std::string_view text);

// The name in front of the separator at `at`, which may be quoted, also with backslashes, and be an
// index: os.environ["HF_TOKEN"] = ... Looks back by kLongestName characters at most, so that a long
// text is read once and not again at each sign in it.
constexpr std::size_t kLongestName = 256;
std::string_view NameBefore(std::string_view text, std::size_t at);

// The value of a variable.
std::string MaskedValue(std::string_view name, std::string_view value);

// The arguments joined by spaces, each masked, and the values of options in arguments of their own.
std::string MaskedCommandLine(const std::vector<std::string>& arguments);

}  // namespace traceinject
