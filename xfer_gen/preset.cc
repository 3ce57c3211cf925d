// Lines first: each statement is one line and the indented lines after it.
// Expressions are handed to the parser and the binder of the rule language.
#include "xfer_gen/preset.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

constexpr int kMaxVariables = 4;  // of a class
constexpr int kMaxDepth = 6;
// Of checking a template; one case that types is enough.
constexpr int kSteps = 2000;
// The operator that puts a tensor on devices.
constexpr absl::string_view kCopy = "replicate";
constexpr absl::string_view kSeam = "seam";

struct Statement {
  int line;
  std::string text;
};

template <class... Parts>
absl::Status At(int line, const Parts&... parts) {
  return Invalid("line ", line, ": ", parts...);
}

std::vector<Statement> SplitStatements(absl::string_view text) {
  std::vector<Statement> out;
  int line = 0;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++line;
    const bool indented = absl::StartsWith(raw, " ");
    absl::string_view code = raw.substr(0, raw.find('#'));
    code = absl::StripAsciiWhitespace(code);
    if (code.empty()) continue;
    if (indented && !out.empty()) {
      absl::StrAppend(&out.back().text, " ", code);
    } else {
      out.push_back({line, std::string(code)});
    }
  }
  return out;
}

bool IsName(absl::string_view s) {
  if (s.empty() || !(absl::ascii_isalpha(s[0]) || s[0] == '_')) return false;
  return std::all_of(s.begin(), s.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// "x(3): f32[b,c]" taken apart at the brackets and the colon.
struct Header {
  std::string name, inside, between, rest;
};

absl::StatusOr<Header> SplitHeader(const Statement& s, absl::string_view text) {
  const size_t open = text.find('('), colon_at = text.find(':');
  const size_t close = text.find(')');
  if (open == std::string::npos || close == std::string::npos ||
      colon_at == std::string::npos || close < open || colon_at < close) {
    return At(s.line, "'", s.text, "' is not of the form NAME(...): ...");
  }
  auto strip = [](absl::string_view v) {
    return std::string(absl::StripAsciiWhitespace(v));
  };
  Header h{strip(text.substr(0, open)),
           strip(text.substr(open + 1, close - open - 1)),
           strip(text.substr(close + 1, colon_at - close - 1)),
           strip(text.substr(colon_at + 1))};
  if (!IsName(h.name)) return At(s.line, "'", h.name, "' is not a name");
  return h;
}

class Parser {
 public:
  explicit Parser(absl::string_view name) { preset_.name = std::string(name); }

  absl::StatusOr<Preset> Run(absl::string_view text) {
    for (const Statement& s : SplitStatements(text)) {
      RETURN_IF_ERROR(Read(s));
    }
    RETURN_IF_ERROR(CheckWhole());
    return std::move(preset_);
  }

 private:
  absl::Status Read(const Statement& s) {
    const size_t blank = s.text.find(' ');
    const absl::string_view word = absl::string_view(s.text).substr(0, blank);
    const absl::string_view rest =
        blank == std::string::npos
            ? ""
            : absl::StripAsciiWhitespace(
                  absl::string_view(s.text).substr(blank));
    if (word == "leaf") return ReadLeaf(s, rest, /*weight=*/false);
    if (word == "weight") return ReadLeaf(s, rest, /*weight=*/true);
    if (word == "sizes") return ReadSizes(s, rest);
    if (word == "template") return ReadTemplate(s, rest);
    if (word == "use") return ReadUse(s, rest);
    if (word == "depth") {
      ASSIGN_OR_RETURN(const int64_t depth, Number(s, rest, 1, kMaxDepth));
      preset_.depth = static_cast<int>(depth);
      return absl::OkStatus();
    }
    if (word == "elements") {
      ASSIGN_OR_RETURN(preset_.max_elements, Number(s, rest, 1, 1 << 16));
      return absl::OkStatus();
    }
    return At(s.line, "'", word,
              "' is not leaf, weight, sizes, template, use, depth or elements");
  }

  static absl::StatusOr<int64_t> Number(const Statement& s,
                                        absl::string_view text, int64_t low,
                                        int64_t high) {
    int64_t n = 0;
    if (!absl::SimpleAtoi(text, &n) || n < low || n > high) {
      return At(s.line, "'", text, "' is not a number from ", low, " to ",
                high);
    }
    return n;
  }

  absl::Status ReadLeaf(const Statement& s, absl::string_view rest,
                        bool weight) {
    ASSIGN_OR_RETURN(Header h, SplitHeader(s, rest));
    LeafClass leaf{.name = h.name, .weight = weight, .line = s.line};
    for (const LeafClass& other : preset_.leaves) {
      if (other.name == leaf.name) {
        return At(s.line, "there are two classes of leaves '", h.name, "'");
      }
    }
    if (h.name == "t" || h.name == "u") {
      return At(s.line, "the name '", h.name,
                "' is taken: rules call intermediate values so");
    }
    if (absl::ascii_isdigit(h.name.back())) {
      return At(s.line, "the class '", h.name,
                "' ends in a digit; its leaves are numbered");
    }
    ASSIGN_OR_RETURN(const int64_t count,
                     Number(s, h.inside, 1, kMaxVariables));
    leaf.count = static_cast<int>(count);
    const size_t open = h.rest.find('[');
    if (open == std::string::npos || h.rest.back() != ']') {
      return At(s.line, "'", h.rest, "' is not a type such as f32[b,c]");
    }
    absl::StatusOr<DType> dtype = ParseDType(h.rest.substr(0, open));
    if (!dtype.ok()) return At(s.line, dtype.status().message());
    leaf.dtype = *dtype;
    const std::string dims = h.rest.substr(open + 1, h.rest.size() - open - 2);
    for (absl::string_view d : absl::StrSplit(dims, ',', absl::SkipEmpty())) {
      leaf.shape.emplace_back(absl::StripAsciiWhitespace(d));
    }
    preset_.leaves.push_back(std::move(leaf));
    return absl::OkStatus();
  }

  absl::Status ReadSizes(const Statement& s, absl::string_view rest) {
    Sizes sizes;
    for (absl::string_view item :
         absl::StrSplit(rest, ' ', absl::SkipEmpty())) {
      const std::vector<std::string> parts = absl::StrSplit(item, '=');
      if (parts.size() != 2 || !IsName(parts[0])) {
        return At(s.line, "'", item, "' is not of the form NAME=N or NAME=N,N");
      }
      if (parts[0] == kSeam) return At(s.line, "'seam' cannot name a size");
      if (sizes.contains(parts[0])) {
        return At(s.line, "size '", parts[0], "' is given twice");
      }
      for (absl::string_view v : absl::StrSplit(parts[1], ',')) {
        ASSIGN_OR_RETURN(const int64_t n, Number(s, v, 1, 1 << 16));
        sizes[parts[0]].push_back(n);
      }
    }
    preset_.sizes.push_back(std::move(sizes));
    return absl::OkStatus();
  }

  absl::Status ReadUse(const Statement& s, absl::string_view rest) {
    const std::vector<std::string> words =
        absl::StrSplit(rest, ' ', absl::SkipEmpty());
    UsedPreset use{.line = s.line};
    if (words.empty() || words.size() > 2) {
      return At(s.line, "use takes a preset and perhaps depth=N");
    }
    use.name = words[0];
    if (words.size() == 2) {
      if (!absl::StartsWith(words[1], "depth=")) {
        return At(s.line, "'", words[1], "' is not of the form depth=N");
      }
      ASSIGN_OR_RETURN(const int64_t depth,
                       Number(s, words[1].substr(6), 1, kMaxDepth));
      use.depth = static_cast<int>(depth);
    }
    preset_.uses.push_back(std::move(use));
    return absl::OkStatus();
  }

  absl::Status ReadTemplate(const Statement& s, absl::string_view rest) {
    ASSIGN_OR_RETURN(Header h, SplitHeader(s, rest));
    Template t{.name = h.name, .line = s.line};
    for (const Template& other : preset_.templates) {
      if (other.name == t.name) {
        return At(s.line, "there are two templates '", h.name, "'");
      }
    }
    for (absl::string_view p :
         absl::StrSplit(h.inside, ',', absl::SkipEmpty())) {
      t.params.emplace_back(absl::StripAsciiWhitespace(p));
      if (!IsName(t.params.back())) {
        return At(s.line, "'", t.params.back(), "' is not a name");
      }
    }
    if (t.params.size() > kMaxParams) {
      return At(s.line, "a template has at most ", kMaxParams, " operands");
    }
    t.takes.assign(t.params.size(), Template::Operand::kAny);
    t.on.assign(t.params.size(), "");
    RETURN_IF_ERROR(ReadClauses(s, h.between, t));
    // The parser reads rules: the template stands for both sides of one.
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(h.rest, absl::MaxSplits(" where ", 1));
    absl::StatusOr<ir::RuleSyntax> rule =
        ir::ParseRuleBody(absl::StrCat(parts.first, " => ", h.rest));
    if (!rule.ok()) {
      return At(s.line, "template ", t.name, ": ", rule.status().message());
    }
    RETURN_IF_ERROR(BindTemplate(*rule, t));
    preset_.templates.push_back(std::move(t));
    return absl::OkStatus();
  }

  static absl::Status ReadClauses(const Statement& s, absl::string_view text,
                                  Template& t) {
    const std::vector<std::string> words =
        absl::StrSplit(text, ' ', absl::SkipEmpty());
    for (size_t i = 0; i < words.size(); i += 2) {
      if (i + 1 == words.size()) {
        return At(s.line, "template ", t.name, ": '", words[i],
                  "' says nothing alone");
      }
      const auto param = std::find(t.params.begin(), t.params.end(), words[i]);
      if (words[i] == "joins" || words[i] == "parts") {
        ASSIGN_OR_RETURN(const int64_t dim, Number(s, words[i + 1], 0, 7));
        (words[i] == "joins" ? t.joins : t.parts) = static_cast<int>(dim);
      } else if (param != t.params.end() && words[i + 1] == "data") {
        t.takes[param - t.params.begin()] = Template::Operand::kData;
      } else if (param != t.params.end() && words[i + 1] == "leaf") {
        t.takes[param - t.params.begin()] = Template::Operand::kLeaf;
      } else if (param != t.params.end() && words[i + 1] == "on" &&
                 i + 2 < words.size()) {
        t.on[param - t.params.begin()] = words[i + 2];
        ++i;
      } else {
        return At(s.line, "template ", t.name, ": '", words[i], " ",
                  words[i + 1],
                  "' is not joins D, parts D, PARAM data, PARAM leaf or PARAM "
                  "on AXIS");
      }
    }
    if ((t.joins >= 0 && t.params.size() != 2) ||
        (t.parts >= 0 && t.params.size() != 1)) {
      return At(s.line, "template ", t.name,
                ": joins takes two operands, parts one");
    }
    return absl::OkStatus();
  }

  absl::Status BindTemplate(const ir::RuleSyntax& rule, Template& t) {
    auto fail = [&](const auto&... parts) {
      return At(t.line, "template ", t.name, ": ", parts...);
    };
    if (!rule.source.binders.empty()) {
      return fail("a template has no let or choose");
    }
    if (rule.both_ways) {
      return fail("a template is a list of expressions, not a rule");
    }
    t.outputs = rule.source.outputs;
    // Checking the rule "t => t" binds the template's names and finds out
    // whether it types for some ranks.
    ir::RuleSyntax typed = rule;
    for (ir::SideSyntax* side : {&typed.source, &typed.target}) {
      for (ir::ExprSyntax& e : side->outputs) PlaceOnDevices(t, e);
    }
    absl::StatusOr<ir::Rule> checked =
        ir::Rule::Create(typed, /*reversed=*/false, Ops(), {.steps = kSteps});
    if (!checked.ok()) return fail(checked.status().message());
    // What a source leaves out matches anything, what a target leaves out
    // comes from its surroundings: a template is built like a target.
    t.side = checked->target();
    TakeFromDevices(t, checked->tensors());
    t.where = checked->where();
    for (const ir::RuleNode& n : checked->source().nodes) {
      t.where_variables.push_back(n.variable);
    }
    const std::vector<std::string>& tensors = checked->tensors();
    for (const std::string& p : t.params) {
      const auto it = std::find(tensors.begin(), tensors.end(), p);
      if (it == tensors.end()) return fail("the operand '", p, "' is not used");
      t.param_variables.push_back(static_cast<int>(it - tensors.begin()));
    }
    for (const std::string& name : tensors) {
      if (std::find(t.params.begin(), t.params.end(), name) == t.params.end()) {
        return fail("'", name, "' is not an operand");
      }
    }
    for (const ir::RuleVariable& v : checked->attrs()) {
      t.attr_names.push_back(v.name);
      t.attr_words.push_back(v.kind == AttrKind::kString);
    }
    t.commutative = IsCommutative(t);
    return absl::OkStatus();
  }

  // The variables of a rule lie on no devices: an operand that shall do so is
  // written as a copy of one that does not, while the template is checked.
  static void PlaceOnDevices(const Template& t, ir::ExprSyntax& e) {
    for (ir::ExprSyntax& arg : e.args) PlaceOnDevices(t, arg);
    if (e.kind != ir::ExprSyntax::Kind::kVariable) return;
    const auto param = std::find(t.params.begin(), t.params.end(), e.name);
    if (param == t.params.end()) return;
    const std::string& axis = t.on[param - t.params.begin()];
    if (axis.empty()) return;
    using V = ir::ValueSyntax;
    ir::ExprSyntax copy{.kind = ir::ExprSyntax::Kind::kCall,
                        .name = std::string(kCopy)};
    copy.attrs = {{"axis", {.kind = V::Kind::kName, .name = axis}},
                  {"degree", {.kind = V::Kind::kInteger, .integer = 2}}};
    copy.args.push_back(std::move(e));
    e = std::move(copy);
  }

  // Takes those copies out again.
  static void TakeFromDevices(Template& t,
                              const std::vector<std::string>& tensors) {
    for (ir::RuleNode& n : t.side.nodes) {
      if (n.op == nullptr || n.op->name != kCopy) continue;
      const ir::RuleNode& from = t.side.nodes[n.inputs[0].node];
      if (from.kind != ir::RuleNode::Kind::kVariable) continue;
      const auto param =
          std::find(t.params.begin(), t.params.end(), tensors[from.variable]);
      if (param == t.params.end() || t.on[param - t.params.begin()].empty()) {
        continue;
      }
      n = {.kind = ir::RuleNode::Kind::kVariable, .variable = from.variable};
    }
  }

  // One commutative operator on the two operands themselves.
  static bool IsCommutative(const Template& t) {
    if (t.params.size() != 2 || t.outputs.size() != 1) return false;
    const ir::RuleNode& root = t.side.nodes[t.side.outputs[0].node];
    if (root.op == nullptr || !root.op->commutative) return false;
    if (t.takes[0] != t.takes[1]) return false;
    return std::all_of(
        root.inputs.begin(), root.inputs.end(), [&](const ir::RuleOperand& o) {
          return t.side.nodes[o.node].kind == ir::RuleNode::Kind::kVariable;
        });
  }

  absl::Status CheckWhole() const {
    if (preset_.leaves.empty() && preset_.uses.empty()) {
      return Invalid("the preset has no leaves and uses no other preset");
    }
    if (preset_.leaves.empty()) return absl::OkStatus();
    if (preset_.sizes.size() < 2) {
      return Invalid(
          "the preset needs two or more lines of sizes: one to enumerate at, "
          "others to confirm at");
    }
    if (preset_.templates.empty()) return Invalid("there is no template");
    for (const LeafClass& leaf : preset_.leaves)
      RETURN_IF_ERROR(CheckLeaf(leaf));
    for (const Template& t : preset_.templates) {
      for (size_t i = 0; i < t.attr_names.size(); ++i) {
        const std::string& name = t.attr_names[i];
        if (name == kSeam && t.parts >= 0) continue;
        // Words name device axes; what is no name was left out of the source.
        if (t.attr_words[i] || !IsName(name)) continue;
        RETURN_IF_ERROR(CheckSize(t.line, name));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckSize(int line, const std::string& name) const {
    for (const Sizes& sizes : preset_.sizes) {
      if (!sizes.contains(name)) {
        return At(line, "size '", name,
                  "' has no value in every line of sizes");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLeaf(const LeafClass& leaf) const {
    for (const std::string& d : leaf.shape) {
      int64_t n = 0;
      if (absl::SimpleAtoi(d, &n)) {
        if (n < 1) return At(leaf.line, "size ", n, " is impossible");
        continue;
      }
      if (!IsName(d)) return At(leaf.line, "'", d, "' is not a size");
      RETURN_IF_ERROR(CheckSize(leaf.line, d));
    }
    for (const Sizes& sizes : preset_.sizes) {
      for (int i = 0; i < leaf.count; ++i) {
        const TensorType type = LeafType(leaf, i, sizes);
        if (NumElements(type) > preset_.max_elements) {
          return At(leaf.line, "leaf ", leaf.name, i + 1, " of type ",
                    TypeText(type), " has more than ", preset_.max_elements,
                    " elements");
        }
      }
    }
    return absl::OkStatus();
  }

  Preset preset_;
};

}  // namespace

absl::StatusOr<Preset> ParsePreset(absl::string_view name,
                                   absl::string_view text) {
  absl::StatusOr<Preset> preset = Parser(name).Run(text);
  if (preset.ok()) return preset;
  return Prefixed(absl::StrCat("preset ", name, ": "), preset.status());
}

int64_t SizeOf(const Sizes& sizes, absl::string_view name, int index) {
  const auto it = sizes.find(std::string(name));
  Check(it != sizes.end(), "a size without a value");
  const std::vector<int64_t>& values = it->second;
  return values[std::min<size_t>(index, values.size() - 1)];
}

TensorType LeafType(const LeafClass& leaf, int index, const Sizes& sizes) {
  TensorType type{leaf.dtype, {}};
  for (const std::string& d : leaf.shape) {
    int64_t n = 0;
    type.shape.push_back(absl::SimpleAtoi(d, &n) ? n : SizeOf(sizes, d, index));
  }
  return type;
}

}  // namespace isomer::gen
