// The wire format: what is read, what is written, and every way to be wrong.
#include "onnx/wire.h"

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace isomer::onnx {
namespace {

// The fields of a message given in hexadecimal, as text.
std::string Fields(absl::string_view hex) {
  const std::string bytes = absl::HexStringToBytes(hex);
  std::string text;
  absl::Status status = ForEachField(bytes, bytes.data(), [&](const Field& f) {
    absl::StrAppend(&text, f.number, ":", static_cast<int>(f.type), ":",
                    f.type == WireType::kVarint
                        ? absl::StrCat(f.varint)
                        : absl::BytesToHexString(f.payload),
                    "(", f.whole.size(), ") ");
    return absl::OkStatus();
  });
  return status.ok() ? text : std::string(status.message());
}

struct Case {
  const char* hex;
  const char* expected;
};

TEST(WireTest, ReadsFields) {
  const Case cases[] = {
      {"", ""},
      {"0801", "1:0:1(2) "},
      {"08ffffffffffffffffff01", "1:0:18446744073709551615(11) "},
      {"1203616263", "2:2:616263(5) "},
      {"1200", "2:2:(2) "},
      {"1d000080bf", "3:5:000080bf(5) "},
      {"210102030405060708", "4:1:0102030405060708(9) "},
      {"088001", "1:0:128(3) "},
      // A number in more bytes than it needs is legal, and kept as it is.
      {"088100", "1:0:1(3) "},
      {"08011202aabb", "1:0:1(2) 2:2:aabb(4) "},
  };
  for (const Case& c : cases) EXPECT_EQ(Fields(c.hex), c.expected) << c.hex;
}

TEST(WireTest, RejectsMalformedBytes) {
  const Case cases[] = {
      {"08", "at byte 0: cut short or malformed number"},
      {"80", "at byte 0: cut short or malformed field tag"},
      {"0801ff", "at byte 2: cut short or malformed field tag"},
      {"0001", "at byte 0: illegal field number"},
      {"08ffffffffffffffffff02", "at byte 0: cut short or malformed number"},
      {"08ffffffffffffffffffff01", "at byte 0: cut short or malformed number"},
      {"1204616263", "at byte 0: field is longer than what contains it"},
      {"12ffffffffffffffffff01",
       "at byte 0: field is longer than what contains it"},
      {"12ff", "at byte 0: cut short or malformed length"},
      {"1d0000", "at byte 0: field is longer than what contains it"},
      {"2101020304", "at byte 0: field is longer than what contains it"},
      {"0b0c", "at byte 0: groups are not part of ONNX"},
      {"0c", "at byte 0: groups are not part of ONNX"},
      {"0e", "at byte 0: illegal wire type"},
      {"0f", "at byte 0: illegal wire type"},
      {"80808080800100", "at byte 0: illegal field number"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Fields(c.hex),
              absl::StrCat("not a valid protobuf message ", c.expected))
        << c.hex;
  }
}

TEST(WireTest, EveryTruncationIsAnErrorOrAShorterMessage) {
  std::string message;
  PutInt(1, -1, &message);
  PutBytes(2, "hello", &message);
  PutFloat(3, 1.5f, &message);
  int complete = 0;
  for (size_t n = 0; n <= message.size(); ++n) {
    const std::string part = message.substr(0, n);
    if (ForEachField(part, part.data(), [](const Field&) {
          return absl::OkStatus();
        }).ok()) {
      ++complete;
    }
  }
  EXPECT_EQ(complete, 4);  // after 0, 1, 2 and 3 fields
}

// The first field of `hex`, read as a T.
template <class T>
absl::StatusOr<T> ReadAs(absl::string_view hex) {
  const std::string bytes = absl::HexStringToBytes(hex);
  T value{};
  absl::Status status = ForEachField(
      bytes, bytes.data(), [&](const Field& f) { return Read(f, &value); });
  if (!status.ok()) return status;
  return value;
}

template <class T>
absl::StatusOr<std::vector<T>> ReadList(absl::string_view hex) {
  const std::string bytes = absl::HexStringToBytes(hex);
  std::vector<T> values;
  absl::Status status = ForEachField(bytes, bytes.data(), [&](const Field& f) {
    return ReadRepeated(f, &values);
  });
  if (!status.ok()) return status;
  return values;
}

TEST(WireTest, ReadsValues) {
  EXPECT_EQ(*ReadAs<int64_t>("08ffffffffffffffffff01"), -1);
  EXPECT_EQ(*ReadAs<int32_t>("08ffffffff0f"), -1);
  EXPECT_EQ(*ReadAs<float>("0d0000c03f"), 1.5f);
  EXPECT_EQ(*ReadAs<std::string>("0a026869"), "hi");
  // Packed, not packed, and both mixed.
  EXPECT_EQ(*ReadList<int64_t>("0a03018001"), (std::vector<int64_t>{1, 128}));
  EXPECT_EQ(*ReadList<int64_t>("0801088001"), (std::vector<int64_t>{1, 128}));
  EXPECT_EQ(*ReadList<int64_t>("0a01010802"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*ReadList<float>("0a080000803f00000040"),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(*ReadList<float>("0d0000803f"), (std::vector<float>{1}));
  EXPECT_TRUE(ReadList<float>("0a00")->empty());
}

TEST(WireTest, RejectsWrongTypes) {
  EXPECT_EQ(ReadAs<int64_t>("0a026869").status().message(),
            "field 1 has wire type length-delimited instead of varint");
  EXPECT_EQ(ReadAs<std::string>("0801").status().message(),
            "field 1 has wire type varint instead of length-delimited");
  EXPECT_EQ(ReadAs<float>("0801").status().message(),
            "field 1 has wire type varint instead of fixed32");
  EXPECT_EQ(ReadList<int64_t>("0d0000803f").status().message(),
            "field 1 has wire type fixed32 instead of varint");
  EXPECT_EQ(ReadList<int64_t>("0a0180").status().message(),
            "field 1 holds a malformed number");
  EXPECT_EQ(ReadList<float>("0a03000000").status().message(),
            "field 1 holds 3 bytes, which is no number of floats");
  EXPECT_EQ(ReadList<float>("0801").status().message(),
            "field 1 has wire type varint instead of fixed32");
}

TEST(WireTest, WritesWhatItReads) {
  std::string out;
  PutInt(1, 300, &out);
  PutInt(2, -1, &out);
  PutFloat(3, 1.0f, &out);
  PutBytes(16, "ab", &out);
  PutHeader(5, 300, &out);
  EXPECT_EQ(absl::BytesToHexString(out),
            "08ac02"
            "10ffffffffffffffffff01"
            "1d0000803f"
            "8201026162"
            "2aac02");
}

}  // namespace
}  // namespace isomer::onnx
