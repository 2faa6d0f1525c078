// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace traceinject {

// Dear ImGui from here to the end of its scope: a context without a settings file, our look, a font
// (DejaVu Sans where it is installed, else the built-in one). One at a time.
class ImGuiSession {
 public:
  explicit ImGuiSession(float scale);
  ~ImGuiSession();
  ImGuiSession(const ImGuiSession&) = delete;
  ImGuiSession& operator=(const ImGuiSession&) = delete;
};

}  // namespace traceinject
