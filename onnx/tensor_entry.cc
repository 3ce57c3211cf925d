// One pass over a TensorProto finds which of its data fields is in use; a
// second one, made only when the elements are wanted, decodes it.
#include "onnx/tensor_entry.h"

#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "onnx/wire.h"
#include "onnx_ml.pb.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

using Proto = onnx_pb::TensorProto;

struct TypeInfo {
  const char* name;
  int bits;
  int typed_field;  // the field that holds elements when raw_data does not
};

constexpr int kFloats = Proto::kFloatDataFieldNumber;
constexpr int kDoubles = Proto::kDoubleDataFieldNumber;
constexpr int kInt32s = Proto::kInt32DataFieldNumber;
constexpr int kInt64s = Proto::kInt64DataFieldNumber;
constexpr int kUint64s = Proto::kUint64DataFieldNumber;
constexpr int kStrings = Proto::kStringDataFieldNumber;

// By TensorProto.DataType.
constexpr TypeInfo kTypes[] = {
    {"UNDEFINED", 0, 0},
    {"FLOAT", 32, kFloats},
    {"UINT8", 8, kInt32s},
    {"INT8", 8, kInt32s},
    {"UINT16", 16, kInt32s},
    {"INT16", 16, kInt32s},
    {"INT32", 32, kInt32s},
    {"INT64", 64, kInt64s},
    {"STRING", 0, kStrings},
    {"BOOL", 8, kInt32s},
    {"FLOAT16", 16, kInt32s},
    {"DOUBLE", 64, kDoubles},
    {"UINT32", 32, kUint64s},
    {"UINT64", 64, kUint64s},
    {"COMPLEX64", 64, kFloats},
    {"COMPLEX128", 128, kDoubles},
    {"BFLOAT16", 16, kInt32s},
    {"FLOAT8E4M3FN", 8, kInt32s},
    {"FLOAT8E4M3FNUZ", 8, kInt32s},
    {"FLOAT8E5M2", 8, kInt32s},
    {"FLOAT8E5M2FNUZ", 8, kInt32s},
    {"UINT4", 4, kInt32s},
    {"INT4", 4, kInt32s},
    {"FLOAT4E2M1", 4, kInt32s},
    {"FLOAT8E8M0", 8, kInt32s},
    {"UINT2", 2, kInt32s},
    {"INT2", 2, kInt32s},
    {"FLOAT6E2M3", 6, kInt32s},
    {"FLOAT6E3M2", 6, kInt32s},
};

const TypeInfo* InfoOf(int32_t dtype) {
  if (dtype < 0 || dtype >= static_cast<int32_t>(std::size(kTypes))) {
    return nullptr;
  }
  return &kTypes[dtype];
}

bool IsFixed(int field) { return field == kFloats || field == kDoubles; }

// What one pass over a TensorProto finds.
struct Scan {
  TensorEntry entry;
  int data_field = 0;       // the data field in use
  int64_t typed_count = 0;  // numbers or strings in it
  int64_t typed_fields = 0;
  absl::string_view first;  // its first payload
  int64_t location = 0;
  bool segmented = false;
  std::vector<std::pair<std::string, std::string>> external;
};

// Counts the elements of a typed data field.
absl::Status CountTyped(const Field& f, int64_t* count) {
  if (f.number == kStrings) {
    ++*count;
    absl::string_view ignored;
    return ReadMessage(f, &ignored);
  }
  if (!IsFixed(f.number)) {
    return ForEachVarint(f, [&](uint64_t) { ++*count; });
  }
  const WireType single =
      f.number == kFloats ? WireType::kFixed32 : WireType::kFixed64;
  const size_t width = f.number == kFloats ? 4 : 8;
  if ((f.type != single && f.type != WireType::kBytes) ||
      f.payload.size() % width != 0) {
    return Invalid("field ", f.number, " is malformed");
  }
  *count += f.payload.size() / width;
  return absl::OkStatus();
}

