// The enumeration held against an independent, slow one: all terms as text,
// all sets of them, all renamings, values from the operators' own kernels.
#include "xfer_gen/enumerate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/op_def.h"
#include "ops/registry.h"
#include "ops/tensor.h"
#include "xfer_gen/hits.h"

namespace isomer::gen {
namespace {

// Leaves and the templates add and relu; the other templates.
constexpr absl::string_view kSums = R"(
leaf x(2): f32[b,c]
weight w(1): f32[c,c]
sizes b=4 c=4
sizes b=2 c=6
template add(a, b): add(a, b)
template relu(a): relu(a)
)";
constexpr absl::string_view kMore = R"(
template matmul(a, b): matmul(a, b)
template concat(a, b): concat(a, b, axis=0)
template halves(a):
  slice(a, axis=0, from=0, to=dim(a, 0)/2),
  slice(a, axis=0, from=dim(a, 0)/2, to=end)
)";

Preset Tiny(bool more = true) {
  absl::StatusOr<Preset> p =
      ParsePreset("tiny", absl::StrCat(kSums, more ? kMore : ""));
  EXPECT_TRUE(p.ok()) << p.status();
  return *std::move(p);
}

// ---- The slow enumerator

// A tensor as text, with what it is made of.
struct Slow {
  std::string text;
  std::set<std::string> steps;  // texts of the calls it needs
  Tensor value;
};

using Names = std::map<std::string, std::string>;

std::string Renamed(const std::string& text, const Names& names) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    auto it = names.find(text.substr(i, 2));
    out += it == names.end() ? text.substr(i, 1) : it->second;
    if (it != names.end()) ++i;
  }
  return out;
}

