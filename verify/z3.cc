// The C interface of Z3: the C++ one throws.
#include "verify/z3.h"

#if __has_include(<z3.h>) && !defined(ISOMER_WITHOUT_Z3)
#include <z3.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace isomer::verify {

namespace {

// One question has one context, so that nothing of it is left behind.
class Z3Question {
 public:
  // With quantifiers Z3 only instantiates by their patterns: the search for
  // models that it would do besides does not end.
  explicit Z3Question(bool quantified) : quantified_(quantified) {
    Z3_config config = Z3_mk_config();
    context_ = Z3_mk_context(config);
    Z3_del_config(config);
    // Without a handler an error ends the program; with one, Failed() tells.
    Z3_set_error_handler(context_, [](Z3_context, Z3_error_code) {});
    solver_ =
        quantified ? Z3_mk_simple_solver(context_) : Z3_mk_solver(context_);
    Z3_solver_inc_ref(context_, solver_);
  }
  ~Z3Question() {
    Z3_solver_dec_ref(context_, solver_);
    Z3_del_context(context_);
  }
  Z3Question(const Z3Question&) = delete;
  Z3Question& operator=(const Z3Question&) = delete;

  SmtAnswer Ask(const std::string& text, const SmtLimits& limits) {
    SetLimits(limits);
    Z3_ast_vector assertions = Z3_parse_smtlib2_string(
        context_, text.c_str(), 0, nullptr, nullptr, 0, nullptr, nullptr);
    if (Failed()) return SmtAnswer::kUnknown;
    Z3_ast_vector_inc_ref(context_, assertions);
    for (unsigned i = 0; i < Z3_ast_vector_size(context_, assertions); ++i) {
      Z3_solver_assert(context_, solver_,
                       Z3_ast_vector_get(context_, assertions, i));
    }
    Z3_ast_vector_dec_ref(context_, assertions);
    if (Failed()) return SmtAnswer::kUnknown;
    const Z3_lbool answer = Z3_solver_check(context_, solver_);
    if (Failed() || answer == Z3_L_UNDEF) return SmtAnswer::kUnknown;
    return answer == Z3_L_TRUE ? SmtAnswer::kSat : SmtAnswer::kUnsat;
  }

 private:
  bool Failed() const { return Z3_get_error_code(context_) != Z3_OK; }

  void SetLimits(const SmtLimits& limits) {
    Z3_params params = Z3_mk_params(context_);
    Z3_params_inc_ref(context_, params);
    auto set = [&](const char* name, int64_t value) {
      Z3_params_set_uint(
          context_, params, Z3_mk_string_symbol(context_, name),
          static_cast<unsigned>(std::clamp<int64_t>(value, 1, UINT32_MAX - 1)));
    };
    set("timeout", absl::ToInt64Milliseconds(limits.time));
    set("max_memory", limits.memory_mb);
    if (quantified_) {
      for (const char* name : {"mbqi", "auto_config"}) {
        Z3_params_set_bool(context_, params,
                           Z3_mk_string_symbol(context_, name), false);
      }
    }
    Z3_solver_set_params(context_, solver_, params);
    Z3_params_dec_ref(context_, params);
  }

  const bool quantified_;
  Z3_context context_;
  Z3_solver solver_;
};

}  // namespace

SmtAnswer Z3Solve(const std::string& question, const SmtLimits& limits) {
  return Z3Question(absl::StrContains(question, "(forall "))
      .Ask(question, limits);
}

std::string Z3Version() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return absl::StrCat(major, ".", minor, ".", build);
}

}  // namespace isomer::verify

#else

namespace isomer::verify {

SmtAnswer Z3Solve(const std::string&, const SmtLimits&) {
  return SmtAnswer::kUnknown;
}

std::string Z3Version() { return ""; }

}  // namespace isomer::verify

#endif
