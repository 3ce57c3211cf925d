// The zip container, stored entries only, and numpy's header.
#include "tools/npz.h"

#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::cli {

namespace {

uint32_t Crc32(absl::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> t;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  uint32_t crc = 0xffffffffu;
  for (unsigned char c : bytes) crc = table[(crc ^ c) & 0xff] ^ (crc >> 8);
  return ~crc;
}

void Put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

std::string NpyType(DType t) {
  if (t == DType::kBool) return "|b1";
  const absl::string_view kind = t == DType::kBF16    ? "u"
                                 : IsFloat(t)         ? "f"
                                 : IsSignedInteger(t) ? "i"
                                                      : "u";
  return absl::StrCat(ByteSize(t) == 1 ? "|" : "<", kind, ByteSize(t));
}

std::string NpyBytes(const Tensor& t) {
  std::string shape = absl::StrJoin(t.type.shape, ", ");
  if (t.type.rank() == 1) shape += ",";
  std::string header =
      absl::StrCat("{'descr': '", NpyType(t.type.dtype),
                   "', 'fortran_order': False, 'shape': (", shape, "), }");
  // The magic, two lengths and the header together fill multiples of 64.
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY\x01";
  out.push_back('\0');
  Put(out, header.size(), 2);
  return absl::StrCat(out, header, ToBytes(t));
}

// The fields that a local header and a directory entry have in common.
void PutEntry(std::string& out, absl::string_view name,
              absl::string_view data) {
  Put(out, 20, 2);    // version needed
  Put(out, 0, 2);     // flags
  Put(out, 0, 2);     // stored
  Put(out, 0x21, 4);  // no time; 1980-01-01 has bits in the upper half
  Put(out, Crc32(data), 4);
  Put(out, data.size(), 4);
  Put(out, data.size(), 4);
  Put(out, name.size(), 2);
  Put(out, 0, 2);  // extra
}

}  // namespace

std::string NpzBytes(
    const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::string out, directory;
  for (const auto& [key, tensor] : tensors) {
    const std::string name = key + ".npy", data = NpyBytes(tensor);
    const size_t at = out.size();
    Put(out, 0x04034b50, 4);
    PutEntry(out, name, data);
    absl::StrAppend(&out, name, data);
    Put(directory, 0x02014b50, 4);
    Put(directory, 20, 2);  // made by
    PutEntry(directory, name, data);
    Put(directory, 0, 2);  // comment
    Put(directory, 0, 2);  // disk
    Put(directory, 0, 2);  // internal attributes
    Put(directory, 0, 4);  // external attributes
    Put(directory, at, 4);
    directory += name;
  }
  const size_t at = out.size();
  out += directory;
  Put(out, 0x06054b50, 4);
  Put(out, 0, 4);  // disks
  Put(out, tensors.size(), 2);
  Put(out, tensors.size(), 2);
  Put(out, directory.size(), 4);
  Put(out, at, 4);
  Put(out, 0, 2);
  return out;
}

}  // namespace isomer::cli