class Brute {
 public:
  Brute(int depth, bool more) : depth_(depth), more_(more) {
    uint64_t h = 12345;
    for (const char* name : {"x1", "x2", "w1"}) {
      // Large enough that relu does not keep or drop all elements by chance.
      Tensor t = MakeTensor({DType::kF32, {4, 4}}, Interp::kField);
      for (Field& f : t.as<Field>()) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        f = Field::FromWide(static_cast<unsigned __int128>(h) * h);
      }
      tensors_[name] = {name, {}, std::move(t)};
    }
    while (Grow()) {
    }
    namings_ = {{}, {{"x1", "x2"}, {"x2", "x1"}}};
  }

  // The least text over all renamings. Sums are written with the lesser
  // operand first, so a renamed sum is put in order again.
  std::string Orbit(const std::string& text) const {
    std::string least;
    for (const Names& names : namings_) {
      const std::string image = Normal(Renamed(text, names));
      if (least.empty() || image < least) least = image;
    }
    return least;
  }

  // Classes of tensors that are equal under some renaming, each as the set of
  // its members' orbits; those with two or more members.
  std::set<std::set<std::string>> Classes() const {
    std::map<std::string, std::set<std::string>> by_value;
    for (const auto& [text, t] : tensors_) {
      std::string key;
      for (const Names& names : namings_) {
        const std::string image = Normal(Renamed(text, names));
        const std::string value = Key(tensors_.at(image).value);
        if (key.empty() || value < key) key = value;
      }
      by_value[key].insert(Orbit(text));
    }
    std::set<std::set<std::string>> out;
    for (const auto& [key, members] : by_value) {
      if (members.size() > 1) out.insert(members);
    }
    return out;
  }

  // The number of sets of at most `depth` calls that hold what they need, up
  // to renaming.
  size_t CountGraphs() const {
    std::set<std::set<std::string>> all = {{}};
    std::set<std::set<std::string>> level = all;
    for (int d = 0; d < depth_; ++d) {
      std::set<std::set<std::string>> next;
      for (const std::set<std::string>& g : level) {
        for (const auto& [call, needs] : calls_) {
          if (g.contains(call)) continue;
          if (!std::includes(g.begin(), g.end(), needs.begin(), needs.end())) {
            continue;
          }
          std::set<std::string> more = g;
          more.insert(call);
          next.insert(LeastSet(more));
        }
      }
      level = next;
      all.insert(next.begin(), next.end());
    }
    return all.size() - 1;
  }

 private:
  std::set<std::string> LeastSet(const std::set<std::string>& g) const {
    std::set<std::string> least;
    for (const Names& names : namings_) {
      std::set<std::string> image;
      for (const std::string& s : g) image.insert(Normal(Renamed(s, names)));
      if (least.empty() || image < least) least = image;
    }
    return least;
  }

  // Orders the operands of sums, from the inside out.
  static std::string Normal(const std::string& text) {
    const size_t open = text.find('(');
    if (open == std::string::npos) return text;
    std::vector<std::string> args;
    int level = 0;
    size_t from = open + 1;
    size_t i = open;
    for (; i < text.size(); ++i) {
      if (text[i] == '(') ++level;
      if (text[i] == ')') --level;
      if ((text[i] == ',' && level == 1) || level == 0) {
        args.push_back(Normal(text.substr(from, i - from)));
        from = i + 1;
      }
      if (level == 0) break;
    }
    const std::string op = text.substr(0, open);
    if (op == "add") std::sort(args.begin(), args.end());
    return absl::StrCat(op, "(", absl::StrJoin(args, ","), ")",
                        text.substr(i + 1));
  }

  static std::string Key(const Tensor& t) {
    std::string key = TypeText(t.type);
    for (Field f : t.as<Field>()) absl::StrAppend(&key, " ", f.value());
    return key;
  }

  // Adds every call on tensors that are there; false if there was none new.
  bool Grow() {
    std::vector<Slow> now;
    for (const auto& [text, t] : tensors_) now.push_back(t);
    const size_t before = tensors_.size();
    for (const Slow& a : now) {
      Call("relu", {&a}, {});
      const int64_t rows = a.value.type.shape[0];
      if (more_ && rows % 2 == 0) {
        CallHalf(a, 0, 0, rows / 2);
        CallHalf(a, 1, rows / 2, rows);
      }
      for (const Slow& b : now) {
        if (more_) {
          Call("matmul", {&a, &b}, {});
          Call("concat", {&a, &b}, {{"axis", int64_t{0}}});
        }
        if (a.text <= b.text) Call("add", {&a, &b}, {});
      }
    }
    return tensors_.size() > before;
  }

  std::set<std::string> Steps(const std::vector<const Slow*>& in) const {
    std::set<std::string> steps;
    for (const Slow* s : in) steps.insert(s->steps.begin(), s->steps.end());
    return steps;
  }

  void Add(const std::string& text, const std::string& call, const OpDef& op,
           const std::vector<const Slow*>& in, const Attrs& attrs) {
    Slow out{text, Steps(in), {}};
    if (static_cast<int>(out.steps.size()) >= depth_ ||
        tensors_.contains(text)) {
      return;
    }
    std::vector<TensorType> types;
    std::vector<const Tensor*> values;
    for (const Slow* s : in) {
      types.push_back(s->value.type);
      values.push_back(&s->value);
    }
    if (!InferOp(op, types, attrs).ok()) return;
    auto result = EvalOp(op, values, attrs, Interp::kField);
    ASSERT_TRUE(result.ok()) << result.status();
    if (NumElements((*result)[0].type) > 512) return;
    out.value = (*result)[0];
    calls_[call] = out.steps;
    out.steps.insert(call);
    tensors_[text] = std::move(out);
  }

  void Call(const std::string& name, const std::vector<const Slow*>& in,
            const Attrs& attrs) {
    std::vector<std::string> args;
    for (const Slow* s : in) args.push_back(s->text);
    const std::string text =
        absl::StrCat(name, "(", absl::StrJoin(args, ","), ")");
    Add(text, text, *Ops().Find(name), in, attrs);
  }

  void CallHalf(const Slow& a, int k, int64_t from, int64_t to) {
    const std::string call = absl::StrCat("halves(", a.text, ")");
    Add(absl::StrCat(call, ".", k), call, *Ops().Find("slice"), {&a},
        {{"axes", std::vector<int64_t>{0}},
         {"from", std::vector<int64_t>{from}},
         {"to", std::vector<int64_t>{to}}});
  }

  int depth_;
  bool more_;
  std::map<std::string, Slow> tensors_;
  std::map<std::string, std::set<std::string>> calls_;
  std::vector<Names> namings_;
};

// ---- The same from the enumerator

