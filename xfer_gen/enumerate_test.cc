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
#include "xfer_gen/pairs.h"

namespace isomer::gen {
namespace {

constexpr absl::string_view kLeaves = R"(
leaf x(2): f32[b,c]
weight w(1): f32[c,c]
sizes b=4 c=4
sizes b=2 c=6
)";

// The templates whose letters are given.
Preset Tiny(const std::string& letters = "armch") {
  const std::map<char, std::string> templates = {
      {'a', "template add(a, b): add(a, b)\n"},
      {'r', "template relu(a): relu(a)\n"},
      {'m', "template matmul(a, b): matmul(a, b)\n"},
      {'c', "template concat(a, b): concat(a, b, axis=0)\n"},
      {'h',
       "template halves(a):\n"
       "  slice(a, axis=0, from=0, to=dim(a, 0)/2),\n"
       "  slice(a, axis=0, from=dim(a, 0)/2, to=end)\n"}};
  std::string text(kLeaves);
  for (char letter : letters) text += templates.at(letter);
  absl::StatusOr<Preset> p = ParsePreset("tiny", text);
  EXPECT_TRUE(p.ok()) << p.status();
  return *std::move(p);
}

bool Always() { return true; }

// Adds all that met in the tables to the hits.
void AddAll(Enumerator& all, Hits& hits) {
  Met met = SortTables(all, hits, Always);
  EXPECT_TRUE(AddHits(all, met, met.codes.size(), hits, Always));
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
  Brute(int depth, const std::string& letters)
      : depth_(depth), letters_(letters) {
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

  // Two tensors of at most `depth` calls together, under names for which their
  // values are least, in the order of the values; the names they have there and
  // those that stand for all names.
  struct Two {
    std::string names[2];
    std::string orbit;
  };
  // Those that have the same values, two and two, where neither tensor is the
  // same call on the same values.
  std::vector<std::pair<Two, Two>> News() const {
    std::map<std::string, std::vector<Two>> by_value;
    for (const auto& [a, slow] : tensors_) {
      for (const auto& [b, other] : tensors_) {
        if (b <= a || slow.steps.empty() || other.steps.empty()) continue;
        const auto most = static_cast<size_t>(depth_);
        if (slow.steps.size() == most && other.steps.size() == most &&
            slow.steps != other.steps) {
          continue;
        }
        if (Steps({&slow, &other}).size() > most) continue;
        AddTwo(a, b, by_value);
      }
    }
    std::vector<std::pair<Two, Two>> out;
    for (const auto& [key, all] : by_value) {
      for (size_t i = 0; i < all.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (Making(all[i].names[0]) == Making(all[j].names[0])) continue;
          if (Making(all[i].names[1]) == Making(all[j].names[1])) continue;
          out.emplace_back(all[i], all[j]);
        }
      }
    }
    return out;
  }
  // The least text of two tensors over all renamings.
  std::string OrbitOfTwo(const std::string& a, const std::string& b) const {
    std::string least;
    for (const Names& names : namings_) {
      const std::string x = Normal(Renamed(a, names));
      const std::string y = Normal(Renamed(b, names));
      const std::string both =
          absl::StrCat(std::min(x, y), " ", std::max(x, y));
      if (least.empty() || both < least) least = both;
    }
    return least;
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
  void AddTwo(const std::string& a, const std::string& b,
              std::map<std::string, std::vector<Two>>& by_value) const {
    std::map<std::string, std::vector<Two>> by_key;
    for (const Names& names : namings_) {
      Two two{{Normal(Renamed(a, names)), Normal(Renamed(b, names))},
              OrbitOfTwo(a, b)};
      std::string x = Key(tensors_.at(two.names[0]).value);
      std::string y = Key(tensors_.at(two.names[1]).value);
      if (x == y) return;
      if (y < x) {
        std::swap(x, y);
        std::swap(two.names[0], two.names[1]);
      }
      by_key[absl::StrCat(x, " ", y)].push_back(two);
    }
    auto& all = by_value[by_key.begin()->first];
    all.insert(all.end(), by_key.begin()->second.begin(),
               by_key.begin()->second.end());
  }

  // The call of a tensor on values, and which output it is. What equals an
  // input is made in no way that counts.
  std::string Making(const std::string& text) const {
    const std::string key = Key(tensors_.at(text).value);
    for (const char* leaf : {"x1", "x2", "w1"}) {
      if (Key(tensors_.at(leaf).value) == key) return leaf;
    }
    const size_t open = text.find('('), close = text.rfind(')');
    std::vector<std::string> args;
    int level = 0;
    size_t from = open + 1;
    for (size_t i = from; i <= close; ++i) {
      if ((text[i] == ',' || i == close) && level == 0) {
        args.push_back(Key(tensors_.at(text.substr(from, i - from)).value));
        from = i + 1;
      }
      level += (text[i] == '(') - (text[i] == ')');
    }
    if (text.substr(0, open) == "add") std::sort(args.begin(), args.end());
    return absl::StrCat(text.substr(0, open), text.substr(close + 1), ": ",
                        absl::StrJoin(args, "; "));
  }

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
      if (Has('r')) Call("relu", {&a}, {});
      const int64_t rows = a.value.type.shape[0];
      if (Has('h') && rows % 2 == 0) {
        CallHalf(a, 0, 0, rows / 2);
        CallHalf(a, 1, rows / 2, rows);
      }
      for (const Slow& b : now) {
        if (Has('m')) Call("matmul", {&a, &b}, {});
        if (Has('c')) Call("concat", {&a, &b}, {{"axis", int64_t{0}}});
        if (Has('a') && a.text <= b.text) Call("add", {&a, &b}, {});
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

  bool Has(char letter) const {
    return letters_.find(letter) != std::string::npos;
  }

  int depth_;
  std::string letters_;
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
  std::string letters;
};

class AgainstBrute : public testing::TestWithParam<Case> {};

TEST_P(AgainstBrute, SameGraphsAndSameClasses) {
  const auto [depth, letters] = GetParam();
  const Preset preset = Tiny(letters);
  Enumerator all(preset, {.depth = depth, .prune = false});
  ASSERT_TRUE(all.Run([](int, double) { return true; }));
  Hits hits(all.terms().symmetry().num_leaves());
  AddAll(all, hits);
  ASSERT_TRUE(all.RunPairs([](int, double) { return true; }));
  const Brute brute(depth, letters);
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
                         testing::Values(Case{1, "armch"}, Case{2, "armch"},
                                         Case{3, "ar"}, Case{3, "rh"}));

// Every two pairs of tensors that may be news meet, although most are passed
// over.
TEST(Enumerate, TwoOutputsThatAreNewsMeet) {
  const std::string letters = "rch";
  const Preset preset = Tiny(letters);
  const Brute brute(3, letters);
  auto on = [](int, double) { return true; };
  Enumerator all(preset, {.depth = 3, .prune = false});
  ASSERT_TRUE(all.Run(on));
  Hits hits(all.terms().symmetry().num_leaves());
  AddAll(all, hits);
  PairFinder finder(all, hits, 1);
  EXPECT_TRUE(finder.Compare(0, Always));
  finder.MarkTensors();
  const size_t singles = hits.members.size();
  ASSERT_TRUE(all.RunPairs(on));
  AddAll(all, hits);
  std::map<std::string, std::set<uint32_t>> classes;
  for (size_t i = singles; i < hits.members.size(); ++i) {
    const auto outputs = hits.OutputsOf(hits.members[i]);
    classes[brute.OrbitOfTwo(TextOf(preset, hits.dag, outputs[0]),
                             TextOf(preset, hits.dag, outputs[1]))]
        .insert(hits.members[i].cls);
  }
  const auto news = brute.News();
  EXPECT_GT(news.size(), 10);
  for (const auto& [a, b] : news) {
    const std::set<uint32_t>& other = classes[b.orbit];
    EXPECT_TRUE(std::any_of(classes[a.orbit].begin(), classes[a.orbit].end(),
                            [&](uint32_t c) { return other.contains(c); }))
        << a.orbit << " and " << b.orbit;
  }
  // Far fewer are put back together than there are.
  EXPECT_LT(hits.members.size() - singles, all.stats().fingerprints / 4);
}

TEST(Enumerate, ThreadsFindTheSame) {
  const Preset preset = Tiny();
  std::vector<std::vector<std::string>> found;
  for (int threads : {1, 2, 3}) {
    EnumerateOptions options{.depth = 3, .threads = threads};
    Enumerator all(preset, options);
    ASSERT_TRUE(all.Run([](int, double) { return true; }));
    Hits hits(all.terms().symmetry().num_leaves());
    AddAll(all, hits);
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
  AddAll(all, hits);
  EXPECT_FALSE(hits.members.empty());
}

// Fills the tables slice by slice, each with so much room, and puts together
// what met; `passes` counts them.
Met MetInSlices(Enumerator& all, Hits& hits, int64_t max_bytes, int& passes,
                bool (Enumerator::*pass)(const Enumerator::GoOn&)) {
  Met out;
  passes = 0;
  for (int first = 0; first < kParts; first = all.tables_end(), ++passes) {
    all.OpenTables(first, max_bytes);
    EXPECT_TRUE((all.*pass)([](int, double) { return true; }));
    if (all.tables_end() == first) break;
    const Met met = SortTables(all, hits, Always);
    out.codes.insert(out.codes.end(), met.codes.begin(), met.codes.end());
    out.fingerprints.insert(out.fingerprints.end(), met.fingerprints.begin(),
                            met.fingerprints.end());
  }
  return out;
}

std::vector<uint64_t> CodesOf(const Met& met) {
  std::vector<uint64_t> out;
  for (const Coded& c : met.codes) out.push_back(c.code);
  return out;
}

// However little room tables have, in the end the same has met, in the same
// order, and graphs are counted once.
TEST(Enumerate, SlicesOfTablesHoldWhatOneTableHolds) {
  const Preset preset = Tiny("rch");
  Enumerator all(preset, {.depth = 3, .prune = false});
  ASSERT_TRUE(all.Run([](int, double) { return true; }));
  Hits hits(all.terms().symmetry().num_leaves());
  AddAll(all, hits);
  PairFinder finder(all, hits, 1);
  EXPECT_TRUE(finder.Compare(0, Always));
  finder.MarkTensors();
  int passes = 0;
  int64_t before = all.stats().graphs;
  const auto run = &Enumerator::RunPairs;
  const Met whole = MetInSlices(all, hits, INT64_MAX, passes, run);
  EXPECT_EQ(passes, 1);
  EXPECT_GT(whole.codes.size(), 100);
  const int64_t counted = all.stats().graphs - before;
  for (int64_t blocks : {100, 20, 3}) {
    before = all.stats().graphs;
    const Met met = MetInSlices(all, hits, blocks << 14, passes, run);
    EXPECT_GE(passes, blocks == 100 ? 2 : 10) << blocks;
    EXPECT_EQ(CodesOf(met), CodesOf(whole)) << blocks;
    EXPECT_EQ(met.fingerprints, whole.fingerprints) << blocks;
    EXPECT_EQ(all.stats().graphs - before, counted) << blocks;
  }
  EXPECT_TRUE(MetInSlices(all, hits, 1, passes, run).codes.empty());
  EXPECT_EQ(passes, 0);
}

// What single tensors meet is the same whether their fingerprints were kept
// when they were found, or some parts of them later; parts may be given up at
// any time.
TEST(Enumerate, SlicesOfSingleTensorsHoldWhatOneTableHolds) {
  const Preset preset = Tiny("rch");
  for (int threads : {1, 2}) {
    const EnumerateOptions options{
        .depth = 3, .prune = false, .threads = threads};
    Enumerator all(preset, options);
    ASSERT_TRUE(all.Run([](int, double) { return true; }));
    Hits hits(all.terms().symmetry().num_leaves());
    const Met whole = SortTables(all, hits, Always);
    EXPECT_GT(whole.codes.size(), 100);
    const EnumerateStats stats = all.stats();
    int passes = 0;
    for (int64_t blocks : {1000, 100, 20, 3}) {
      // Of each part that was given up, another thread may hold a block.
      if (threads > 1 && blocks < 1000) continue;
      const Met met =
          MetInSlices(all, hits, blocks << 14, passes, &Enumerator::RunSingles);
      EXPECT_EQ(CodesOf(met), CodesOf(whole)) << blocks;
      EXPECT_EQ(met.fingerprints, whole.fingerprints) << blocks;
      EXPECT_EQ(passes > 1, blocks < 1000) << blocks;
    }
    EXPECT_EQ(all.stats().graphs, stats.graphs);
    EXPECT_EQ(all.stats().fingerprints, stats.fingerprints);
    EXPECT_EQ(all.stats().extended, all.stats().to_extend);

    Enumerator shrunk(preset, options);
    ASSERT_TRUE(shrunk.Run([&](int level, double share) {
      // One of several threads asks, and the other may have the second half.
      const bool late = level == 3 && (threads > 1 || share > 0.5);
      if (late && shrunk.tables_end() == kParts) {
        EXPECT_TRUE(shrunk.ShrinkTables());
      }
      return true;
    }));
    EXPECT_LT(shrunk.tables_end(), kParts);
    Met met = SortTables(shrunk, hits, Always);
    shrunk.OpenTables(shrunk.tables_end(), INT64_MAX);
    ASSERT_TRUE(shrunk.RunSingles([](int, double) { return true; }));
    const Met rest = SortTables(shrunk, hits, Always);
    met.codes.insert(met.codes.end(), rest.codes.begin(), rest.codes.end());
    EXPECT_EQ(CodesOf(met), CodesOf(whole)) << threads;
  }
}

// Room that a table holds is there for another thread's once its parts were
// given up.
TEST(Table, WhatIsGivenUpIsDroppedInAllTables) {
  constexpr int kMany = 1000;  // blocks
  Slice slice;
  slice.Open(0, int64_t{kMany} << 14);
  Table idle(slice), busy(slice);
  auto fill = [](Table& table, int part, int blocks) {
    for (int i = 0; i < blocks * 512; ++i) {
      table.Add({static_cast<uint64_t>(part) << 56 | i, 0, {}});
    }
  };
  fill(idle, 255, kMany - 100);
  fill(busy, 0, 500);
  EXPECT_EQ(slice.end(), kParts - kParts / 8);
  EXPECT_EQ(idle.PartSize(255), 0);
  EXPECT_EQ(busy.PartSize(0), 500 * 512);
}

}  // namespace
}  // namespace isomer::gen
