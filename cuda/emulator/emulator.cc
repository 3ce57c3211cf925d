// Each buffer ends where a page begins that cannot be read.
#include "cuda/emulator/emulator.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "cuda/emulator/instructions.h"
#include "graph/for_all.h"
#include "ops/status.h"

namespace isomer::cuda::emulator {

namespace {

bool IsWord(char c) { return std::isalnum(c) || c == '_'; }

// Where the string stands as a whole word.
size_t FindWord(absl::string_view text, absl::string_view word) {
  for (size_t at = text.find(word); at != absl::string_view::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWord(text[at - 1])) &&
        (end == text.size() || !IsWord(text[end]))) {
      return at;
    }
  }
  return absl::string_view::npos;
}

// Parts of a text that stand between separators outside of brackets and
// strings, up to a bracket that closes what was opened before.
std::vector<absl::string_view> SplitOutside(absl::string_view text, char by) {
  std::vector<absl::string_view> out;
  size_t start = 0;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) {
      text = text.substr(0, i);
      break;
    }
    if (depth > 0 || c != by) continue;
    out.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  out.push_back(text.substr(start));
  return out;
}

// What stands in the brackets that open at the start of the text.
absl::string_view InBrackets(absl::string_view text) {
  return SplitOutside(text.substr(1), '\0')[0];
}

// What takes the place of an asm statement. Its operands, "=r"(x), "r"(y),
// become iso_out(x), iso_in(y).
std::string Statement(absl::string_view inside) {
  const auto sections = SplitOutside(inside, ':');
  const absl::string_view words = absl::StripAsciiWhitespace(sections[0]);
  // It is for the compiler alone.
  if (words == "\"\"") return "(void)0";
  std::string operands;
  for (size_t i = 1; i < sections.size() && i < 3; ++i) {
    for (absl::string_view operand : SplitOutside(sections[i], ',')) {
      const size_t open = operand.find('(');
      if (open == absl::string_view::npos) continue;
      absl::StrAppend(&operands, i == 1 ? "iso_out" : "iso_in",
                      operand.substr(open), ", ");
    }
  }
  return absl::StrCat("do { static const void* iso_parsed = nullptr; ",
                      "IsoOperand iso_operands[] = {", operands,
                      "{}}; iso_host->run(", words,
                      ", &iso_parsed, iso_operands); } while (false)");
}

// Arrays in shared memory, `inside` up to the semicolon, as references.
std::string SharedArrays(absl::string_view inside) {
  inside = absl::StripAsciiWhitespace(inside);
  if (absl::ConsumePrefix(&inside, "__align__")) {
    inside.remove_prefix(InBrackets(inside).size() + 2);
  }
  // "long long a[4], b[8]"
  const size_t first = inside.rfind(' ', inside.find('['));
  const absl::string_view type = inside.substr(0, first);
  std::string out;
  for (absl::string_view one : SplitOutside(inside.substr(first), ',')) {
    one = absl::StripAsciiWhitespace(one);
    const size_t open = one.find('[');
    absl::StrAppend(
        &out,
        absl::Substitute("typedef $0 $1_array$2; static const char $1_site = 0;"
                         " $1_array& $1 = *($1_array*)iso_host->shared("
                         "&$1_site, sizeof($1_array), 16); ",
                         type, one.substr(0, open), one.substr(open)));
  }
  return out;
}

// Replaces what starts with a word, wherever it stands in the text:
// `replace(rest)` takes what it replaces off the front of `rest`.
std::string Replace(
    absl::string_view text, absl::string_view word,
    absl::FunctionRef<std::string(absl::string_view&)> replace) {
  std::string out;
  for (size_t at = FindWord(text, word); at != absl::string_view::npos;
       at = FindWord(text, word)) {
    absl::StrAppend(&out, text.substr(0, at));
    text.remove_prefix(at + word.size());
    absl::StrAppend(&out, replace(text));
  }
  return absl::StrCat(out, text);
}

// Takes off what stands before a semicolon.
absl::string_view TakeDeclaration(absl::string_view& rest) {
  const absl::string_view out = rest.substr(0, rest.find(';'));
  rest.remove_prefix(out.size());
  return out;
}

constexpr char kStart[] = R"(
extern "C" __attribute__((visibility("default"))) void iso_start(
    IsoHost* host, void** parameters) {
  iso_host = host;
  iso_call(&isomer_kernel, parameters);
}
)";

