// isomer certify: checks that an optimised model is equal to its original.
#include "absl/strings/str_format.h"
#include "api/certificate.h"
#include "ops/status.h"
#include "tools/files.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

absl::StatusOr<int> CertifyModels(const Args& args) {
  const std::vector<std::string>& files = args.positionals();
  ASSIGN_OR_RETURN(int64_t seed, args.Int("seed", 0, 0, INT64_MAX));
  ASSIGN_OR_RETURN(std::string text, ReadFile(files[2]));
  absl::StatusOr<Certificate> certificate = ParseCertificate(text);
  if (!certificate.ok()) {
    return Prefixed(absl::StrCat(files[2], ": "), certificate.status());
  }
  absl::StatusOr<ir::FieldAgreement> check = CheckCertificate(
      files[0], files[1], *certificate, static_cast<uint64_t>(seed));
  if (absl::IsDataLoss(check.status())) {
    absl::PrintF("NOT EQUAL: %s\n", check.status().message());
    return 1;
  }
  RETURN_IF_ERROR(check.status());
  absl::PrintF(
      "equal: %d output elements agree in the field (chance of an accident "
      "%.2g), and folding gives %s byte for byte\n",
      check->elements, check->error_bound, files[1]);
  for (const std::string& rule : certificate->rules) {
    absl::PrintF("rule %s\n", rule);
  }
  return 0;
}

}  // namespace

Verb CertifyVerb() {
  return {"certify",
          "check a certificate that two models are equal",
          "Checks what `isomer optimize --certify CERT` wrote: that the "
          "original and the graph in\nthe certificate agree in a finite field "
          "on random inputs and weights, and that folding\nthat graph with the "
          "original's weights gives OPTIMIZED, byte for byte. Exit code 1 "
          "if\nnot.",
          {"ORIGINAL", "OPTIMIZED", "CERT"},
          {{"seed", "N", "picks the random numbers (default 0)"}},
          CertifyModels};
}

}  // namespace isomer::cli
