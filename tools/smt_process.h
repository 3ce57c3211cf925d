// Z3 in a process of its own, which is stopped when it overruns its limits. A
// question is lost with it, the run is not: the next one starts another.
#ifndef ISOMER_TOOLS_SMT_PROCESS_H_
#define ISOMER_TOOLS_SMT_PROCESS_H_

#include <sys/types.h>

#include <string>

#include "verify/smt.h"
#include "verify/z3.h"

namespace isomer::cli {

// The verb under which this program answers questions; help does not list it.
inline constexpr char kSmtVerb[] = "answer-smt";

// Serves one thread. The process starts with the first question.
class SmtProcess {
 public:
  explicit SmtProcess(const verify::SmtLimits& limits) : limits_(limits) {}
  ~SmtProcess() { Stop(); }
  SmtProcess(const SmtProcess&) = delete;
  SmtProcess& operator=(const SmtProcess&) = delete;

  // The solver's answer; unknown if it had to be stopped.
  verify::SmtAnswer Ask(const std::string& question);

 private:
  bool Start();
  void Stop();

  const verify::SmtLimits limits_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;  // pipes
};

// Answers questions from stdin on stdout until there are no more: a question
// is its length in decimal, a newline and its text; an answer is one word.
// Returns the exit code.
int ServeSmt(const verify::SmtLimits& limits);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_SMT_PROCESS_H_
