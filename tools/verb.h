// One verb of the `isomer` program: what it is called, what its help says, and
// what it does. main.cc lists the verbs.
#ifndef ISOMER_TOOLS_VERB_H_
#define ISOMER_TOOLS_VERB_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/kernel_cache.h"
#include "onnx/import.h"
#include "tools/args.h"

namespace isomer::cli {

struct Verb {
  std::string name;
  std::string summary;                   // one line; "" for a hidden verb
  std::string help;                      // what it does, with an example
  std::vector<std::string> positionals;  // "MODEL", "OUT", "FILE..."
  std::vector<Flag> flags;
  // Returns the exit code; an error is printed and exits with 2.
  std::function<absl::StatusOr<int>(const Args&)> run;
};

Verb AnswerSmtVerb();
Verb ApplyVerb();
Verb BenchVerb();
Verb CertifyVerb();
Verb ConvertVerb();
Verb DiffVerb();
Verb GenVerb();
Verb OptimizeVerb();
Verb ProfileVerb();
Verb RandomizeVerb();
Verb RulesVerb();
Verb RunVerb();
Verb ShowVerb();
Verb VerifyVerb();

// The flags that bind dimensions, shared by all verbs that import a model.
std::vector<Flag> ShapeFlags();
absl::StatusOr<onnx::ImportOptions> ImportOptionsFrom(const Args& args);

// The folder of --cache; what is kept in memory without it.
absl::StatusOr<std::shared_ptr<cuda::KernelCache>> CacheFrom(const Args& args);

// Says which dimensions that were bound to a number stay one in the result.
void PrintFixedDims(const std::vector<std::string>& dims);

// Tells on a terminal how far a long task is; silent elsewhere and for tasks
// of less than a second. Returns false once the user has pressed Ctrl-C.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  bool operator()(int64_t done, int64_t total);
  // The same with a line of the caller's.
  bool Line(const std::string& text);

 private:
  std::string what_;
  int64_t start_;
  int64_t shown_ = 0;
};

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_VERB_H_