absl::Status ScanData(const Field& f, Scan* scan) {
  int64_t count = 0;
  if (f.number == Proto::kRawDataFieldNumber) {
    absl::string_view payload;
    RETURN_IF_ERROR(ReadMessage(f, &payload));
    count = payload.size();
    // Repeated, the last one holds: the field is not a list.
    if (scan->data_field == f.number) scan->typed_fields = 0;
  } else {
    RETURN_IF_ERROR(CountTyped(f, &count));
  }
  if (count == 0) return absl::OkStatus();
  if (scan->data_field != 0 && scan->data_field != f.number) {
    return Invalid("data is given twice, in fields ", scan->data_field, " and ",
                   f.number);
  }
  scan->data_field = f.number;
  scan->typed_count += count;
  if (scan->typed_fields++ == 0) scan->first = f.payload;
  return absl::OkStatus();
}

absl::Status ScanField(const Field& f, const char* origin, Scan* scan) {
  switch (f.number) {
    case Proto::kDimsFieldNumber:
      return ReadRepeated(f, &scan->entry.dims);
    case Proto::kDataTypeFieldNumber:
      return Read(f, &scan->entry.dtype);
    case Proto::kNameFieldNumber:
      return Read(f, &scan->entry.name);
    case Proto::kSegmentFieldNumber:
      scan->segmented = true;
      return absl::OkStatus();
    case Proto::kDataLocationFieldNumber:
      return Read(f, &scan->location);
    case Proto::kExternalDataFieldNumber: {
      absl::string_view message;
      RETURN_IF_ERROR(ReadMessage(f, &message));
      return ReadPair(message, origin, &scan->external.emplace_back());
    }
    case Proto::kRawDataFieldNumber:
    case kFloats:
    case kDoubles:
    case kInt32s:
    case kInt64s:
    case kUint64s:
    case kStrings:
      return ScanData(f, scan);
    default:
      return absl::OkStatus();
  }
}

absl::Status ParseOffset(absl::string_view key, const std::string& text,
                         int64_t* value) {
  if (!absl::SimpleAtoi(text, value) || *value < 0) {
    return Invalid("external data has the ", key, " '", text,
                   "', which is no byte count");
  }
  return absl::OkStatus();
}

absl::Status FindExternal(const Scan& scan, std::optional<int64_t> size,
                          ExternalFiles* files, TensorEntry* entry) {
  ExternalRef ref;
  int64_t length = -1;
  for (const auto& [key, value] : scan.external) {
    if (key == "location") ref.location = value;
    if (key == "offset") RETURN_IF_ERROR(ParseOffset(key, value, &ref.offset));
    if (key == "length") RETURN_IF_ERROR(ParseOffset(key, value, &length));
  }
  ASSIGN_OR_RETURN(SharedBytes file, files->Open(ref.location));
  const int64_t available = file.view.size();
  if (length < 0) length = size.value_or(available - ref.offset);
  if (size && length != *size) {
    return Invalid("external data '", ref.location, "' has ", length,
                   " bytes, but the shape needs ", *size);
  }
  // Compared without adding: the sum may overflow.
  if (ref.offset > available || length > available - ref.offset) {
    return Invalid("external data '", ref.location, "' has ", available,
                   " bytes, but the tensor lies at offset ", ref.offset,
                   " with length ", length);
  }
  ref.length = length;
  entry->data = file.Part(file.view.substr(ref.offset, length));
  entry->external = std::move(ref);
  return absl::OkStatus();
}

absl::Status CheckSize(int64_t found, int64_t expected,
                       absl::string_view unit) {
  if (found == expected) return absl::OkStatus();
  return Invalid("data has ", found, " ", unit, ", but the shape needs ",
                 expected);
}

// How many numbers a typed field holds for `count` elements of `size` bytes.
int64_t TypedCount(const TypeInfo& info, int64_t count, int64_t size) {
  if (info.typed_field == kFloats) return size / 4;
  if (info.typed_field == kDoubles) return size / 8;
  return info.bits == 4 || info.bits == 2 ? size : count;
}

