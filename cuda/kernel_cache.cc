// A file for each kernel, named by a hash of its key and with the key in it,
// and one file for all choices. Files are written beside and then renamed.
#include "cuda/kernel_cache.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr char kChoices[] = "choices";

// The same on every machine. Two keys with one hash cost time, nothing else.
std::string HashOf(absl::string_view text) {
  uint64_t a = 0xcbf29ce484222325, b = 0x9e3779b97f4a7c15;
  for (unsigned char c : text) {
    a = (a ^ c) * 0x100000001b3;
    b = (b + c) * 0xff51afd7ed558ccd;
    b ^= b >> 29;
  }
  return absl::StrFormat("%016x%016x", a, b);
}

std::optional<std::string> Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

absl::Status Write(const std::string& path, absl::string_view text) {
  const std::string beside =
      absl::StrCat(path, ".", getpid(), ".",
                   absl::Hex(reinterpret_cast<uintptr_t>(text.data())));
  std::error_code error;
  {
    std::ofstream out(beside, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) {
      return absl::UnavailableError(absl::StrCat("cannot write ", beside));
    }
  }
  std::filesystem::rename(beside, path, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot write ", path, ": ", error.message()));
  }
  return absl::OkStatus();
}

// Lines "hash variant".
std::map<std::string, std::string> ReadChoices(const std::string& path) {
  std::map<std::string, std::string> out;
  const std::string text = Read(path).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    if (!parts.second.empty()) out.insert(parts);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::shared_ptr<KernelCache>> KernelCache::Open(
    const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder)) {
    return Invalid("cannot make the folder '", folder, "' for kernels");
  }
  std::shared_ptr<KernelCache> cache(new KernelCache(folder));
  absl::MutexLock lock(&cache->mutex_);
  cache->choices_ = ReadChoices(absl::StrCat(folder, "/", kChoices));
  return cache;
}

std::shared_ptr<KernelCache> KernelCache::InMemory() {
  return std::shared_ptr<KernelCache>(new KernelCache(""));
}

std::optional<std::string> KernelCache::Image(const std::string& key) const {
  if (folder_.empty()) {
    absl::MutexLock lock(&mutex_);
    const auto it = images_.find(key);
    if (it == images_.end()) return std::nullopt;
    return it->second;
  }
  const auto file = Read(absl::StrCat(folder_, "/", HashOf(key), ".kernel"));
  if (!file || file->size() <= key.size() ||
      file->compare(0, key.size(), key) != 0) {
    return std::nullopt;
  }
  return file->substr(key.size());
}

void KernelCache::AddImage(const std::string& key,
                           absl::string_view code) const {
  if (folder_.empty()) {
    absl::MutexLock lock(&mutex_);
    images_[key] = std::string(code);
    return;
  }
  Write(absl::StrCat(folder_, "/", HashOf(key), ".kernel"),
        absl::StrCat(key, code))
      .IgnoreError();
}

std::optional<std::string> KernelCache::Choice(absl::string_view key) const {
  absl::MutexLock lock(&mutex_);
  const auto it = choices_.find(HashOf(key));
  if (it == choices_.end()) return std::nullopt;
  return it->second;
}

void KernelCache::AddChoice(absl::string_view key, const std::string& variant) {
  absl::MutexLock lock(&mutex_);
  choices_[HashOf(key)] = variant;
}

absl::Status KernelCache::Save() const {
  if (folder_.empty()) return absl::OkStatus();
  const std::string path = absl::StrCat(folder_, "/", kChoices);
  std::map<std::string, std::string> all = ReadChoices(path);
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, variant] : choices_) all[key] = variant;
  }
  std::string text;
  for (const auto& [key, variant] : all) {
    absl::StrAppend(&text, key, " ", variant, "\n");
  }
  return Write(path, text);
}

}  // namespace isomer::cuda
