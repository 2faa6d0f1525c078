// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "analyzer/http/gzip_text.h"
#include "analyzer/http/letter_case.h"
#include "analyzer/http/web_socket_connection.h"

namespace traceinject {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kWorkers = 4;
// A shorter body fits into a packet or two as it is.
constexpr std::size_t kLeastToPack = 1400;
// What a client still sends after an answer that ends the connection is read for so long: else the
// answer would vanish with it.
constexpr std::chrono::milliseconds kLingerTime{2000};
// After descriptors have run out.
constexpr std::chrono::milliseconds kAcceptAgain{200};

bool IsWorthPacking(const HttpResponse& response) {
  const std::string& type = response.content_type;
  return response.body.size() >= kLeastToPack &&
         (type.starts_with("text/") || type.starts_with("application/"));
}

HttpResponse Problem(int status, std::string_view what) {
  return {.status = status, .body = fmt::format("{}\n", what)};
}

bool IsOfProtocol(const error_code& error) {
  return error.category() == make_error_code(http::error::end_of_stream).category();
}

HttpResponse ProblemOf(const error_code& error, bool is_first_line_whole) {
  if (error == http::error::body_limit) return Problem(413, "the body is too large");
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return is_first_line_whole ? Problem(431, "the header is too large")
                               : Problem(414, "the request line is too long");
  if (error == http::error::bad_version) return Problem(505, "only HTTP/1.0 and 1.1 are spoken");
  return Problem(400, "not an HTTP request");
}

// "/path?query" of that and of "http://host/path?query". Empty: neither.
std::string_view OriginForm(std::string_view target) {
  if (target.starts_with('/')) return target;
  constexpr std::string_view kScheme = "http://";
  if (LowerCase(target.substr(0, kScheme.size())) != kScheme) return {};
  const std::size_t path = target.find('/', kScheme.size());
  return path == std::string_view::npos ? "/" : target.substr(path);
}

HttpHeaders HeadersOf(const http::fields& fields) {
  HttpHeaders headers;
  for (const auto& field : fields) {
    const std::string name = LowerCase({field.name_string().data(), field.name_string().size()});
    const std::string_view value(field.value().data(), field.value().size());
    const auto known = std::find_if(headers.begin(), headers.end(),
                                    [&](const auto& header) { return header.first == name; });
    if (known == headers.end())
      headers.emplace_back(name, value);
    else
      known->second.append(", ").append(value);
  }
  return headers;
}

using Message = http::request<http::string_body>;

// The request as handlers see it, or what is wrong with it.
std::optional<HttpResponse> Convert(const Message& message, const HttpLimits& limits,
                                    HttpRequest& request) {
  const std::string_view target(message.target().data(), message.target().size());
  if (target.size() > limits.target_bytes) return Problem(414, "the address is too long");
  const std::string_view path = OriginForm(target);
  if (path.empty()) return Problem(400, "the address has to begin with /");
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11))
    return Problem(400, "one Host header is needed");
  request.method = std::string(message.method_string());
  request.path = path.substr(0, path.find('?'));
  request.headers = HeadersOf(message);
  return std::nullopt;
}

HttpResponse AnswerSafely(const HttpHandler& answer, const HttpRequest& request) {
  try {
    return answer(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", request.path, error.what());
    return Problem(500, "this request failed; the server's standard error says why");
  }
}

class Server;

// One connection. All of it runs on the server's thread, but for what the handler does.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Server& server);

  void Start();
  void Close();
  // Ends a connection without a request, and one with it after the answer.
  void End();
  bool is_answering() const { return state_ == State::kAnswer || state_ == State::kWrite; }
  Clock::time_point since() const { return since_; }

 private:
  // kSilent: nothing has come of the next request yet.
  enum class State { kSilent, kRequest, kAnswer, kWrite, kLinger, kClosed };

  void Become(State state, std::optional<std::chrono::milliseconds> time);
  void WaitForTimer();
  void OnTimer();
  void WaitForRequest(std::chrono::milliseconds time);
  void ReadRequest();
  void OnRequest(const error_code& error);
  void Ask(HttpRequest request);
  void Upgrade(const HttpRequest& request);
  void Refuse(HttpResponse response);
  void Write(HttpResponse response);
  void OnWritten(const error_code& error);
  void Linger();

  tcp::socket socket_;
  Server& server_;
  asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
  State state_ = State::kSilent;
  Clock::time_point since_ = Clock::now();  // in this state
  bool is_head_ = false, keeps_ = true, is_late_ = false, is_packed_ = false;
};

class Server {
 public:
  Server(ListenSocket socket, int stop_fd, const HttpHandler& answer, const HttpLimits& limits,
         const WebSocketService* web_sockets)
      : limits_(limits),
        answer_(answer),
        web_sockets_(web_sockets),
        stop_(io_, fcntl(stop_fd, F_DUPFD_CLOEXEC, 0)),
        acceptor_(io_, socket.is_ipv6() ? tcp::v6() : tcp::v4(), socket.Release()),
        again_(io_),
        end_(io_),
        tick_(io_) {}

