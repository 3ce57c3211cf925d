// Reading targets: a table of keys, each with what reads its values.
#include "cost_model/target.h"

#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cost_model/builtin_targets.h"
#include "ops/status.h"

namespace isomer::cost {

namespace {

using Words = std::vector<std::string>;

absl::StatusOr<double> Number(absl::string_view word) {
  double d = 0;
  if (!absl::SimpleAtod(word, &d) || !std::isfinite(d) || d < 0) {
    return Invalid("'", word, "' is not a number of zero or more");
  }
  return d;
}

absl::StatusOr<double> Positive(absl::string_view word) {
  ASSIGN_OR_RETURN(double d, Number(word));
  if (d == 0) return Invalid("it must be more than zero");
  return d;
}

absl::StatusOr<double> Share(absl::string_view word) {
  ASSIGN_OR_RETURN(double d, Positive(word));
  if (d > 1) return Invalid("a share is at most one");
  return d;
}

absl::StatusOr<int64_t> Whole(absl::string_view word) {
  int64_t i = 0;
  if (!absl::SimpleAtoi(word, &i) || i < 1) {
    return Invalid("'", word, "' is not a whole number of one or more");
  }
  return i;
}

// Tiles as "128x128:1,64x64:0.5".
absl::StatusOr<std::vector<Tile>> Tiles(absl::string_view text) {
  std::vector<Tile> tiles;
  for (absl::string_view one : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(one, absl::MaxSplits(':', 1));
    const std::pair<absl::string_view, absl::string_view> sizes =
        absl::StrSplit(parts.first, absl::MaxSplits('x', 1));
    Tile t;
    ASSIGN_OR_RETURN(t.m, Whole(sizes.first));
    ASSIGN_OR_RETURN(t.n, Whole(sizes.second));
    ASSIGN_OR_RETURN(t.efficiency, Share(parts.second));
    tiles.push_back(t);
  }
  return tiles;
}

absl::StatusOr<OpClasses> Classes(absl::string_view text) {
  OpClasses classes;
  for (absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    ASSIGN_OR_RETURN(OpClass c, ParseOpClass(name));
    if (c == OpClass::kCore) return Invalid("a kernel has one core");
    classes.Add(c);
  }
  return classes;
}

template <class T>
absl::Status Into(T& place, absl::StatusOr<T> value) {
  if (!value.ok()) return value.status();
  place = *std::move(value);
  return absl::OkStatus();
}

absl::Status SetFamily(FamilyModel& f, absl::string_view key,
                       absl::string_view value) {
  if (key == "fixed_us") return Into(f.fixed_us, Number(value));
  if (key == "efficiency") return Into(f.efficiency, Share(value));
  if (key == "bandwidth") return Into(f.bandwidth, Share(value));
  if (key == "tiles") return Into(f.tiles, Tiles(value));
  if (key == "wave_us") return Into(f.wave_us, Number(value));
  if (key == "split_k") return Into(f.split_k, Whole(value));
  if (key == "split_us") return Into(f.split_us, Number(value));
  return Invalid("there is no '", key, "'; there are fixed_us, efficiency, ",
                 "bandwidth, tiles, wave_us, split_k, split_us");
}

absl::Status SetFusion(FusionModel& f, absl::string_view key,
                       absl::string_view value) {
  if (key == "prologue") return Into(f.prologue, Classes(value));
  if (key == "epilogue") return Into(f.epilogue, Classes(value));
  if (key == "operands") return Into(f.operands, Classes(value));
  if (key == "max_nodes") return Into(f.max_nodes, Whole(value));
  if (key == "max_ops") return Into(f.max_ops, Whole(value));
  if (key == "max_inputs") return Into(f.max_inputs, Whole(value));
  if (key == "outputs") {
    if (value != "one" && value != "many") {
      return Invalid("it is one or many");
    }
    f.many_outputs = value == "many";
    return absl::OkStatus();
  }
  return Invalid("there is no '", key, "'; there are prologue, epilogue, ",
                 "operands, outputs, max_nodes, max_ops, max_inputs");
}

}  // namespace

class TargetReader {
 public:
  absl::StatusOr<Target> Read(absl::string_view text) {
    int line = 0;
    for (absl::string_view raw : absl::StrSplit(text, '\n')) {
      ++line;
      const absl::string_view content =
          absl::StripAsciiWhitespace(raw.substr(0, raw.find('#')));
      if (content.empty()) continue;
      absl::Status s = ReadLine(content);
      if (!s.ok()) return Prefixed(absl::StrCat("line ", line, ": "), s);
    }
    for (absl::string_view key :
         {"target", "launch_us", "dram_gbps", "peak", "vector"}) {
      if (seen_.count(key) == 0)
        return Invalid("the key '", key, "' is missing");
    }
    if (seen_.count("cache_gbps") == 0) t_.cache_gbps_ = t_.dram_gbps_;
    return std::move(t_);
  }

