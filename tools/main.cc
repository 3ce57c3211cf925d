// The `isomer` program: finds the verb, parses its arguments, runs it.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/verb.h"

namespace isomer::cli {
namespace {

std::vector<Verb> Verbs() {
  return {AnswerSmtVerb(), ApplyVerb(),     BenchVerb(), CertifyVerb(),
          ConvertVerb(),   DiffVerb(),      GenVerb(),   OptimizeVerb(),
          ProfileVerb(),   RandomizeVerb(), RulesVerb(), RunVerb(),
          ShowVerb(),      VerifyVerb()};
}

std::string Usage(const Verb& verb) {
  std::string line = absl::StrCat("isomer ", verb.name);
  for (const std::string& p : verb.positionals) absl::StrAppend(&line, " ", p);
  return verb.flags.empty() ? line : line + " [flags]";
}

void PrintHelp(const Verb& verb) {
  absl::PrintF("%s\n\n  %s\n\n%s\n", verb.summary, Usage(verb), verb.help);
  if (!verb.flags.empty()) absl::PrintF("\nflags:\n");
  for (const Flag& f : verb.flags) {
    absl::PrintF("  %-28s %s\n", absl::StrCat("--", f.name, " ", f.value),
                 f.help);
  }
}

void PrintOverview(const std::vector<Verb>& verbs) {
  absl::PrintF(
      "isomer: ONNX models in, provably equal and faster ONNX models out.\n\n");
  for (const Verb& v : verbs) {
    if (v.summary.empty()) continue;
    absl::PrintF("  %-11s %s\n", v.name, v.summary);
  }
  absl::PrintF("\n`isomer VERB --help` says more about one of them.\n");
}

int Main(const std::vector<std::string>& words) {
  const std::vector<Verb> verbs = Verbs();
  if (words.empty() || words[0] == "--help" || words[0] == "help") {
    PrintOverview(verbs);
    return words.empty() ? 2 : 0;
  }
  for (const Verb& verb : verbs) {
    if (verb.name != words[0]) continue;
    for (const std::string& w : words) {
      if (w == "--help") {
        PrintHelp(verb);
        return 0;
      }
    }
    auto args = Args::Parse(absl::MakeConstSpan(words).subspan(1), verb.flags,
                            verb.positionals);
    if (!args.ok()) {
      absl::FPrintF(stderr, "isomer %s: %s\nusage: %s\n", verb.name,
                    args.status().message(), Usage(verb));
      return 2;
    }
    absl::StatusOr<int> code = verb.run(*args);
    if (code.ok()) return *code;
    absl::FPrintF(stderr, "isomer %s: %s\n", verb.name,
                  code.status().message());
    return 2;
  }
  absl::FPrintF(stderr, "isomer: there is no verb '%s'; see isomer --help\n",
                words[0]);
  return 2;
}

}  // namespace
}  // namespace isomer::cli

int main(int argc, char** argv) {
  return isomer::cli::Main({argv + 1, argv + argc});
}