std::string TextOf(const Preset& preset, const Dag& dag, TensorId t) {
  if (dag.IsLeaf(t)) return LeafName(preset, LeavesOf(preset)[t]);
  const DagStep& s = dag.step(dag.step_of(t));
  std::vector<std::string> args;
  for (TensorId in : s.span()) args.push_back(TextOf(preset, dag, in));
  const std::string& name = preset.templates[s.tmpl].name;
  if (name == "add") std::sort(args.begin(), args.end());
  const std::string call =
      absl::StrCat(name, "(", absl::StrJoin(args, ","), ")");
  return s.outputs == 1 ? call : absl::StrCat(call, ".", t - s.first);
}

struct Case {
  int depth;
  bool more;  // all templates, not only add and relu
};

class AgainstBrute : public testing::TestWithParam<Case> {};

TEST_P(AgainstBrute, SameGraphsAndSameClasses) {
  const auto [depth, more] = GetParam();
  const Preset preset = Tiny(more);
  Enumerator all(preset, {.depth = depth, .prune = false});
  ASSERT_TRUE(all.Run([](int, double) { return true; }));
  Hits hits(all.terms().symmetry().num_leaves());
  FindHits(all, hits);
  ASSERT_TRUE(all.RunPairs([](int, double) { return true; }));
  const Brute brute(depth, more);
  EXPECT_EQ(all.stats().graphs, brute.CountGraphs());

  std::map<uint32_t, std::set<std::string>> by_class;
  for (const Member& m : hits.members) {
    if (m.count != 1) continue;
    by_class[m.cls].insert(
        brute.Orbit(TextOf(preset, hits.dag, hits.OutputsOf(m)[0])));
  }
  std::set<std::set<std::string>> classes;
  for (const auto& [cls, members] : by_class) {
    if (members.size() > 1) classes.insert(members);
  }
  const std::set<std::set<std::string>> expected = brute.Classes();
  std::vector<std::set<std::string>> missed, invented;
  std::set_difference(expected.begin(), expected.end(), classes.begin(),
                      classes.end(), std::back_inserter(missed));
  std::set_difference(classes.begin(), classes.end(), expected.begin(),
                      expected.end(), std::back_inserter(invented));
  EXPECT_EQ(missed, std::vector<std::set<std::string>>());
  EXPECT_EQ(invented, std::vector<std::set<std::string>>());
}

INSTANTIATE_TEST_SUITE_P(Depths, AgainstBrute,
                         testing::Values(Case{1, true}, Case{2, true},
                                         Case{3, false}));

TEST(Enumerate, ThreadsFindTheSame) {
  const Preset preset = Tiny();
  std::vector<std::vector<std::string>> found;
  for (int threads : {1, 2, 3}) {
    EnumerateOptions options{.depth = 3, .threads = threads};
    Enumerator all(preset, options);
    ASSERT_TRUE(all.Run([](int, double) { return true; }));
    Hits hits(all.terms().symmetry().num_leaves());
    FindHits(all, hits);
    std::vector<std::string>& list = found.emplace_back();
    list.push_back(absl::StrCat(all.stats().graphs, " graphs ", hits.classes));
    for (const Member& m : hits.members) {
      std::string text = absl::StrCat(m.cls, ":");
      for (TensorId t : hits.OutputsOf(m)) {
        absl::StrAppend(&text, " ", TextOf(preset, hits.dag, t));
      }
      list.push_back(text);
    }
  }
  EXPECT_GT(found[0].size(), 100);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(Enumerate, ConnectedGraphsAreSome) {
  const Preset preset = Tiny();
  auto count = [&](bool connected) {
    Enumerator all(preset, {.depth = 2, .connected = connected});
    EXPECT_TRUE(all.Run([](int, double) { return true; }));
    EXPECT_TRUE(all.RunPairs([](int, double) { return true; }));
    return std::pair(all.stats().graphs, all.stats().fingerprints);
  };
  const auto [all, all_prints] = count(false);
  const auto [few, few_prints] = count(true);
  EXPECT_LT(few, all);
  EXPECT_LT(few_prints, all_prints);
}

TEST(Enumerate, StopsWhenTold) {
  const Preset preset = Tiny();
  EnumerateOptions options{.depth = 3};
  Enumerator all(preset, options);
  EXPECT_FALSE(all.Run([](int level, double) { return level < 3; }));
  // What was found so far can be rebuilt.
  Hits hits(all.terms().symmetry().num_leaves());
  FindHits(all, hits);
  EXPECT_FALSE(hits.members.empty());
}

}  // namespace
}  // namespace isomer::gen
