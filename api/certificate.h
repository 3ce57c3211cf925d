// A certificate says how an optimised model came about, so that a third party
// can check that it is equal to the original without trusting the search: the
// optimised graph before constants were folded, its weights by their names in
// the original.
//
//   isomer certificate 1
//   original 9f0c... 51157181        hash and size of the file
//   optimized 03ab... 49020011
//   dim batch 4                      what the import was told
//   rule merge_matmuls 5f0c6e1d...   rules applied, and what proved them
//   mark 17 0 133                    values of the graph that have names
//   graph
//   ...                              the text form of the graph
//
// Checking means: (1) the original and the graph agree in the 61-bit field, on
// random inputs and random weights; scalars and integers keep their values;
// (2) folding the graph with the original's weights gives the optimised file,
// byte for byte.
#ifndef ISOMER_API_CERTIFICATE_H_
#define ISOMER_API_CERTIFICATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/isomer.h"
#include "graph/equal_in_field.h"
#include "graph/graph.h"
#include "onnx/import.h"

namespace isomer {

struct Certificate {
  std::string original, optimized;  // hash and size
  onnx::ImportOptions options;
  std::vector<std::string> rules;  // name and proof
  std::string graph;               // with marks, as text
};

// Writes a graph that came from `model` by rewrites as text; reads it back with
// the model's weights. Reading what was written gives an equal graph with the
// same marks.
std::string GraphWithMarks(const ir::Graph& graph);
absl::StatusOr<ir::Graph> ReadGraphWithMarks(absl::string_view text,
                                             const ir::Graph& model);

std::string PrintCertificate(const Certificate& certificate);
absl::StatusOr<Certificate> ParseCertificate(absl::string_view text);

struct Certified {
  std::string text;  // of the certificate
  Graph graph;       // what to write: its file is the one that is certified
};

// Certifies the result of optimising the model in the file `path`.
absl::StatusOr<Certified> Certify(const std::string& path,
                                  const OptimizeResult& result);

// Hash and size of a file, as certificates write them.
std::string FileDigest(absl::string_view bytes);

// Checks a certificate for two files; an error says what does not hold.
absl::StatusOr<ir::FieldAgreement> CheckCertificate(
    const std::string& original, const std::string& optimized,
    const Certificate& certificate, uint64_t seed = 0);

}  // namespace isomer

#endif  // ISOMER_API_CERTIFICATE_H_
