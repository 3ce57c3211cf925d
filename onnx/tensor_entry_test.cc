// Tensors: each way to hold elements gives the same bytes, and data that does
// not match its shape is found out.
#include "onnx/tensor_entry.h"

#include <functional>
#include <limits>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "onnx_ml.pb.h"

namespace isomer::onnx {
namespace {

using onnx_pb::TensorProto;

absl::StatusOr<TensorEntry> ReadBytes(const std::string& bytes) {
  ExternalFiles none("");
  const SharedBytes message = SharedBytes::Own(bytes);
  return ReadTensor(message, message.view.data(), &none);
}

TensorProto Proto(int dtype, const std::vector<int64_t>& dims) {
  TensorProto t;
  t.set_name("t");
  t.set_data_type(dtype);
  for (int64_t d : dims) t.add_dims(d);
  return t;
}

// The elements in hexadecimal, or the error.
std::string Elements(const TensorProto& proto) {
  absl::StatusOr<TensorEntry> t = ReadBytes(proto.SerializeAsString());
  if (!t.ok()) return std::string(t.status().message());
  absl::StatusOr<SharedBytes> bytes = TensorBytes(*t);
  if (!bytes.ok()) return std::string(bytes.status().message());
  return absl::BytesToHexString(bytes->view);
}

struct Case {
  int dtype;
  std::vector<int64_t> dims;
  std::function<void(TensorProto*)> fill;
  const char* expected;
};

TEST(TensorEntryTest, DecodesEveryField) {
  const Case cases[] = {
      {TensorProto::FLOAT,
       {2},
       [](TensorProto* t) {
         t->add_float_data(1);
         t->add_float_data(-2);
       },
       "0000803f000000c0"},
      {TensorProto::DOUBLE,
       {1},
       [](TensorProto* t) { t->add_double_data(1); },
       "000000000000f03f"},
      {TensorProto::INT64,
       {2},
       [](TensorProto* t) {
         t->add_int64_data(-1);
         t->add_int64_data(300);
       },
       "ffffffffffffffff2c01000000000000"},
      {TensorProto::INT32,
       {1},
       [](TensorProto* t) { t->add_int32_data(-2); },
       "feffffff"},
      {TensorProto::UINT64,
       {1},
       [](TensorProto* t) {
         t->add_uint64_data(std::numeric_limits<uint64_t>::max());
       },
       "ffffffffffffffff"},
      {TensorProto::UINT32,
       {1},
       [](TensorProto* t) { t->add_uint64_data(0x80000001); },
       "01000080"},
      {TensorProto::FLOAT16,
       {2},
       [](TensorProto* t) {
         t->add_int32_data(0x3c00);
         t->add_int32_data(0xbc00);
       },
       "003c00bc"},
      {TensorProto::BFLOAT16,
       {1},
       [](TensorProto* t) { t->add_int32_data(0x3f80); },
       "803f"},
      {TensorProto::INT8,
       {2},
       [](TensorProto* t) {
         t->add_int32_data(-1);
         t->add_int32_data(7);
       },
       "ff07"},
      {TensorProto::BOOL,
       {2},
       [](TensorProto* t) {
         t->add_int32_data(1);
         t->add_int32_data(0);
       },
       "0100"},
      {TensorProto::INT16,
       {1},
       [](TensorProto* t) { t->add_int32_data(-2); },
       "feff"},
      // Two elements in a number; three elements take two numbers.
      {TensorProto::INT4,
       {3},
       [](TensorProto* t) {
         t->add_int32_data(0x21);
         t->add_int32_data(0x03);
       },
       "2103"},
      // Six bits: one element in a number, packed only as raw data.
      {27,
       {3},
       [](TensorProto* t) {
         for (int v : {1, 2, 3}) t->add_int32_data(v);
       },
       "813000"},
      {TensorProto::COMPLEX64,
       {1},
       [](TensorProto* t) {
         t->add_float_data(1);
         t->add_float_data(2);
       },
       "0000803f00000040"},
      {TensorProto::FLOAT,
       {},
       [](TensorProto* t) { t->add_float_data(1); },
       "0000803f"},
      {TensorProto::FLOAT, {0, 5}, [](TensorProto*) {}, ""},
      {TensorProto::INT64, {0}, [](TensorProto*) {}, ""},
      {TensorProto::INT16,
       {2},
       [](TensorProto* t) { t->set_raw_data("abcd"); },
       "61626364"},
      // A type from the future is kept as long as it is raw.
      {99, {2}, [](TensorProto* t) { t->set_raw_data("xyz"); }, "78797a"},
  };
  for (const Case& c : cases) {
    TensorProto t = Proto(c.dtype, c.dims);
    c.fill(&t);
    EXPECT_EQ(Elements(t), c.expected) << TypeText(c.dtype, c.dims);
  }
}

TEST(TensorEntryTest, ReadsNumbersThatAreNotPacked) {
  // dims packed, float_data not: the other way round than protobuf writes.
  const std::string bytes = absl::HexStringToBytes(
      "0a0201021001"
      "250000803f"
      "2500000040");
  absl::StatusOr<TensorEntry> t = ReadBytes(bytes);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(TypeText(t->dtype, t->dims), "FLOAT[1,2]");
  EXPECT_EQ(absl::BytesToHexString(TensorBytes(*t)->view), "0000803f00000040");
}

TEST(TensorEntryTest, GivesRawAndPackedFloatDataInPlace) {
  TensorProto raw = Proto(TensorProto::INT64, {1});
  raw.set_raw_data("12345678");
  TensorProto packed = Proto(TensorProto::FLOAT, {2});
  packed.add_float_data(1);
  packed.add_float_data(2);
  for (const TensorProto& proto : {raw, packed}) {
    ExternalFiles none("");
    const SharedBytes message = SharedBytes::Own(proto.SerializeAsString());
    absl::StatusOr<TensorEntry> t =
        ReadTensor(message, message.view.data(), &none);
    ASSERT_TRUE(t.ok()) << t.status();
    const SharedBytes bytes = *TensorBytes(*t);
    EXPECT_GE(bytes.view.data(), message.view.data());
    EXPECT_LE(bytes.view.data() + bytes.view.size(),
              message.view.data() + message.view.size());
  }
}

TEST(TensorEntryTest, ReadsStrings) {
  TensorProto t = Proto(TensorProto::STRING, {3});
  t.add_string_data("a");
  t.add_string_data("");
  t.add_string_data(std::string("\0b", 2));
  absl::StatusOr<TensorEntry> entry = ReadBytes(t.SerializeAsString());
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(*TensorStrings(*entry),
            (std::vector<std::string>{"a", "", std::string("\0b", 2)}));
  EXPECT_EQ(TensorBytes(*entry).status().message(),
            "tensor 't': has elements that are not numbers");
  EXPECT_EQ(TensorRef(*entry)->strings.size(), 3);
}

TEST(TensorEntryTest, RejectsDataThatDoesNotMatch) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const Case cases[] = {
      {0,
       {1},
       [](TensorProto* t) { t->set_raw_data("abcd"); },
       "tensor 't' UNDEFINED[1]: has no element type"},
      {TensorProto::FLOAT,
       {2},
       [](TensorProto* t) { t->set_raw_data("abcd"); },
       "tensor 't' FLOAT[2]: data has 4 bytes, but the shape needs 8"},
      {TensorProto::FLOAT,
       {2},
       [](TensorProto*) {},
       "tensor 't' FLOAT[2]: data has 0 elements, but the shape needs 2"},
      {TensorProto::INT64,
       {3},
       [](TensorProto* t) { t->add_int64_data(1); },
       "tensor 't' INT64[3]: data has 1 elements, but the shape needs 3"},
      {TensorProto::INT4,
       {3},
       [](TensorProto* t) { t->add_int32_data(1); },
       "tensor 't' INT4[3]: data has 1 elements, but the shape needs 2"},
      {TensorProto::INT64,
       {1},
       [](TensorProto* t) { t->add_float_data(1); },
       "tensor 't' INT64[1]: elements are in field 4, which its type does not "
       "use"},
      {TensorProto::FLOAT,
       {1},
       [](TensorProto* t) {
         t->add_float_data(1);
         t->set_raw_data("abcd");
       },
       "tensor 't' FLOAT[1]: data is given twice, in fields 4 and 9"},
      {TensorProto::FLOAT,
       {-1},
       [](TensorProto*) {},
       "tensor 't' FLOAT[-1]: has the negative dimension -1"},
      {TensorProto::FLOAT,
       {kHuge, 4},
       [](TensorProto*) {},
       "tensor 't' FLOAT[4611686018427387904,4]: has more elements than memory "
       "has addresses"},
      {TensorProto::FLOAT,
       {kHuge},
       [](TensorProto*) {},
       "tensor 't' FLOAT[4611686018427387904]: needs more bytes than memory "
       "has addresses"},
      {TensorProto::STRING,
       {1},
       [](TensorProto* t) { t->set_raw_data("a"); },
       "tensor 't' STRING[1]: strings as raw_data"},
      {TensorProto::STRING,
       {2},
       [](TensorProto* t) { t->add_string_data("a"); },
       "tensor 't' STRING[2]: data has 1 elements, but the shape needs 2"},
      {TensorProto::FLOAT,
       {1},
       [](TensorProto* t) {
         t->mutable_segment()->set_begin(0);
         t->set_raw_data("abcd");
       },
       "tensor 't' FLOAT[1]: is stored in segments"},
      {99,
       {1},
       [](TensorProto*) {},
       "tensor 't' type 99[1]: is of an unknown type and has no raw data"},
      {TensorProto::FLOAT,
       {1},
       [](TensorProto* t) { t->set_data_location(TensorProto::EXTERNAL); },
       "tensor 't' FLOAT[1]: external data has no location"},
  };
  for (const Case& c : cases) {
    TensorProto t = Proto(c.dtype, c.dims);
    c.fill(&t);
    EXPECT_EQ(Elements(t), c.expected);
  }
}

TEST(TensorEntryTest, GeneratesWhatIsNotStored) {
  TensorEntry t = NewTensor("t", TensorProto::UINT8, {3}, {});
  t.place = TensorEntry::Place::kGenerated;
  EXPECT_EQ(TensorBytes(t).status().message(),
            "tensor 't': has nothing that generates its data");
  t.fill = [](int64_t offset, absl::Span<char> out) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = 'a' + offset + i;
  };
  EXPECT_EQ(TensorBytes(t)->view, "abc");
}

}  // namespace
}  // namespace isomer::onnx
