// The one door to an SMT solver: a question as SMT-LIB text, an answer as one
// of three words. Text crosses a process boundary as it is, so a program may
// ask a child process that it can stop; the library itself never forks.
#ifndef ISOMER_VERIFY_SMT_H_
#define ISOMER_VERIFY_SMT_H_

#include <functional>
#include <string>

namespace isomer::verify {

// What a solver says about the assertions of a question, taken together.
enum class SmtAnswer { kSat, kUnsat, kUnknown };

// Answers a question: declarations and assertions, without (check-sat). Time
// and memory limits are the solver's own; what exceeds them is unknown. An
// empty function is a solver that knows nothing.
using SmtSolver = std::function<SmtAnswer(const std::string& question)>;

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_SMT_H_