// Decides where the elements are and checks that they match the type.
absl::Status Locate(const SharedBytes& message, const Scan& scan,
                    ExternalFiles* files, TensorEntry* entry) {
  const TypeInfo* info = InfoOf(entry->dtype);
  if (entry->dtype == 0) return Invalid("has no element type");
  if (scan.segmented) return Invalid("is stored in segments");
  ASSIGN_OR_RETURN(int64_t count, ElementCount(entry->dims));
  ASSIGN_OR_RETURN(std::optional<int64_t> size,
                   DataSize(entry->dtype, entry->dims));
  if (scan.location == Proto::EXTERNAL) {
    if (entry->dtype == Proto::STRING) return Invalid("strings are external");
    if (scan.data_field != 0) {
      return Invalid("data is given twice, here and as external data");
    }
    return FindExternal(scan, size, files, entry);
  }
  if (scan.data_field == Proto::kRawDataFieldNumber) {
    if (entry->dtype == Proto::STRING) return Invalid("strings as raw_data");
    const int64_t found = scan.first.size();
    RETURN_IF_ERROR(CheckSize(found, size.value_or(found), "bytes"));
    entry->data = message.Part(scan.first);
    return absl::OkStatus();
  }
  if (info == nullptr)
    return Invalid("is of an unknown type and has no raw data");
  if (scan.data_field != 0 && scan.data_field != info->typed_field) {
    return Invalid("elements are in field ", scan.data_field,
                   ", which its type does not use");
  }
  const bool strings = entry->dtype == Proto::STRING;
  const int64_t expected = strings ? count : TypedCount(*info, count, *size);
  RETURN_IF_ERROR(CheckSize(scan.typed_count, expected, "elements"));
  if (strings) {
    entry->place = TensorEntry::Place::kStrings;
  } else if (expected == 0) {
    return absl::OkStatus();
  } else if (IsFixed(scan.data_field) && scan.typed_fields == 1) {
    entry->data = message.Part(scan.first);  // packed floats are raw data
    return absl::OkStatus();
  } else {
    entry->place = TensorEntry::Place::kTyped;
  }
  entry->data = message;
  return absl::OkStatus();
}

// Appends numbers to raw data: bytes for whole ones, a bit stream for 6 bits.
class RawAppender {
 public:
  RawAppender(int bits, std::string* out) : bits_(bits), out_(out) {}

  void Add(uint64_t value) {
    if (bits_ != 6) {
      const int bytes = bits_ < 8 ? 1 : bits_ / 8;
      for (int i = 0; i < bytes; ++i) {
        out_->push_back(static_cast<char>(value >> (8 * i)));
      }
      return;
    }
    pending_ |= (value & 63) << held_;
    held_ += 6;
    if (held_ >= 8) Flush();
  }
  // Writes the last, partly filled byte.
  void Finish() {
    if (held_ > 0) Flush();
  }

 private:
  void Flush() {
    out_->push_back(static_cast<char>(pending_));
    pending_ >>= 8;
    held_ = held_ > 8 ? held_ - 8 : 0;
  }

  int bits_;
  std::string* out_;
  uint64_t pending_ = 0;
  int held_ = 0;
};

absl::StatusOr<SharedBytes> DecodeTyped(const TensorEntry& tensor,
                                        int64_t size) {
  const TypeInfo& info = kTypes[tensor.dtype];
  std::string out;
  out.reserve(size);
  RawAppender append(info.bits, &out);
  RETURN_IF_ERROR(ForEachField(
      tensor.data.view, tensor.data.view.data(), [&](const Field& f) {
        if (f.number != info.typed_field) return absl::OkStatus();
        if (IsFixed(f.number)) {
          out.append(f.payload.data(), f.payload.size());
          return absl::OkStatus();
        }
        return ForEachVarint(f, [&](uint64_t v) { append.Add(v); });
      }));
  append.Finish();
  RETURN_IF_ERROR(CheckSize(out.size(), size, "bytes"));
  return SharedBytes::Own(std::move(out));
}

absl::StatusOr<SharedBytes> BytesOrError(const TensorEntry& tensor) {
  if (tensor.place == TensorEntry::Place::kBytes) return tensor.data;
  ASSIGN_OR_RETURN(std::optional<int64_t> size,
                   DataSize(tensor.dtype, tensor.dims));
  if (!size) return Invalid("has elements that are not numbers");
  if (tensor.place == TensorEntry::Place::kTyped) {
    return DecodeTyped(tensor, *size);
  }
  if (!tensor.fill) return Invalid("has nothing that generates its data");
  std::string out(*size, '\0');
  tensor.fill(0, absl::MakeSpan(out.data(), out.size()));
  return SharedBytes::Own(std::move(out));
}

}  // namespace