  void Run() {
    stop_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code) { End(); });
    Accept();
    io_.run();
    workers_.join();
  }

  void Forget(const std::shared_ptr<Session>& session) {
    sessions_.erase(session);
    EndIfNothingIsLeft();
    if (!ending_ && is_full_) Accept();
  }
  // What is to be said to somebody who asked for a WebSocket; empty: it has one.
  std::optional<HttpResponse> OpenWebSocket(const HttpRequest& request, tcp::socket& socket,
                                            WebSocketConnection::Request message) {
    auto opened = web_sockets_->open(request);
    if (auto* const refusal = std::get_if<HttpResponse>(&opened)) return std::move(*refusal);
    if (conversations_.empty()) Tick();
    conversations_.insert(WebSocketConnection::Open(
        std::move(socket), std::move(message),
        std::move(std::get<std::unique_ptr<WebSocketUser>>(opened)), *web_sockets_,
        [this](WebSocketConnection* ended) {
          std::erase_if(conversations_, [ended](const auto& one) { return one.get() == ended; });
          EndIfNothingIsLeft();
        }));
    return std::nullopt;
  }
  // Calls done(response) on the server's thread once the handler has answered.
  template <typename Finish>
  void Answer(HttpRequest request, bool may_pack, Finish done) {
    asio::post(workers_, [this, request = std::move(request), may_pack, done = std::move(done),
                          work = asio::make_work_guard(io_)]() mutable {
      HttpResponse response = AnswerSafely(answer_, request);
      const bool packs = may_pack && IsWorthPacking(response);
      if (packs) response.body = GzipText(response.body);
      asio::post(io_, [done = std::move(done), response = std::move(response), packs]() mutable {
        done(std::move(response), packs);
      });
    });
  }

  asio::io_context& io() { return io_; }
  const HttpLimits& limits() const { return limits_; }
  bool ending() const { return ending_; }
  bool has_web_sockets() const { return web_sockets_ != nullptr; }

 private:
  void EndIfNothingIsLeft() {
    if (!ending_ || !sessions_.empty() || !conversations_.empty()) return;
    end_.cancel();
  }

  void Tick() {
    tick_.expires_after(web_sockets_->tick);
    tick_.async_wait([this](const error_code& error) {
      if (error || conversations_.empty() || ending_) return;
      for (const auto& conversation : std::set(conversations_)) conversation->Tick();
      Tick();
    });
  }

  void Accept() {
    is_full_ = sessions_.size() > limits_.connections;
    if (is_full_) return;
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (ending_) return;
      if (error) return AcceptLater();
      if (sessions_.size() >= limits_.connections) DropTheMostPatient();
      const auto session = std::make_shared<Session>(std::move(socket), *this);
      sessions_.insert(session);
      session->Start();
      Accept();
    });
  }

  void AcceptLater() {
    again_.expires_after(kAcceptAgain);
    again_.async_wait([this](const error_code& error) {
      if (!error && !ending_) Accept();
    });
  }

  // Of the connections that are not being answered, if there is one.
  void DropTheMostPatient() {
    std::shared_ptr<Session> first;
    for (const auto& session : sessions_) {
      if (!session->is_answering() && (!first || session->since() < first->since()))
        first = session;
    }
    if (first) first->Close();
  }

  void End() {
    ending_ = true;
    acceptor_.close();
    again_.cancel();
    tick_.cancel();
    for (const auto& session : std::set(sessions_)) session->End();
    for (const auto& conversation : std::set(conversations_)) conversation->End();
    if (sessions_.empty() && conversations_.empty()) return;
    end_.expires_after(limits_.end_time);
    end_.async_wait([this](const error_code& error) {
      if (!error) io_.stop();
    });
  }

  const HttpLimits limits_;
  const HttpHandler& answer_;
  const WebSocketService* const web_sockets_;  // null: there are none
  asio::io_context io_{1};
  asio::posix::stream_descriptor stop_;
  tcp::acceptor acceptor_;
  asio::steady_timer again_, end_, tick_;
  std::set<std::shared_ptr<Session>> sessions_;
  std::set<std::shared_ptr<WebSocketConnection>> conversations_;
  bool is_full_ = false, ending_ = false;
  asio::thread_pool workers_{kWorkers};
};

Session::Session(tcp::socket socket, Server& server)
    : socket_(std::move(socket)),
      server_(server),
      timer_(server.io()),
      buffer_(server.limits().header_bytes + server.limits().body_bytes) {}

void Session::Start() {
  WaitForTimer();
  WaitForRequest(server_.limits().request_time);
}

// No time: as long as it takes.
void Session::Become(State state, std::optional<std::chrono::milliseconds> time) {
  state_ = state;
  since_ = Clock::now();
  // Wakes WaitForTimer(), which waits anew.
  if (time)
    timer_.expires_after(*time);
  else
    timer_.expires_at(Clock::time_point::max());
}

