// The child is this program again. It limits its own memory; the parent watches
// the clock.
#include "tools/smt_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace isomer::cli {

namespace {

using verify::SmtAnswer;

// Z3 looks at its clock between steps, so it gets some time beyond its limit.
constexpr absl::Duration kGrace = absl::Milliseconds(250);

bool WriteAll(int fd, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

// Reads a line before the deadline; "" if none came.
std::string ReadLine(int fd, absl::Time deadline) {
  std::string line;
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return "";
    pollfd p{fd, POLLIN, 0};
    const int ready = poll(&p, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return "";
    char c = 0;
    const ssize_t n = read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return "";
    if (c == '\n') return line;
    line += c;
  }
}

const char* AnswerName(SmtAnswer answer) {
  return answer == SmtAnswer::kSat     ? "sat"
         : answer == SmtAnswer::kUnsat ? "unsat"
                                       : "unknown";
}

}  // namespace

SmtAnswer SmtProcess::Ask(const std::string& question) {
  if (pid_ < 0 && !Start()) return SmtAnswer::kUnknown;
  const absl::Time deadline = absl::Now() + limits_.time + kGrace;
  std::string answer;
  if (WriteAll(to_, absl::StrCat(question.size(), "\n", question))) {
    answer = ReadLine(from_, deadline);
  }
  if (answer == AnswerName(SmtAnswer::kSat)) return SmtAnswer::kSat;
  if (answer == AnswerName(SmtAnswer::kUnsat)) return SmtAnswer::kUnsat;
  if (answer.empty()) Stop();
  return SmtAnswer::kUnknown;
}

bool SmtProcess::Start() {
  // A process that died while it was written to is no reason to die as well.
  signal(SIGPIPE, SIG_IGN);
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0) return false;
  if (pipe2(up, O_CLOEXEC) != 0) {
    close(down[0]);
    close(down[1]);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
  const std::vector<std::string> words = {
      "isomer",      kSmtVerb,
      "--time-ms",   absl::StrCat(absl::ToInt64Milliseconds(limits_.time)),
      "--memory-mb", absl::StrCat(limits_.memory_mb)};
  std::vector<char*> argv;
  for (const std::string& w : words) {
    argv.push_back(const_cast<char*>(w.c_str()));
  }
  argv.push_back(nullptr);
  const int failed = posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                                 argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
  if (failed != 0) {
    pid_ = -1;
    Stop();
  }
  return failed == 0;
}

void SmtProcess::Stop() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  to_ = from_ = -1;
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

int ServeSmt(const verify::SmtLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C reaches the whole group; the parent ends us when it is done.
  signal(SIGINT, SIG_IGN);
#ifndef ABSL_HAVE_ADDRESS_SANITIZER  // which reserves terabytes of addresses
  // What the program and its libraries take before Z3 starts.
  constexpr int64_t kProgramMb = 1024;
  const rlim_t bytes = static_cast<rlim_t>(limits.memory_mb + kProgramMb) << 20;
  const rlimit memory{bytes, bytes};
  setrlimit(RLIMIT_AS, &memory);
#endif
  while (true) {
    long long size = 0;
    if (std::scanf("%lld", &size) != 1 || std::getchar() != '\n' || size < 0 ||
        size > (1 << 28)) {
      return 0;
    }
    std::string question(static_cast<size_t>(size), ' ');
    if (std::fread(question.data(), 1, question.size(), stdin) !=
        question.size()) {
      return 0;
    }
    std::printf("%s\n", AnswerName(verify::Z3Solve(question, limits)));
    std::fflush(stdout);
  }
}

}  // namespace isomer::cli