TensorEntry NewTensor(std::string name, int32_t dtype,
                      std::vector<int64_t> dims, SharedBytes bytes) {
  TensorEntry entry;
  entry.name = std::move(name);
  entry.dtype = dtype;
  entry.dims = std::move(dims);
  entry.data = std::move(bytes);
  return entry;
}

std::string TypeText(int32_t dtype, absl::Span<const int64_t> dims) {
  const TypeInfo* info = InfoOf(dtype);
  return absl::StrCat(
      info != nullptr ? info->name : absl::StrCat("type ", dtype), "[",
      absl::StrJoin(dims, ","), "]");
}

int ElementBits(int32_t dtype) {
  const TypeInfo* info = InfoOf(dtype);
  return info == nullptr ? 0 : info->bits;
}

absl::StatusOr<int64_t> ElementCount(absl::Span<const int64_t> dims) {
  int64_t count = 1;
  bool overflow = false;
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) return Invalid("has the negative dimension ", d);
    zero = zero || d == 0;
    overflow = __builtin_mul_overflow(count, d, &count) || overflow;
  }
  if (zero) return 0;
  if (overflow) return Invalid("has more elements than memory has addresses");
  return count;
}

absl::StatusOr<std::optional<int64_t>> DataSize(
    int32_t dtype, absl::Span<const int64_t> dims) {
  ASSIGN_OR_RETURN(int64_t count, ElementCount(dims));
  const int bits = ElementBits(dtype);
  if (bits == 0) return std::optional<int64_t>();
  int64_t total = 0;
  if (__builtin_mul_overflow(count, bits, &total) ||
      __builtin_add_overflow(total, 7, &total)) {
    return Invalid("needs more bytes than memory has addresses");
  }
  return std::optional<int64_t>(total / 8);
}

absl::StatusOr<TensorEntry> ReadTensor(const SharedBytes& message,
                                       const char* origin,
                                       ExternalFiles* external) {
  Scan scan;
  absl::Status status = ForEachField(
      message.view, origin,
      [&](const Field& field) { return ScanField(field, origin, &scan); });
  TensorEntry entry = scan.entry;
  if (status.ok()) status = Locate(message, scan, external, &entry);
  if (status.ok()) return entry;
  return Prefixed(absl::StrCat("tensor '", entry.name, "' ",
                               TypeText(entry.dtype, entry.dims), ": "),
                  status);
}

absl::StatusOr<SharedBytes> TensorBytes(const TensorEntry& tensor) {
  absl::StatusOr<SharedBytes> bytes = BytesOrError(tensor);
  if (bytes.ok()) return bytes;
  return Prefixed(absl::StrCat("tensor '", tensor.name, "': "), bytes.status());
}

absl::StatusOr<std::vector<std::string>> TensorStrings(
    const TensorEntry& tensor) {
  std::vector<std::string> strings;
  if (tensor.place != TensorEntry::Place::kStrings) {
    return Invalid("tensor '", tensor.name, "' does not hold strings");
  }
  RETURN_IF_ERROR(ForEachField(tensor.data.view, tensor.data.view.data(),
                               [&](const Field& f) {
                                 if (f.number != kStrings)
                                   return absl::OkStatus();
                                 return Read(f, &strings.emplace_back());
                               }));
  return strings;
}

absl::StatusOr<OnnxTensorRef> TensorRef(const TensorEntry& tensor) {
  OnnxTensorRef ref;
  ref.name = tensor.name;
  ref.dtype = tensor.dtype;
  ref.dims = tensor.dims;
  if (tensor.place == TensorEntry::Place::kStrings) {
    ASSIGN_OR_RETURN(ref.strings, TensorStrings(tensor));
  } else {
    ASSIGN_OR_RETURN(ref.bytes, TensorBytes(tensor));
  }
  return ref;
}

}  // namespace isomer::onnx
