// A piece of text is parsed with as many empty lines before it as the file has,
// so that errors keep their places.
#include "tools/rule_entries.h"

#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/foreign_rules.h"
#include "graph/foreign_wire.h"
#include "graph/rule_pb.h"
#include "ops/status.h"
#include "tools/files.h"
#include "verify/degrees.h"
#include "verify/trust.h"

namespace isomer::cli {

namespace {

bool IsComment(absl::string_view line) {
  return absl::StartsWith(absl::StripAsciiWhitespace(line), "#");
}

bool IsBlank(absl::string_view line) {
  return absl::StripAsciiWhitespace(line).empty();
}

// The word after `rule` or `fold` at the start of a line; "" on other lines.
std::string BeginsItem(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  for (absl::string_view word : {"rule", "fold"}) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, word)) continue;
    if (rest.empty() || !absl::ascii_isspace(rest[0])) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    size_t n = 0;
    while (n < rest.size() &&
           (absl::ascii_isalnum(rest[n]) || rest[n] == '_')) {
      ++n;
    }
    return n == 0 ? "?" : std::string(rest.substr(0, n));
  }
  return "";
}

void AddItems(const ir::RuleFileSyntax& file, RuleEntries& out) {
  for (const ir::RuleItem& item : file.items) {
    if (const auto* rule = std::get_if<ir::RuleSyntax>(&item)) {
      out.rules.push_back({rule->name, *rule});
    }
  }
}

// Lines [begin, end) of a text: an item with the comments above it.
struct Piece {
  size_t begin = 0, end = 0;
  std::string name = {};  // "" for what comes before the first item
  bool fold = false;
};

std::vector<Piece> PiecesOf(const std::vector<absl::string_view>& lines) {
  std::vector<Piece> out = {{}};
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string name = BeginsItem(lines[i]);
    if (name.empty()) continue;
    size_t begin = i;
    while (begin > out.back().begin && IsComment(lines[begin - 1])) --begin;
    out.back().end = begin;
    const absl::string_view line = absl::StripAsciiWhitespace(lines[i]);
    out.push_back({begin, 0, name, absl::StartsWith(line, "fold")});
  }
  out.back().end = lines.size();
  return out;
}

void AddPieces(absl::string_view text, RuleEntries& out) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  for (const Piece& p : PiecesOf(lines)) {
    if (p.fold) continue;  // it speaks of another item
    auto parsed = ir::ParseRuleFile(absl::StrCat(
        std::string(p.begin, '\n'),
        absl::StrJoin(lines.begin() + p.begin, lines.begin() + p.end, "\n")));
    if (parsed.ok()) {
      AddItems(*parsed, out);
    } else {
      out.rules.push_back({p.name, {}, std::string(parsed.status().message())});
    }
  }
}

// Two rules of one name cannot be told apart later.
void RejectRepeated(RuleEntries& out) {
  std::set<std::string> seen;
  for (RuleEntry& e : out.rules) {
    if (!e.rule || seen.insert(e.name).second) continue;
    e.ill_formed =
        std::string(ir::ErrorAt(e.rule->at, absl::StrCat("there is a rule '",
                                                         e.name, "' already"))
                        .message());
    e.rule.reset();
  }
}

absl::StatusOr<RuleEntries> ForeignEntries(absl::string_view bytes) {
  ASSIGN_OR_RETURN(std::vector<ir::ForeignRule> rules,
                   ir::ReadForeignRules(bytes, ir::ForeignDialect::kDetect,
                                        ir::ForeignCheck::kTranslate));
  ASSIGN_OR_RETURN(std::vector<ir::WireRule> wire, ir::ParseWire(bytes));
  const bool unity = absl::c_any_of(
      rules, [](const ir::ForeignRule& r) { return !r.parallel.empty(); });
  RuleEntries out{"foreign", std::string(bytes), {}};
  for (ir::ForeignRule& r : rules) {
    std::string name = r.rule ? r.rule->name : absl::StrCat("rule_", r.index);
    RuleEntry entry{std::move(name), std::move(r.rule), std::move(r.rejected)};
    if (unity && entry.rule) {
      entry.degrees = verify::JudgeDegrees(wire[r.index]);
    }
    out.rules.push_back(std::move(entry));
  }
  return out;
}

std::string TextWithStamps(const RuleEntries& entries,
                           const std::vector<std::string>& stamps) {
  std::vector<std::string> lines = absl::StrSplit(entries.bytes, '\n');
  for (size_t i = entries.rules.size(); i-- > 0;) {
    if (!entries.rules[i].rule || stamps[i].empty()) continue;
    size_t at = static_cast<size_t>(entries.rules[i].rule->at.line) - 1;
    lines.insert(lines.begin() + at, absl::StrCat("# ", stamps[i]));
    for (size_t k = at;
         k-- > 0 && (IsComment(lines[k]) || IsBlank(lines[k]));) {
      ir::RuleSyntax above;
      absl::string_view comment = absl::StripAsciiWhitespace(lines[k]);
      if (!absl::ConsumePrefix(&comment, "#")) continue;
      above.comments = {std::string(absl::StripAsciiWhitespace(comment))};
      if (verify::FindStamp(above)) lines.erase(lines.begin() + k);
    }
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace

RuleEntries TextEntries(absl::string_view text) {
  RuleEntries out{"text", std::string(text), {}};
  if (auto whole = ir::ParseRuleFile(text); whole.ok()) {
    AddItems(*whole, out);
    return out;
  }
  AddPieces(text, out);
  RejectRepeated(out);
  return out;
}

absl::StatusOr<RuleEntries> ReadRuleEntries(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  if (ir::IsRulesPb(bytes)) {
    auto rules = ir::DeserializeRules(bytes);
    if (!rules.ok()) return Prefixed(absl::StrCat(path, ":"), rules.status());
    RuleEntries out{"binary", std::move(bytes), {}};
    AddItems(*rules, out);
    return out;
  }
  if (ir::IsForeignRules(bytes)) {
    auto entries = ForeignEntries(bytes);
    if (entries.ok()) return entries;
    return Prefixed(absl::StrCat(path, ":"), entries.status());
  }
  return TextEntries(bytes);
}

absl::StatusOr<std::string> WithStamps(const RuleEntries& entries,
                                       const std::vector<std::string>& stamps) {
  if (entries.form == "text") return TextWithStamps(entries, stamps);
  if (entries.form != "binary") {
    return Invalid(
        "a file of another system's rules has no place for "
        "verdicts; convert it with `isomer rules convert` first");
  }
  ASSIGN_OR_RETURN(ir::RuleFileSyntax file,
                   ir::DeserializeRules(entries.bytes));
  size_t i = 0;
  for (ir::RuleItem& item : file.items) {
    auto* rule = std::get_if<ir::RuleSyntax>(&item);
    if (rule == nullptr) continue;
    const std::vector<std::string> words = absl::StrSplit(stamps[i++], ' ');
    if (words.size() == 2) verify::SetStamp(*rule, {words[0], words[1]});
  }
  return ir::SerializeRules(file);
}

}  // namespace isomer::cli
