// A statement is read once. Instructions that a whole warp runs together have
// its lanes exchange what they hold; then each computes its own part.
#include "cuda/emulator/instructions.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ops/dtype.h"

namespace isomer::cuda::emulator {

namespace {

// %3, 16, p, _, [%0], {%0, %1}
struct Argument {
  enum Kind { kOperand, kNumber, kPredicate, kNothing, kMemory, kVector };
  Kind kind = kNothing;
  int64_t number = 0;
  std::vector<Argument> parts = {};
};

class Run;
using Action = void (*)(Run&);

struct Instruction {
  std::string name;
  bool if_predicate = false;
  std::vector<Argument> arguments;
  Action action = nullptr;
};
using Statement = std::vector<Instruction>;

// One instruction of the thread that runs now.
class Run {
 public:
  Run(const Instruction& i, IsoOperand* operands, bool& predicate)
      : i_(i), operands_(operands), predicate_(predicate) {}

  Machine& machine = Machine::Current();
  const std::string& name() const { return i_.name; }
  bool Has(absl::string_view word) const {
    return absl::StrContains(i_.name, word);
  }
  const Argument& argument(size_t n) const { return i_.arguments[n]; }
  size_t count() const { return i_.arguments.size(); }

  uint64_t Bits(const Argument& a) const {
    switch (a.kind) {
      case Argument::kNumber:
        return static_cast<uint64_t>(a.number);
      case Argument::kPredicate:
        return predicate_ ? 1 : 0;
      case Argument::kOperand: {
        const IsoOperand& o = operands_[a.number];
        if (o.at == nullptr) return o.value;
        uint64_t bits = 0;
        std::memcpy(&bits, o.at, o.size);
        return bits;
      }
      default:
        return Bits(a.parts[0]);
    }
  }
  uint64_t Bits(size_t n) const { return Bits(argument(n)); }
  uint32_t Word(size_t n) const { return static_cast<uint32_t>(Bits(n)); }
  int Int(size_t n) const { return static_cast<int>(Bits(n)); }
  float Float(size_t n) const { return AsFloat(Word(n)); }
  static float AsFloat(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  }
  const char* Pointer(size_t n) const {
    return reinterpret_cast<const char*>(Bits(n));
  }

  void Set(const Argument& a, uint64_t bits) {
    if (a.kind == Argument::kPredicate) {
      predicate_ = bits != 0;
    } else {
      std::memcpy(operands_[a.number].at, &bits, operands_[a.number].size);
    }
  }
  void Set(size_t n, uint64_t bits) { Set(argument(n), bits); }
  void SetFloat(size_t n, float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    Set(n, bits);
  }
  // Where the parts of a vector of floats are.
  std::vector<float*> Floats(size_t n) const {
    std::vector<float*> out;
    for (const Argument& a : argument(n).parts) {
      out.push_back(static_cast<float*>(operands_[a.number].at));
    }
    return out;
  }