// C++ for the text of a kernel.
std::string HostText(absl::string_view text) {
  std::string out = Replace(text, "asm", [](absl::string_view& rest) {
    rest.remove_prefix(rest.find('('));
    const absl::string_view inside = InBrackets(rest);
    rest.remove_prefix(inside.size() + 2);
    return Statement(inside);
  });
  // "__align__(128) unsigned char memory[]"
  out = Replace(out, "extern __shared__", [](absl::string_view& rest) {
    const absl::string_view all = TakeDeclaration(rest);
    const size_t name = all.rfind(' ') + 1;
    return absl::StrCat("unsigned char* const ",
                        all.substr(name, all.rfind('[') - name),
                        " = (unsigned char*)iso_host->dynamic_shared()");
  });
  out = Replace(out, "__shared__", [](absl::string_view& rest) {
    return SharedArrays(TakeDeclaration(rest));
  });
  return absl::StrCat("#include \"cuda/emulator/kernel_side.h\"\n", out,
                      kStart);
}

// A folder of this process, which stays until the machine tidies up.
const std::string& Folder() {
  static const auto* const folder = [] {
    const char* base = std::getenv("TEST_TMPDIR");
    std::string name =
        absl::StrCat(base == nullptr ? "/tmp" : base, "/emulator.XXXXXX");
    if (mkdtemp(name.data()) == nullptr) name.clear();
    return new std::string(name);
  }();
  return *folder;
}

