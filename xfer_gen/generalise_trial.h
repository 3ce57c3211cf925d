// Trying a rule: both of its sides are run on random assignments of sizes,
// attributes and values, in the field and in exact integers. A rule that fails
// a trial is not offered; one that passes is proved elsewhere.
#ifndef ISOMER_XFER_GEN_GENERALISE_TRIAL_H_
#define ISOMER_XFER_GEN_GENERALISE_TRIAL_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "graph/instance.h"
#include "graph/rule.h"

namespace isomer::gen {

struct TrialOptions {
  int assignments = 24;  // over all cases, each case at least once
  uint64_t seed = 1;
  bool go_on = false;  // with a case that has failed
  // Whether cases are run after one that failed; they have no trials otherwise.
  bool every_case = true;
};

// The sizes of one assignment, and whether the sides differed.
struct TriedSizes {
  std::vector<TensorType> tensors;  // by tensor variable
  bool failed = false;
};

// How one case fared.
struct CaseTrial {
  int tried = 0;  // assignments found and run
  // One of them had no empty tensor: the case is about something.
  bool solid = false;
  // By assignment without an empty tensor: the attributes and the sizes.
  std::vector<std::vector<std::optional<Attr>>> attrs = {};
  std::vector<TriedSizes> sizes = {};
  // Where the sides differed first: types and both results.
  std::optional<std::string> failure;
};

// The trials of all cases, in their order.
std::vector<CaseTrial> TryCases(const ir::Rule& rule,
                                const TrialOptions& options = {});

// The first failure of any case, if there is one.
std::optional<std::string> FindFailure(const ir::Rule& rule,
                                       const TrialOptions& options = {});

// A failure at one instance in exact integers, where every tensor has one sign:
// so has what is made of them, which a maximum over many elements of both signs
// has not.
std::optional<std::string> FindFailureAt(const ir::RuleInstance& at,
                                         uint64_t seed);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_TRIAL_H_
