// Protobuf's wire format, and nothing above it: the fields of a message as
// ranges of its bytes, and the few encodings needed to write fields. Scanning
// leaves payloads where they are, which is what lets a model with gigabytes of
// weights be read in no time, and what keeps untouched bytes untouched.
#ifndef ISOMER_ONNX_WIRE_H_
#define ISOMER_ONNX_WIRE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace isomer::onnx {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a message. `whole` runs from the tag to the end of the payload.
struct Field {
  int number = 0;
  WireType type = WireType::kVarint;
  absl::string_view whole;
  absl::string_view payload;  // without tag and length
  uint64_t varint = 0;        // the value when type is kVarint
};

// Calls `visit` for each field of `message` in order and stops at its first
// error. Errors of the encoding give the byte's distance from `origin`.
absl::Status ForEachField(absl::string_view message, const char* origin,
                          absl::FunctionRef<absl::Status(const Field&)> visit);

// Each of these gives the field's value, or an error if its wire type is not
// the one such a field has. Repeated numbers may be packed or not; theirs are
// appended.
absl::Status Read(const Field& field, std::string* value);
absl::Status Read(const Field& field, int64_t* value);
absl::Status Read(const Field& field, int32_t* value);
absl::Status Read(const Field& field, float* value);
absl::Status ReadMessage(const Field& field, absl::string_view* value);
absl::Status ReadRepeated(const Field& field, std::vector<int64_t>* values);
absl::Status ReadRepeated(const Field& field, std::vector<float>* values);

// Reads a message of two strings, fields 1 and 2 (StringStringEntryProto).
absl::Status ReadPair(absl::string_view message, const char* origin,
                      std::pair<std::string, std::string>* pair);

// Calls `visit` for each varint of a packed or single field.
absl::Status ForEachVarint(const Field& field,
                           absl::FunctionRef<void(uint64_t)> visit);

// Append encoded pieces to `out`.
void PutVarint(uint64_t value, std::string* out);
void PutInt(int number, int64_t value, std::string* out);
void PutFloat(int number, float value, std::string* out);
void PutBytes(int number, absl::string_view payload, std::string* out);
// Only tag and length; the payload of `size` bytes has to follow.
void PutHeader(int number, uint64_t size, std::string* out);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_WIRE_H_