std::string Contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// Memory whose end is the end of what can be read.
class Memory {
 public:
  explicit Memory(int64_t bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t wanted = (bytes + 15) / 16 * 16;
    const int64_t readable =
        std::max((wanted + page - 1) / page, int64_t{1}) * page;
    mapped_ = readable + page;
    void* at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    isomer::Check(at != MAP_FAILED, "memory for a buffer");
    start_ = static_cast<char*>(at);
    isomer::Check(mprotect(start_ + readable, page, PROT_NONE) == 0,
                  "a page that cannot be read");
    data_ = start_ + readable - wanted;
    bytes_ = bytes;
    Hide();
  }
  ~Memory() { munmap(start_, mapped_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* data() const { return data_; }
  std::string Bytes() const { return std::string(data_, bytes_); }
  // All that is in it becomes NaN.
  void Hide() { std::memset(data_, kHidden, bytes_); }
  bool IsHidden() const {
    return std::all_of(data_, data_ + bytes_,
                       [](char c) { return c == kHidden; });
  }
  void Write(absl::string_view bytes) {
    std::memcpy(data_, bytes.data(), bytes.size());
  }

 private:
  static constexpr char kHidden = '\xff';
  char* start_ = nullptr;
  char* data_ = nullptr;
  int64_t bytes_ = 0, mapped_ = 0;
};

using Buffers = std::vector<std::unique_ptr<Memory>>;

absl::StatusOr<const Variant*> VariantOf(
    const Step& step, const std::map<std::string, std::string>& choices) {
  const auto it = choices.find(step.signature);
  for (const Variant& v : step.variants) {
    if (v.IsOfLibrary()) continue;
    if (it == choices.end() || v.name == it->second) return &v;
  }
  return Invalid(step.signature, ": there is no variant '",
                 it == choices.end() ? "" : it->second, "'");
}

absl::Status RunStep(const Program& program, const Step& step,
                     const Variant& variant, const Buffers& buffers,
                     Order order) {
  ASSIGN_OR_RETURN(const KernelSource source, variant.source());
  ASSIGN_OR_RETURN(const auto kernel, Kernel::Compile(source.text));
  std::vector<void*> pointers;
  std::vector<Memory*> scratch;
  for (int b : step.ArgumentsOf(variant)) {
    Memory* memory = buffers[b].get();
    pointers.push_back(memory->data());
    if (program.buffers[b].kind == Buffer::Kind::kScratch &&
        !absl::c_linear_search(scratch, memory)) {
      scratch.push_back(memory);
    }
  }
  // Nothing of other kernels may be touched before it waits for them.
  std::vector<std::string> kept(scratch.size());
  bool touched = false;
  auto hide = [&] {
    for (size_t i = 0; i < scratch.size(); ++i) {
      kept[i] = scratch[i]->Bytes();
      scratch[i]->Hide();
    }
  };
  auto publish = [&] {
    for (size_t i = 0; i < scratch.size(); ++i) {
      touched = touched || !scratch[i]->IsHidden();
      scratch[i]->Write(kept[i]);
    }
  };
  RETURN_IF_ERROR(kernel->Run(source, pointers, order, hide, publish));
  if (touched) return Invalid("it writes before it waits");
  return absl::OkStatus();
}

}  // namespace

bool HasCompiler() { return std::system("c++ --version >/dev/null 2>&1") == 0; }

absl::StatusOr<std::shared_ptr<const Kernel>> Kernel::Compile(
    const std::string& text) {
  static std::mutex mutex;
  static std::atomic<int> numbers{0};
  static auto* const all =
      new std::map<std::string, std::shared_ptr<const Kernel>>();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto it = all->find(text);
    if (it != all->end()) return it->second;
  }
  const int number = numbers++;
  const std::string name = absl::StrCat(Folder(), "/", number);
  std::ofstream(name + ".cc") << HostText(text);
  const std::string command = absl::StrCat(
      "c++ -std=c++17 -O1 -w -fPIC -shared -fvisibility=hidden "
      "-fno-strict-aliasing -I. ",
      name, ".cc -o ", name, ".so >", name, ".log 2>&1");
  if (std::system(command.c_str()) != 0) {
    return absl::InternalError(
        absl::StrCat(command, ":\n", Contents(name + ".log")));
  }
  void* library = dlopen((name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* start = library == nullptr ? nullptr : dlsym(library, "iso_start");
  if (start == nullptr) return absl::InternalError(dlerror());
  auto kernel =
      std::shared_ptr<const Kernel>(new Kernel(reinterpret_cast<Start>(start)));
  const std::lock_guard<std::mutex> lock(mutex);
  return (*all)[text] = std::move(kernel);
}

absl::Status Kernel::Run(const KernelSource& shape, std::vector<void*> pointers,
                         Order order, std::function<void()> hide,
                         std::function<void()> publish) const {
  // As kernels declare them: 128 bytes at a multiple of 64.
  struct alignas(64) Room {
    char bytes[128];
  };
  std::vector<Room> maps(shape.maps.size());
  std::vector<void*> parameters;
  for (size_t i = 0; i < maps.size(); ++i) {
    const TensorMap& m = shape.maps[i];
    EmulatedMap map;
    map.data = static_cast<const char*>(pointers[m.argument]) + m.offset_bytes;
    map.step_bytes = m.step_bytes;
    map.size = m.size;
    map.box = {m.box[0], m.box[1]};
    std::memcpy(&maps[i], &map, sizeof(map));
    parameters.push_back(&maps[i]);
  }
  for (void*& p : pointers) parameters.push_back(&p);
  Machine machine(order);
  machine.host()->run = RunStatement;
  Launch launch;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.shared_bytes = shape.shared_bytes;
  launch.cluster = shape.cluster;
  launch.body = [&] { start_(machine.host(), parameters.data()); };
  launch.hide = std::move(hide);
  launch.publish = std::move(publish);
  return machine.Run(launch);
}

absl::StatusOr<std::vector<Tensor>> Emulate(
    const Program& program, const std::map<std::string, std::string>& choices,
    const std::map<std::string, Tensor>& inputs, Order order) {
  Buffers buffers;
  for (const Buffer& b : program.buffers) {
    buffers.push_back(std::make_unique<Memory>(b.bytes));
    if (b.kind == Buffer::Kind::kConstant) buffers.back()->Write(b.data.view);
  }
  for (const ProgramInput& in : program.inputs) {
    const auto it = inputs.find(in.name);
    if (it == inputs.end()) return Invalid("input '", in.name, "' is missing");
    buffers[in.buffer]->Write(ToBytes(it->second));
  }
  std::vector<const Variant*> variants;
  for (const Step& step : program.steps) {
    ASSIGN_OR_RETURN(const Variant* v, VariantOf(step, choices));
    variants.push_back(v);
  }
  // On all cores; what cannot be compiled is found out below.
  ForAll(static_cast<int64_t>(variants.size()), [&](int64_t i) {
    const auto source = variants[i]->source();
    if (source.ok()) Kernel::Compile(source->text).status().IgnoreError();
  });
  for (size_t i = 0; i < variants.size(); ++i) {
    const Step& step = program.steps[i];
    const absl::Status status =
        RunStep(program, step, *variants[i], buffers, order);
    if (!status.ok()) {
      return Prefixed(
          absl::StrCat(step.signature, ", ", variants[i]->name, ": "), status);
    }
  }
  std::vector<Tensor> outputs;
  for (const ProgramOutput& o : program.outputs) {
    ASSIGN_OR_RETURN(
        Tensor t, FromBytes(o.type, buffers[o.buffer]->Bytes(), Interp::kRun));
    outputs.push_back(std::move(t));
  }
  return outputs;
}

}  // namespace isomer::cuda::emulator