 private:
  absl::Status ReadLine(absl::string_view content) {
    const Words words =
        absl::StrSplit(content, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const std::string& key = words[0];
    if (!seen_.insert(key).second && !MayRepeat(key)) {
      return Invalid("'", key, "' is given twice");
    }
    if (key == "family" || key == "fuse") return ReadModel(words);
    if (key == "peak") return ReadPeak(words, t_.peak_);
    if (key == "vector") return ReadPeak(words, t_.vector_peak_);
    if (key == "device") {
      t_.device_ =
          std::string(absl::StripAsciiWhitespace(content.substr(key.size())));
      return absl::OkStatus();
    }
    if (words.size() != 2) return Invalid("'", key, "' takes one value");
    return ReadValue(key, words[1]);
  }

  static bool MayRepeat(absl::string_view key) {
    return key == "family" || key == "fuse" || key == "peak" || key == "vector";
  }

  absl::Status ReadValue(absl::string_view key, const std::string& value) {
    if (key == "target") return Into<std::string>(t_.name_, value);
    if (key == "engine") return Into<std::string>(t_.engine_, value);
    if (key == "launch_us") return Into(t_.launch_us_, Number(value));
    if (key == "dram_gbps") return Into(t_.dram_gbps_, Positive(value));
    if (key == "cache_gbps") return Into(t_.cache_gbps_, Positive(value));
    if (key == "cache_bytes") return Into(t_.cache_bytes_, Whole(value));
    if (key == "memory_bytes") return Into(t_.memory_bytes_, Whole(value));
    if (key == "units") return Into(t_.units_, Whole(value));
    if (key == "least_gain") return Into(t_.least_gain_, Share(value));
    if (key == "concat") {
      if (value != "in_place" && value != "copy") {
        return Invalid("concat is '", value, "'; it is in_place or copy");
      }
      t_.concat_in_place_ = value == "in_place";
      return absl::OkStatus();
    }
    return Invalid("there is no key '", key, "'");
  }

  absl::Status ReadPeak(const Words& words, std::map<DType, double>& peaks) {
    if (words.size() != 3)
      return Invalid(words[0], " takes a type and TFLOP/s");
    ASSIGN_OR_RETURN(DType type, ParseDType(words[1]));
    ASSIGN_OR_RETURN(double peak, Positive(words[2]));
    if (!peaks.emplace(type, peak).second) {
      return Invalid("'", words[0], " ", words[1], "' is given twice");
    }
    return absl::OkStatus();
  }

  absl::Status ReadModel(const Words& words) {
    if (words.size() < 2) return Invalid(words[0], " names a family");
    ASSIGN_OR_RETURN(Family family, ParseFamily(words[1]));
    if (!seen_.insert(absl::StrCat(words[0], " ", words[1])).second) {
      return Invalid("'", words[0], " ", words[1], "' is given twice");
    }
    for (size_t i = 2; i < words.size(); ++i) {
      const std::pair<std::string, std::string> kv =
          absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      absl::Status s = words[0] == "family"
                           ? SetFamily(t_.families_[static_cast<int>(family)],
                                       kv.first, kv.second)
                           : SetFusion(t_.fusions_[static_cast<int>(family)],
                                       kv.first, kv.second);
      if (!s.ok()) return Prefixed(absl::StrCat(words[i], ": "), s);
    }
    return absl::OkStatus();
  }

  Target t_;
  std::set<std::string, std::less<>> seen_;
};

absl::StatusOr<Target> Target::Parse(absl::string_view text) {
  return TargetReader().Read(text);
}

absl::StatusOr<Target> Target::Named(absl::string_view name) {
  for (const BuiltinTarget& t : BuiltinTargets()) {
    if (t.name == name) return Parse(t.text);
  }
  return absl::NotFoundError(absl::StrCat("there is no target '", name,
                                          "'; there are ",
                                          absl::StrJoin(Names(), ", ")));
}

std::vector<std::string> Target::Names() {
  std::vector<std::string> names;
  for (const BuiltinTarget& t : BuiltinTargets()) names.emplace_back(t.name);
  return names;
}

// A type without a figure of its own is as fast as float.
double Target::PeakIn(const std::map<DType, double>& peaks, DType type) {
  auto it = peaks.find(type);
  if (it == peaks.end()) it = peaks.find(DType::kF32);
  return it == peaks.end() ? peaks.begin()->second : it->second;
}

}  // namespace isomer::cost
