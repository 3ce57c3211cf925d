// Every read is checked against the end of the message that contains it, so a
// length that lies is found before it is used.
#include "onnx/wire.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor data is used in place, so the host is little-endian");

// Takes a varint off the front of `in`; false if it is cut short or over-long,
// else `in` has moved on.
bool TakeVarint(absl::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < 10 && i < in->size(); ++i) {
    const uint64_t byte = static_cast<unsigned char>((*in)[i]);
    if (i == 9 && byte > 1) return false;  // beyond 64 bits
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

absl::string_view TypeName(WireType type) {
  switch (type) {
    case WireType::kVarint:
      return "varint";
    case WireType::kFixed64:
      return "fixed64";
    case WireType::kBytes:
      return "length-delimited";
    case WireType::kFixed32:
      return "fixed32";
  }
  return "?";
}

absl::Status WrongType(const Field& field, WireType expected) {
  return Invalid("field ", field.number, " has wire type ",
                 TypeName(field.type), " instead of ", TypeName(expected));
}

// Takes one field off the front of `rest`; gives what is wrong, or null.
const char* TakeField(absl::string_view* rest, Field* field) {
  const absl::string_view start = *rest;
  uint64_t tag = 0;
  if (!TakeVarint(rest, &tag)) return "cut short or malformed field tag";
  if (tag > 0xffffffffu || tag >> 3 == 0) return "illegal field number";
  field->number = static_cast<int>(tag >> 3);
  field->type = static_cast<WireType>(tag & 7);
  field->varint = 0;
  uint64_t size = 0;
  absl::string_view body = *rest;
  switch (tag & 7) {
    case 0:
      if (!TakeVarint(rest, &field->varint)) {
        return "cut short or malformed number";
      }
      size = rest->data() - body.data();
      break;
    case 1:
      size = 8;
      break;
    case 2:
      if (!TakeVarint(&body, &size)) return "cut short or malformed length";
      break;
    case 5:
      size = 4;
      break;
    case 3:
    case 4:
      return "groups are not part of ONNX";
    default:
      return "illegal wire type";
  }
  if (size > body.size()) return "field is longer than what contains it";
  field->payload = body.substr(0, size);
  *rest = body.substr(size);
  field->whole = start.substr(0, start.size() - rest->size());
  return nullptr;
}

}  // namespace

absl::Status ForEachField(absl::string_view message, const char* origin,
                          absl::FunctionRef<absl::Status(const Field&)> visit) {
  absl::string_view rest = message;
  while (!rest.empty()) {
    Field field;
    const int64_t offset = rest.data() - origin;
    if (const char* wrong = TakeField(&rest, &field)) {
      return Invalid("not a valid protobuf message at byte ", offset, ": ",
                     wrong);
    }
    RETURN_IF_ERROR(visit(field));
  }
  return absl::OkStatus();
}

absl::Status Read(const Field& field, std::string* value) {
  if (field.type != WireType::kBytes) return WrongType(field, WireType::kBytes);
  value->assign(field.payload.data(), field.payload.size());
  return absl::OkStatus();
}

absl::Status Read(const Field& field, int64_t* value) {
  if (field.type != WireType::kVarint) {
    return WrongType(field, WireType::kVarint);
  }
  *value = static_cast<int64_t>(field.varint);
  return absl::OkStatus();
}

absl::Status Read(const Field& field, int32_t* value) {
  int64_t wide = 0;
  RETURN_IF_ERROR(Read(field, &wide));
  *value = static_cast<int32_t>(wide);  // as protobuf: the low 32 bits
  return absl::OkStatus();
}

absl::Status Read(const Field& field, float* value) {
  if (field.type != WireType::kFixed32) {
    return WrongType(field, WireType::kFixed32);
  }
  std::memcpy(value, field.payload.data(), sizeof(float));
  return absl::OkStatus();
}

absl::Status ReadMessage(const Field& field, absl::string_view* value) {
  if (field.type != WireType::kBytes) return WrongType(field, WireType::kBytes);
  *value = field.payload;
  return absl::OkStatus();
}

absl::Status ForEachVarint(const Field& field,
                           absl::FunctionRef<void(uint64_t)> visit) {
  if (field.type == WireType::kVarint) {
    visit(field.varint);
    return absl::OkStatus();
  }
  if (field.type != WireType::kBytes) {
    return WrongType(field, WireType::kVarint);
  }
  absl::string_view rest = field.payload;
  while (!rest.empty()) {
    uint64_t value = 0;
    if (!TakeVarint(&rest, &value)) {
      return Invalid("field ", field.number, " holds a malformed number");
    }
    visit(value);
  }
  return absl::OkStatus();
}

absl::Status ReadRepeated(const Field& field, std::vector<int64_t>* values) {
  return ForEachVarint(field, [&](uint64_t value) {
    values->push_back(static_cast<int64_t>(value));
  });
}

absl::Status ReadRepeated(const Field& field, std::vector<float>* values) {
  if (field.type != WireType::kFixed32 && field.type != WireType::kBytes) {
    return WrongType(field, WireType::kFixed32);
  }
  if (field.payload.size() % sizeof(float) != 0) {
    return Invalid("field ", field.number, " holds ", field.payload.size(),
                   " bytes, which is no number of floats");
  }
  if (field.payload.empty()) return absl::OkStatus();
  const size_t old = values->size();
  values->resize(old + field.payload.size() / sizeof(float));
  std::memcpy(values->data() + old, field.payload.data(), field.payload.size());
  return absl::OkStatus();
}

absl::Status ReadPair(absl::string_view message, const char* origin,
                      std::pair<std::string, std::string>* pair) {
  return ForEachField(message, origin, [&](const Field& f) {
    if (f.number == 1) return Read(f, &pair->first);
    if (f.number == 2) return Read(f, &pair->second);
    return absl::OkStatus();
  });
}

void PutVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void PutInt(int number, int64_t value, std::string* out) {
  PutVarint(static_cast<uint64_t>(number) << 3, out);
  PutVarint(static_cast<uint64_t>(value), out);
}

void PutFloat(int number, float value, std::string* out) {
  PutVarint(static_cast<uint64_t>(number) << 3 | 5, out);
  char bytes[sizeof(float)];
  std::memcpy(bytes, &value, sizeof(float));
  out->append(bytes, sizeof(float));
}

void PutHeader(int number, uint64_t size, std::string* out) {
  PutVarint(static_cast<uint64_t>(number) << 3 | 2, out);
  PutVarint(size, out);
}

void PutBytes(int number, absl::string_view payload, std::string* out) {
  PutHeader(number, payload.size(), out);
  out->append(payload.data(), payload.size());
}

}  // namespace isomer::onnx