 private:
  const Instruction& i_;
  IsoOperand* operands_;
  bool& predicate_;
};

// ---- Numbers

void Nothing(Run&) {}

void Convert(Run& r) {
  if (r.Has(".f32.f16")) {
    r.SetFloat(0, HalfToFloat(static_cast<uint16_t>(r.Bits(1))));
    return;
  }
  const auto narrow = [&](size_t n) -> uint32_t {
    return r.Has("bf16") ? FloatToBf16(r.Float(n)) : FloatToHalf(r.Float(n));
  };
  // Of two the first is the upper half.
  r.Set(0, r.Has("f16x2") ? narrow(1) << 16 | narrow(2) : narrow(1));
}

void MaxOrMin(Run& r) {
  const float a = r.Float(1), b = r.Float(2);
  if (std::isnan(a) || std::isnan(b)) return r.SetFloat(0, NAN);
  r.SetFloat(0, r.Has("max") ? std::max(a, b) : std::min(a, b));
}

void Reciprocal(Run& r) { r.SetFloat(0, 1 / r.Float(1)); }
void PowerOfTwo(Run& r) { r.SetFloat(0, std::exp2(r.Float(1))); }
void SetIfUnequal(Run& r) { r.Set(0, r.Bits(1) != r.Bits(2)); }
void Select(Run& r) { r.Set(0, r.Bits(3) != 0 ? r.Bits(1) : r.Bits(2)); }
void SetToZero(Run& r) { r.Set(0, 0); }

void LoadFour(Run& r) {
  for (int i = 0; i < 4; ++i) {
    uint32_t word;
    std::memcpy(&word, r.Pointer(1) + 4 * i, 4);
    r.Set(r.argument(0).parts[i], word);
  }
}

// ---- Copies

// Bytes that are not read are zeros.
void Copy16(Run& r) {
  char* to = r.machine.SharedAt(r.Word(0), 16);
  const char* from = r.Pointer(1);
  const int bytes = r.Int(3);
  if (r.Int(2) != 16 || bytes < 0 || bytes > 16) r.machine.Fail(r.name());
  if (bytes > 0 && reinterpret_cast<uintptr_t>(from) % 16 != 0) {
    r.machine.Fail("cp.async from an address that is not aligned");
  }
  r.machine.Add(Machine::kCopies, [=] {
    std::memset(to, 0, 16);
    std::memcpy(to, from, bytes);
  });
}

void CommitCopies(Run& r) { r.machine.Commit(Machine::kCopies); }
void AwaitCopies(Run& r) { r.machine.Await(Machine::kCopies, r.Bits(0)); }

// 16 bytes at this address lie elsewhere in tiles with rows of 128 bytes.
uint32_t Swizzled(uint32_t at) { return at ^ (at >> 7 & 7) << 4; }

// [to], [map, {x, y}], [barrier], and, for several blocks of the cluster, a
// mask of them.
void CopyBox(Run& r) {
  EmulatedMap map;
  std::memcpy(&map, r.Pointer(1), sizeof(map));
  const Argument& place = r.argument(1).parts[1];
  const auto x = static_cast<int>(r.Bits(place.parts[0]));
  const auto y = static_cast<int>(r.Bits(place.parts[1]));
  const int row = 2 * map.box[0], bytes = row * map.box[1];
  if (row != 128 || r.Word(0) % 1024 != 0) {
    r.machine.Fail("boxes have rows of 128 bytes, and start at 1024");
  }
  auto copy = [&](uint32_t to, uint32_t barrier) {
    char* const start = r.machine.SharedAt(to, bytes);
    r.machine.Give(barrier, bytes, [=] {
      for (int j = 0; j < map.box[1]; ++j) {
        for (int i = 0; i < map.box[0]; ++i) {
          const int64_t column = x + i, line = y + j;
          uint16_t element = 0;
          if (column >= 0 && line >= 0 && column < map.size[0] &&
              line < map.size[1]) {
            std::memcpy(&element, map.data + line * map.step_bytes + 2 * column,
                        2);
          }
          std::memcpy(start + Swizzled(j * row + 2 * i), &element, 2);
        }
      }
    });
  };
  if (!r.Has("multicast")) return copy(r.Word(0), r.Word(2));
  for (int rank = 0; r.Word(3) >> rank != 0; ++rank) {
    if ((r.Word(3) >> rank & 1) == 0) continue;
    copy(Machine::AtPeer(r.Word(0), rank), Machine::AtPeer(r.Word(2), rank));
  }
}

// ---- Barriers

void StartBarrier(Run& r) { r.machine.StartBarrier(r.Word(0), r.Int(1)); }
void ArriveAndExpect(Run& r) { r.machine.Arrive(r.Word(1), r.Int(2)); }
void Arrive(Run& r) { r.machine.Arrive(r.Word(1), 0); }
void TryWait(Run& r) {
  r.machine.WaitBarrier(r.Word(1), r.Int(2));
  r.Set(0, 1);
}
void BarSync(Run& r) { r.machine.NamedBarrier(r.Int(0), r.Int(1), true); }
void BarArrive(Run& r) { r.machine.NamedBarrier(r.Int(0), r.Int(1), false); }
void ClusterArrive(Run& r) { r.machine.ClusterArrive(); }
void ClusterWait(Run& r) { r.machine.ClusterWait(); }
void WaitForKernelBefore(Run& r) { r.machine.WaitForKernelBefore(); }

// ---- Shared memory of other blocks

void MapToPeer(Run& r) { r.Set(0, Machine::AtPeer(r.Word(1), r.Word(2))); }

void LoadShared(Run& r) {
  const bool four = r.Has(".v4");
  const char* from = r.machine.SharedAt(r.Word(1), four ? 16 : 4);
  for (int i = 0; i < (four ? 4 : 1); ++i) {
    uint32_t word;
    std::memcpy(&word, from + 4 * i, 4);
    r.Set(four ? r.argument(0).parts[i] : r.argument(0), word);
  }
}

void StoreAsync(Run& r) {
  std::vector<uint32_t> words;
  const Argument& what = r.argument(1);
  if (what.kind == Argument::kVector) {
    for (const Argument& a : what.parts) {
      words.push_back(static_cast<uint32_t>(r.Bits(a)));
    }
  } else {
    words.push_back(r.Word(1));
  }
  const auto bytes = static_cast<int64_t>(4 * words.size());
  char* to = r.machine.SharedAt(r.Word(0), bytes);
  r.machine.Give(r.Word(2), bytes,
                 [=] { std::memcpy(to, words.data(), bytes); });
}

// ---- Products

float Element(DType dtype, uint32_t bits) {
  const auto narrow = static_cast<uint16_t>(bits);
  return dtype == DType::kF16 ? HalfToFloat(narrow) : Bf16ToFloat(narrow);
}
DType TypeOf(const Run& r) {
  return r.Has(".bf16") ? DType::kBF16 : DType::kF16;
}

// Four matrices of 8x8 elements; a lane has two elements of each.
void LoadMatrices(Run& r) {
  const auto* at = r.machine.Exchange(r.name(), r.Word(1));
  const int lane = r.machine.lane();
  for (int i = 0; i < 4; ++i) {
    uint32_t word = 0;
    for (int e = 0; e < 2; ++e) {
      const bool turned = r.Has(".trans");
      const int row = turned ? lane % 4 * 2 + e : lane / 4;
      const int column = turned ? lane / 4 : lane % 4 * 2 + e;
      uint16_t element;
      std::memcpy(&element,
                  r.machine.SharedAt(at[i * 8 + row], 16) + 2 * column, 2);
      word |= static_cast<uint32_t>(element) << 16 * e;
    }
    r.Set(r.argument(0).parts[i], word);
  }
}

// What a lane has of a 16x16 matrix: of rows g and g + 8 the columns 2 * t and
// 2 * t + 1, then these plus 8, where g is lane / 4 and t is lane % 4.
using Fragment = std::array<uint32_t, 4>;
using Rows = std::array<std::array<float, 16>, 2>;
// Of the lane's rows, where `of` says what each lane has.
template <class F>
Rows RowsOf(DType dtype, int lane, F of) {
  Rows rows;
  for (int t = 0; t < 4; ++t) {
    const Fragment& f = of(lane / 4 * 4 + t);
    for (int i = 0; i < 4; ++i) {
      for (int e = 0; e < 2; ++e) {
        rows[i % 2][i / 2 * 8 + t * 2 + e] = Element(dtype, f[i] >> 16 * e);
      }
    }
  }
  return rows;
}

Fragment FragmentAt(const Run& r, size_t n) {
  Fragment f;
  for (int i = 0; i < 4; ++i) {
    f[i] = static_cast<uint32_t>(r.Bits(r.argument(n).parts[i]));
  }
  return f;
}

// d += a b, 16x8 by 16.
void MultiplyOfWarp(Run& r) {
  const DType dtype = TypeOf(r);
  const int lane = r.machine.lane();
  // Of column g the rows 2 * t and 2 * t + 1, then these plus 8.
  struct Factors {
    Fragment a;
    std::array<uint32_t, 2> b;
  };
  Factors mine = {FragmentAt(r, 1), {}};
  for (int i = 0; i < 2; ++i) {
    mine.b[i] = static_cast<uint32_t>(r.Bits(r.argument(2).parts[i]));
  }
  const Factors* all = r.machine.Exchange(r.name(), mine);
  const Rows rows = RowsOf(dtype, lane, [&](int l) { return all[l].a; });
  const std::vector<float*> d = r.Floats(0);
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < 16; ++k) {
      const auto& b = all[(lane % 4 * 2 + j) * 4 + k % 8 / 2].b;
      const float x = Element(dtype, b[k / 8] >> k % 2 * 16);
      *d[j] += rows[0][k] * x;
      *d[2 + j] += rows[1][k] * x;
    }
  }
}