void Session::WaitForTimer() {
  timer_.async_wait([self = shared_from_this()](error_code) {
    if (self->state_ == State::kClosed) return;
    if (self->timer_.expiry() <= Clock::now()) self->OnTimer();
    if (self->state_ != State::kClosed) self->WaitForTimer();
  });
}

void Session::OnTimer() {
  if (state_ != State::kRequest) return Close();
  // OnRequest() is told, and answers.
  is_late_ = true;
  Become(State::kRequest, std::nullopt);
  socket_.cancel();
}

void Session::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
  server_.Forget(shared_from_this());
}

void Session::End() {
  if (!is_answering()) Close();
}

void Session::WaitForRequest(std::chrono::milliseconds time) {
  if (buffer_.size() > 0) return ReadRequest();
  Become(State::kSilent, time);
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
    if (error) return self->Close();
    self->ReadRequest();
  });
}

void Session::ReadRequest() {
  if (state_ == State::kClosed) return;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_.limits().header_bytes));
  parser_->body_limit(server_.limits().body_bytes);
  Become(State::kRequest, server_.limits().request_time);
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](const error_code& error, std::size_t) {
                     self->OnRequest(error);
                   });
}

void Session::OnRequest(const error_code& error) {
  if (state_ == State::kClosed) return;
  const Message& message = parser_->get();
  is_head_ = message.method() == http::verb::head;
  keeps_ = !error && message.keep_alive();
  if (is_late_ && error == asio::error::operation_aborted)
    return Refuse(Problem(408, "the request took too long"));
  if (error == http::error::end_of_stream || (error && !IsOfProtocol(error))) return Close();
  if (error) return Refuse(ProblemOf(error, !message.target().empty()));
  HttpRequest request;
  if (auto problem = Convert(message, server_.limits(), request))
    return Refuse(std::move(*problem));
  if (is_head_) request.method = "GET";
  if (server_.has_web_sockets() && boost::beast::websocket::is_upgrade(message))
    return Upgrade(request);
  Ask(std::move(request));
}

void Session::Upgrade(const HttpRequest& request) {
  if (auto refusal = server_.OpenWebSocket(request, socket_, parser_->release()))
    return Refuse(std::move(*refusal));
  Close();
}

void Session::Ask(HttpRequest request) {
  const bool may_pack = AcceptsWord(request.header("accept-encoding"), "gzip");
  Become(State::kAnswer, std::nullopt);
  server_.Answer(std::move(request), may_pack,
                 [self = shared_from_this()](HttpResponse response, bool packed) {
                   self->is_packed_ = packed;
                   self->Write(std::move(response));
                 });
}

// Where one request ends and the next begins is not certain any more.
void Session::Refuse(HttpResponse response) {
  keeps_ = false;
  is_packed_ = false;
  Write(std::move(response));
}

void Session::Write(HttpResponse response) {
  if (state_ == State::kClosed) return;
  keeps_ = keeps_ && !server_.ending();
  const std::size_t size = response.body.size();
  answer_ = {};
  answer_.version(parser_->get().version() == 10 ? 10 : 11);
  answer_.result(static_cast<unsigned>(response.status));
  answer_.keep_alive(keeps_);
  answer_.set(http::field::content_type, response.content_type);
  answer_.set(http::field::cache_control, "no-store");
  answer_.set(http::field::vary, "Accept-Encoding");
  answer_.set("X-Content-Type-Options", "nosniff");
  if (is_packed_) answer_.set(http::field::content_encoding, "gzip");
  for (const auto& [name, value] : response.headers) answer_.insert(name, value);
  answer_.content_length(size);
  if (!is_head_) answer_.body() = std::move(response.body);
  const HttpLimits& limits = server_.limits();
  Become(State::kWrite,
         limits.answer_time + std::chrono::seconds(size / limits.least_bytes_per_second));
  http::async_write(socket_, answer_,
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      self->OnWritten(error);
                    });
}

void Session::OnWritten(const error_code& error) {
  if (state_ == State::kClosed) return;
  if (error) return Close();
  if (keeps_ && !server_.ending()) return WaitForRequest(server_.limits().idle_time);
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  buffer_.clear();
  Become(State::kLinger, kLingerTime);
  Linger();
}

void Session::Linger() {
  socket_.async_read_some(buffer_.prepare(buffer_.max_size()),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            if (self->state_ == State::kClosed) return;
                            if (error) return self->Close();
                            self->Linger();
                          });
}

}  // namespace

void ServeHttp(ListenSocket socket, int stop_fd, const HttpHandler& answer,
               const HttpLimits& limits, const WebSocketService* web_sockets) {
  Server(std::move(socket), stop_fd, answer, limits, web_sockets).Run();
}

}  // namespace traceinject
