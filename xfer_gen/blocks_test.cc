// Blocks do what the instructions say, one after the other.
#include "xfer_gen/blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace isomer::gen {

namespace {

using Kind = Instruction::Kind;

// Arrays: 0 constants, 1 and 2 written to, 3 and 4 read.
constexpr uint32_t kArrays = 5;
constexpr uint32_t kPlaces = 200;

using Arrays = std::vector<std::vector<Field>>;

Arrays Random(std::mt19937_64& random) {
  Arrays arrays(kArrays, std::vector<Field>(kPlaces));
  for (auto& array : arrays) {
    for (Field& f : array) f = Field::FromWide(random());
  }
  return arrays;
}

void Add(Code& code, Kind kind, Ref out, std::vector<Ref> args,
         bool uniform = false) {
  Instruction i{.kind = kind,
                .uniform = uniform,
                .out = out,
                .first = static_cast<uint32_t>(code.operands.size()),
                .count = static_cast<uint32_t>(args.size())};
  if (kind == Kind::kFunction) i.function = Exp;
  code.operands.insert(code.operands.end(), args.begin(), args.end());
  code.instructions.push_back(i);
}

// One instruction, by its definition.
Field ValueOf(const Code& code, const Instruction& i, const Arrays& arrays) {
  auto at = [&](uint32_t k) {
    const Ref r = code.operands[i.first + k];
    return arrays[r.array()][r.place()];
  };
  if (i.kind == Kind::kFunction) return i.function(at(0));
  if (i.kind == Kind::kDot) {
    Field sum;
    for (uint32_t k = 0; k < i.count; k += 2) sum = sum + at(k) * at(k + 1);
    return sum;
  }
  Field v = at(0);
  for (uint32_t k = 1; k < i.count; ++k) {
    if (i.kind == Kind::kSum) v = v + at(k);
    if (i.kind == Kind::kProduct) v = v * at(k);
    if (i.kind == Kind::kDiv) v = v / at(k);
    if (i.kind == Kind::kMax) v = Max(v, at(k));
    if (i.kind == Kind::kMin) v = Min(v, at(k));
  }
  return v;
}

// Runs both ways and compares all arrays.
void ExpectSame(const Code& code, const std::vector<Instruction>& instructions,
                Arrays arrays) {
  Arrays want = arrays;
  for (const Instruction& i : instructions) {
    want[i.out.array()][i.out.place()] = ValueOf(code, i, want);
  }
  const Field* read[kArrays];
  Field* written[kArrays] = {};
  for (uint32_t a = 0; a < kArrays; ++a) read[a] = arrays[a].data();
  for (uint32_t a = 1; a < 3; ++a) written[a] = arrays[a].data();
  Blocks(code, instructions).Run(read, written);
  EXPECT_EQ(arrays, want);
}

TEST(Blocks, DoesNothingWithoutInstructions) {
  std::mt19937_64 random(1);
  ExpectSame({}, {}, Random(random));
}

TEST(Blocks, RunsMixedInstructions) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    Code code;
    auto ref = [&] {
      return Ref(static_cast<uint32_t>(random() % kArrays),
                 static_cast<uint32_t>(random() % kPlaces));
    };
    auto out = [&] {
      return Ref(1 + static_cast<uint32_t>(random() % 2),
                 static_cast<uint32_t>(random() % kPlaces));
    };
    while (code.instructions.size() < 60) {
      const Kind kind = static_cast<Kind>(random() % 7);
      const uint32_t a = random() % kArrays, b = random() % kArrays;
      const bool uniform = random() % 2 == 0;
      // Long enough for sums of products to be reduced in between.
      const size_t count = kind == Kind::kFunction ? 1
                           : kind == Kind::kDiv    ? 2
                           : kind == Kind::kDot    ? 2 + 2 * (random() % 90)
                                                   : 1 + random() % 4;
      for (size_t times = 1 + random() % 5; times > 0; --times) {
        std::vector<Ref> args;
        for (size_t k = 0; k < count; ++k) {
          args.push_back(uniform ? Ref(k % 2 == 0 ? a : b, ref().place())
                                 : ref());
        }
        Add(code, kind, out(), args, kind == Kind::kDot && uniform);
      }
    }
    ExpectSame(code, code.instructions, Random(random));
  }
}

TEST(Blocks, SumsTheGreatestProducts) {
  std::mt19937_64 random(3);
  Arrays arrays = Random(random);
  for (Field& f : arrays[3]) f = -Field::FromInt(1);
  for (bool uniform : {true, false}) {
    Code code;
    std::vector<Ref> args;
    for (uint32_t k = 0; k < 2000; ++k) args.push_back(Ref(3, k % kPlaces));
    Add(code, Kind::kDot, Ref(2, 0), args, uniform);
    ExpectSame(code, code.instructions, arrays);
  }
}

TEST(Blocks, CopiesStretches) {
  std::mt19937_64 random(4);
  Code code;
  for (uint32_t k = 0; k < 40; ++k)
    Add(code, Kind::kSum, Ref(2, k), {Ref(3, k + 9)});
  for (uint32_t k = 0; k < 40; ++k)
    Add(code, Kind::kSum, Ref(2, 99 - k), {Ref(3, k)});
  ExpectSame(code, code.instructions, Random(random));
}

// A stretch must not be copied at once where it reads what it has written.
TEST(Blocks, CopiesOfCopies) {
  std::mt19937_64 random(5);
  Code code;
  for (uint32_t k = 0; k < 60; ++k) {
    Add(code, Kind::kSum, Ref(1, 10 + k), {Ref(1, k)});
  }
  for (uint32_t k = 0; k < 60; ++k) {
    Add(code, Kind::kSum, Ref(1, 100 + k), {Ref(1, 101 + k)});
  }
  ExpectSame(code, code.instructions, Random(random));
}

TEST(Blocks, TakesSomeOfTheInstructions) {
  std::mt19937_64 random(6);
  Code code;
  for (uint32_t k = 0; k < 50; ++k) {
    Add(code, Kind::kSum, Ref(2, k), {Ref(3, k), Ref(4, k)});
  }
  std::vector<Instruction> some;
  for (size_t k = 0; k < 50; k += 3) some.push_back(code.instructions[k]);
  ExpectSame(code, some, Random(random));
}

}  // namespace

}  // namespace isomer::gen