// Where a matrix lies for warpgroups: rows of 64 elements along k, or, if not
// `inner`, along the other index.
struct Tile {
  Machine& machine;
  uint32_t start, across, along;
  bool inner;

  Tile(Machine& m, uint64_t bits, bool inner)
      : machine(m),
        start((bits & 0x3fff) << 4),
        across((bits >> 16 & 0x3fff) << 4),
        along((bits >> 32 & 0x3fff) << 4),
        inner(inner) {
    if (bits >> 62 != 1) m.Fail("tiles have a swizzle of 128 bytes");
  }
  uint16_t At(int i, int k) const {
    const uint32_t at = inner ? start + i / 8 * along + i % 8 * 128 + k * 2
                              : start + i / 64 * across + k / 8 * along +
                                    k % 8 * 128 + i % 64 * 2;
    uint16_t element;
    std::memcpy(&element, machine.SharedAt(Swizzled(at), 2), 2);
    return element;
  }
};

// d = a b or d += a b, 64xN by 16. A warp has 16 rows; of each eight columns a
// thread has those of Fragment. Tiles are read when this is awaited at the
// latest.
void MultiplyOfWarpgroup(Run& r) {
  const DType dtype = TypeOf(r);
  Machine& m = r.machine;
  const int lane = m.lane();
  const std::vector<float*> d = r.Floats(0);
  const auto n = static_cast<int>(2 * d.size());
  const bool more = r.Bits(3) != 0, in_registers = r.count() == 7;
  const Tile b(m, r.Bits(2), r.Bits(r.count() - 1) == 0);
  if (m.Exchange(r.name(), r.Bits(2))[lane ^ 1] != r.Bits(2)) {
    m.Fail("lanes multiply with different tiles");
  }
  auto multiply = [=](const Rows& rows) {
    for (int j = 0; j < n / 8; ++j) {
      for (int e = 0; e < 2; ++e) {
        float x = more ? *d[j * 4 + e] : 0, y = more ? *d[j * 4 + 2 + e] : 0;
        for (int k = 0; k < 16; ++k) {
          const float z = Element(dtype, b.At(j * 8 + lane % 4 * 2 + e, k));
          x += rows[0][k] * z;
          y += rows[1][k] * z;
        }
        *d[j * 4 + e] = x;
        *d[j * 4 + 2 + e] = y;
      }
    }
  };
  if (in_registers) {
    const Fragment* all = m.Exchange(r.name(), FragmentAt(r, 1));
    const Rows rows = RowsOf(dtype, lane, [&](int l) { return all[l]; });
    m.Add(Machine::kProducts, [=] { multiply(rows); });
    return;
  }
  if (r.Bits(6) != 0) m.Fail("rows of a lie along k");
  const Tile a(m, r.Bits(1), true);
  const int warp = static_cast<int>(m.host()->thread.x) / 32 % 4;
  m.Add(Machine::kProducts, [=] {
    Rows rows;
    for (int h = 0; h < 2; ++h) {
      for (int k = 0; k < 16; ++k) {
        rows[h][k] = Element(dtype, a.At(warp * 16 + lane / 4 + h * 8, k));
      }
    }
    multiply(rows);
  });
}

