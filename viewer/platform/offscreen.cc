// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/offscreen.h"

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "viewer/platform/imgui_session.h"

namespace traceinject {
namespace {

constexpr float kFrameSeconds = 1.0F / 60;

bool HasExtension(EGLDisplay display, const char* name) {
  const char* const all = eglQueryString(display, EGL_EXTENSIONS);
  return all != nullptr && std::strstr(all, name) != nullptr;
}

// The displays to try: none at all (Mesa), each GPU, whatever the system calls its default.
std::vector<EGLDisplay> CandidateDisplays() {
  std::vector<EGLDisplay> displays;
  const auto get_platform_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (get_platform_display != nullptr) {
    if (HasExtension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
      displays.push_back(get_platform_display(
          EGL_PLATFORM_SURFACELESS_MESA, reinterpret_cast<void*>(EGL_DEFAULT_DISPLAY), nullptr));
    }
    const auto query_devices =
        reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (query_devices != nullptr && query_devices(16, devices, &count) == EGL_TRUE) {
      for (EGLint i = 0; i < count; ++i) {
        displays.push_back(get_platform_display(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr));
      }
    }
  }
  displays.push_back(eglGetDisplay(EGL_DEFAULT_DISPLAY));
  return displays;
}

// An OpenGL context that is current while this lives, with no window behind it.
class OffscreenContext {
 public:
  static std::unique_ptr<OffscreenContext> Create() {
    for (const EGLDisplay display : CandidateDisplays()) {
      if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) {
        continue;
      }
      auto context = std::unique_ptr<OffscreenContext>(new OffscreenContext(display));
      if (context->MakeCurrent()) return context;
    }
    return nullptr;
  }
  ~OffscreenContext() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    eglTerminate(display_);
  }
  OffscreenContext(const OffscreenContext&) = delete;
  OffscreenContext& operator=(const OffscreenContext&) = delete;

 private:
  explicit OffscreenContext(EGLDisplay display) : display_(display) {}

  bool MakeCurrent() {
    if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) return false;
    // Drawing goes to a framebuffer object: the surface only has to exist where it must.
    const bool surfaceless = HasExtension(display_, "EGL_KHR_surfaceless_context");
    const EGLint config_wish[] = {EGL_SURFACE_TYPE, surfaceless ? 0 : EGL_PBUFFER_BIT,
                                  EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    if (eglChooseConfig(display_, config_wish, &config, 1, &configs) == EGL_FALSE || configs == 0) {
      return false;
    }
    const EGLint context_wish[] = {EGL_CONTEXT_MAJOR_VERSION,
                                   3,
                                   EGL_CONTEXT_MINOR_VERSION,
                                   3,
                                   EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                   EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                   EGL_NONE};
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, context_wish);
    if (context_ == EGL_NO_CONTEXT) return false;
    if (!surfaceless) {
      const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
      surface_ = eglCreatePbufferSurface(display_, config, size);
    }
    return eglMakeCurrent(display_, surface_, surface_, context_) == EGL_TRUE;
  }

  EGLDisplay display_;
  EGLContext context_ = EGL_NO_CONTEXT;
  EGLSurface surface_ = EGL_NO_SURFACE;
};

// What is drawn while it lives lands in a texture of its own.
class Framebuffer {
 public:
  Framebuffer(int width_px, int height_px) : width_px_(width_px), height_px_(height_px) {
    glGenFramebuffers(1, &framebuffer_);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glGenRenderbuffers(1, &color_);
    glBindRenderbuffer(GL_RENDERBUFFER, color_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width_px, height_px);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_);
  }
  ~Framebuffer() {
    glDeleteRenderbuffers(1, &color_);
    glDeleteFramebuffers(1, &framebuffer_);
  }
  Framebuffer(const Framebuffer&) = delete;
  Framebuffer& operator=(const Framebuffer&) = delete;

  bool complete() const {
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  }

  Image Read() const {
    Image image{width_px_, height_px_, {}};
    const auto row_bytes = static_cast<std::size_t>(width_px_) * 3;
    image.rgb.resize(row_bytes * static_cast<std::size_t>(height_px_));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_px_, height_px_, GL_RGB, GL_UNSIGNED_BYTE, image.rgb.data());
    // OpenGL counts rows from the bottom.
    for (std::size_t top = 0, bottom = static_cast<std::size_t>(height_px_) - 1; top < bottom;
         ++top, --bottom) {
      std::swap_ranges(image.rgb.begin() + static_cast<std::ptrdiff_t>(top * row_bytes),
                       image.rgb.begin() + static_cast<std::ptrdiff_t>((top + 1) * row_bytes),
                       image.rgb.begin() + static_cast<std::ptrdiff_t>(bottom * row_bytes));
    }
    return image;
  }

 private:
  int width_px_, height_px_;
  GLuint framebuffer_ = 0, color_ = 0;
};

}  // namespace

struct OffscreenScreen::State {
  State(std::unique_ptr<OffscreenContext> gl, int width, int height, float scale)
      : width_px(width),
        height_px(height),
        context(std::move(gl)),
        framebuffer(width, height),
        imgui(scale) {}

  int width_px, height_px;
  std::unique_ptr<OffscreenContext> context;
  Framebuffer framebuffer;
  ImGuiSession imgui;
};

OffscreenScreen::OffscreenScreen(std::unique_ptr<State> state) : state_(std::move(state)) {
  ImGui_ImplOpenGL3_Init("#version 150");
}

OffscreenScreen::~OffscreenScreen() { ImGui_ImplOpenGL3_Shutdown(); }

Result<std::unique_ptr<OffscreenScreen>> OffscreenScreen::Open(int width_px, int height_px,
                                                               float scale) {
  std::unique_ptr<OffscreenContext> context = OffscreenContext::Create();
  if (!context) {
    return Error{
        "EGL offers no OpenGL 3.3 here, which is needed for pictures. Install Mesa's software "
        "renderer: apt-get install libegl1 libgl1-mesa-dri."};
  }
  auto state = std::make_unique<State>(std::move(context), width_px, height_px, scale);
  if (!state->framebuffer.complete()) {
    return Error{"OpenGL cannot draw a picture of " + std::to_string(width_px) + "x" +
                 std::to_string(height_px) + " pixels. Choose a smaller --size."};
  }
  return std::unique_ptr<OffscreenScreen>(new OffscreenScreen(std::move(state)));
}

void OffscreenScreen::Frame(const std::function<void()>& draw) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(state_->width_px), static_cast<float>(state_->height_px)};
  io.DeltaTime = kFrameSeconds;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  glViewport(0, 0, state_->width_px, state_->height_px);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

Image OffscreenScreen::Read() const { return state_->framebuffer.Read(); }

}  // namespace traceinject