void CommitProducts(Run& r) { r.machine.Commit(Machine::kProducts); }
void AwaitProducts(Run& r) {
  r.machine.Await(Machine::kProducts, r.Bits(0));
  // All lanes are done then.
  r.machine.SyncWarp();
}

// ---- Statements

// By how names start; the first that fits.
constexpr std::pair<absl::string_view, Action> kActions[] = {
    {"cvt.", Convert},
    {"max.NaN.f32", MaxOrMin},
    {"min.NaN.f32", MaxOrMin},
    {"rcp.approx.ftz.f32", Reciprocal},
    {"ex2.approx.ftz.f32", PowerOfTwo},
    {"setp.ne.b32", SetIfUnequal},
    {"selp.u32", Select},
    {"createpolicy.", SetToZero},
    {"prefetch.", Nothing},
    {"cp.async.bulk.prefetch.tensor.2d", Nothing},
    {"cp.async.bulk.tensor.2d.shared::cluster.global", CopyBox},
    {"cp.async.cg.shared.global", Copy16},
    {"cp.async.commit_group", CommitCopies},
    {"cp.async.wait_group", AwaitCopies},
    {"fence.", Nothing},
    {"ld.global.L1::no_allocate.v4.u32", LoadFour},
    {"ld.global.v4.u32", LoadFour},
    {"ld.shared::cluster", LoadShared},
    {"st.async.", StoreAsync},
    {"mapa.shared::cluster.u32", MapToPeer},
    {"mbarrier.init", StartBarrier},
    {"mbarrier.arrive.expect_tx", ArriveAndExpect},
    {"mbarrier.arrive", Arrive},
    {"mbarrier.try_wait.parity", TryWait},
    {"barrier.cluster.arrive", ClusterArrive},
    {"barrier.cluster.wait", ClusterWait},
    {"bar.sync", BarSync},
    {"bar.arrive", BarArrive},
    {"griddepcontrol.launch_dependents", Nothing},
    {"griddepcontrol.wait", WaitForKernelBefore},
    {"ldmatrix.sync.aligned.m8n8.x4", LoadMatrices},
    {"mma.sync.aligned.m16n8k16.row.col", MultiplyOfWarp},
    {"wgmma.fence", Nothing},
    {"wgmma.mma_async", MultiplyOfWarpgroup},
    {"wgmma.commit_group", CommitProducts},
    {"wgmma.wait_group", AwaitProducts},
};

class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text) {}

  // Up to the end, separated by commas.
  std::vector<Argument> List(char end) {
    std::vector<Argument> out;
    while (Skip(), !rest_.empty() && rest_[0] != end) {
      out.push_back(One());
      Skip();
      absl::ConsumePrefix(&rest_, ",");
    }
    absl::ConsumePrefix(&rest_, absl::string_view(&end, 1));
    return out;
  }

 private:
  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  Argument One() {
    if (absl::ConsumePrefix(&rest_, "[")) {
      return {Argument::kMemory, 0, List(']')};
    }
    if (absl::ConsumePrefix(&rest_, "{")) {
      return {Argument::kVector, 0, List('}')};
    }
    if (absl::ConsumePrefix(&rest_, "%")) return {Argument::kOperand, Number()};
    if (absl::ConsumePrefix(&rest_, "p")) return {Argument::kPredicate};
    if (absl::ConsumePrefix(&rest_, "_")) return {Argument::kNothing};
    return {Argument::kNumber, Number()};
  }
  // A fraction counts as 0: policies alone have them.
  int64_t Number() {
    size_t n = 0;
    while (n < rest_.size() && (std::isdigit(rest_[n]) || rest_[n] == '.')) ++n;
    int64_t out = 0;
    if (n == 0 || (!absl::SimpleAtoi(rest_.substr(0, n), &out) &&
                   !absl::StrContains(rest_.substr(0, n), "."))) {
      Machine::Current().Fail(absl::StrCat("no operand: ", rest_));
    }
    rest_.remove_prefix(n);
    return out;
  }

  absl::string_view rest_;
};

Statement Parse(absl::string_view text) {
  Statement out;
  for (absl::string_view part : absl::StrSplit(text, ';')) {
    part = absl::StripAsciiWhitespace(part);
    while (absl::ConsumePrefix(&part, "{") || absl::ConsumePrefix(&part, "}")) {
      part = absl::StripAsciiWhitespace(part);
    }
    if (part.empty() || absl::StartsWith(part, ".reg")) continue;
    Instruction i;
    if (absl::ConsumePrefix(&part, "@p")) {
      i.if_predicate = true;
      part = absl::StripAsciiWhitespace(part);
    }
    const size_t end = part.find_first_of(" \n");
    i.name = std::string(part.substr(0, end));
    if (end != absl::string_view::npos) {
      i.arguments = Parser(part.substr(end)).List('\0');
    }
    for (const auto& [start, action] : kActions) {
      if (i.action == nullptr && absl::StartsWith(i.name, start)) {
        i.action = action;
      }
    }
    if (i.action == nullptr) {
      Machine::Current().Fail(absl::StrCat("not known: ", part));
    }
    out.push_back(std::move(i));
  }
  return out;
}

// Statements of kernels stay: they are few.
const Statement* Parsed(const char* text) {
  static std::mutex mutex;
  static auto* const all =
      new std::map<std::string, std::unique_ptr<const Statement>>();
  auto statement = std::make_unique<const Statement>(Parse(text));
  const std::lock_guard<std::mutex> lock(mutex);
  return all->try_emplace(text, std::move(statement)).first->second.get();
}

}  // namespace

void RunStatement(const char* text, const void** parsed, IsoOperand* operands) {
  if (*parsed == nullptr) *parsed = Parsed(text);
  bool predicate = false;
  for (const Instruction& i : *static_cast<const Statement*>(*parsed)) {
    if (i.if_predicate && !predicate) continue;
    Run run(i, operands, predicate);
    i.action(run);
  }
}

}  // namespace isomer::cuda::emulator
