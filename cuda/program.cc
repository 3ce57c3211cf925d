// Kernel by kernel in the order of the plan. What a concat wants in place is
// found out beforehand, because it decides where earlier kernels write.
#include "cuda/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cuda/constants.h"
#include "cuda/element_kernel.h"
#include "cuda/layouts.h"
#include "cuda/prepare.h"
#include "cuda/product.h"
#include "cuda/product_kernel.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Smaller products take no longer here than in a library.
constexpr double kLibraryFlops = 1e6;
constexpr int64_t kAlignment = 256;   // of buffers, in bytes
constexpr int64_t kRowAlignment = 8;  // in elements

int64_t BytesOf(const TensorType& type) {
  return NumElements(type) * ByteSize(type.dtype);
}

// Where a value lies.
struct Storage {
  int buffer = 0;
  int64_t offset = 0;  // in elements
  std::vector<int64_t> steps;
};

// The concat in whose output a value is computed, and where along its axis.
struct InPlace {
  Value concat;
  int64_t axis = 0, at = 0;
};

class Maker {
 public:
  Maker(ir::Graph graph, const ProgramOptions& options)
      : graph_(std::make_shared<const ir::Graph>(std::move(graph))),
        options_(options),
        channels_last_(ChannelsLast(*graph_)) {}

  absl::StatusOr<Program> Make(const cost::CostModel& cost) {
    const std::vector<cost::Kernel> kernels =
        cost.MakePlan(*graph_).Kernels(*graph_);
    FindInPlace(kernels);
    RETURN_IF_ERROR(Fold(kernels));
    for (NodeId id : graph_->inputs()) AddInput(id);
    for (const cost::Kernel& k : kernels) {
      const absl::Status status = AddKernel(k);
      if (!status.ok()) return Prefixed(KernelName(k), status);
    }
    RETURN_IF_ERROR(AddOutputs());
    PlanMemory();
    return std::move(program_);
  }

 private:
  std::string KernelName(const cost::Kernel& k) const {
    return absl::StrCat("kernel ", k.signature, ": ");
  }

  // ---- Values

  int NewBuffer(Buffer::Kind kind, int64_t bytes) {
    Buffer b;
    b.kind = kind;
    b.bytes = bytes;
    program_.buffers.push_back(std::move(b));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  void AddInput(NodeId id) {
    const TensorType* type = graph_->FindType({id, 0});
    if (type == nullptr || graph_->users(id).empty()) {
      if (type == nullptr || graph_->output_uses(id) == 0) return;
    }
    const int buffer = NewBuffer(Buffer::Kind::kInput, BytesOf(*type));
    storage_[{id, 0}] = {buffer, 0, DenseSteps(type->shape, false)};
    program_.inputs.push_back({*graph_->node(id).name, *type, buffer});
  }

  bool IsFilter(const cost::Kernel& k, Value v) const {
    for (NodeId id : k.nodes) {
      const ir::Node& node = graph_->node(id);
      if (node.Is("conv2d") && node.inputs[1] == v) return true;
    }
    return false;
  }

  absl::StatusOr<Storage> ConstantAt(Value v, bool filter) {
    const auto key = std::make_pair(v, filter);
    if (const auto it = constants_.find(key); it != constants_.end()) {
      return it->second;
    }
    const auto data = folded_.find(v);
    if (data == folded_.end()) return Invalid("a constant was not folded");
    const TensorType& type = graph_->type(v);
    Storage s{NewBuffer(Buffer::Kind::kConstant, BytesOf(type)), 0,
              filter ? FilterSteps(type.shape) : DenseSteps(type.shape, false)};
    program_.buffers.back().data =
        filter ? WithSteps(data->second, type, s.steps) : data->second;
    return constants_[key] = s;
  }

  // Where a value is to be written, found before it is.
  Storage NewStorage(Value v) {
    if (const auto it = storage_.find(v); it != storage_.end()) {
      return it->second;
    }
    if (const auto it = in_place_.find(v); it != in_place_.end()) {
      const InPlace& p = it->second;
      Storage s = NewStorage(p.concat);
      s.offset += p.at * s.steps[p.axis];
      return storage_[v] = s;
    }
    const TensorType& type = graph_->type(v);
    std::vector<int64_t> steps =
        DenseSteps(type.shape, channels_last_.count(v) > 0);
    int64_t bytes = BytesOf(type);
    if (WantsAlignedRows(v)) {
      std::vector<int64_t> padded = type.shape;
      padded.back() = CeilDiv(padded.back(), kRowAlignment) * kRowAlignment;
      steps = DenseSteps(padded, false);
      bytes = NumElements(padded) * ByteSize(type.dtype);
    }
    return storage_[v] = {NewBuffer(Buffer::Kind::kScratch, bytes), 0, steps};
  }

  // Fast products read rows of 16-bit floats in pieces of 16 bytes.
  bool WantsAlignedRows(Value v) const {
    const TensorType& type = graph_->type(v);
    if (type.rank() < 2 || ByteSize(type.dtype) != 2 || !IsFloat(type.dtype) ||
        type.shape.back() % kRowAlignment == 0 || channels_last_.count(v) ||
        type.shape.back() < kRowAlignment || graph_->output_uses(v.node) > 0) {
      return false;
    }
    for (NodeId user : graph_->users(v.node)) {
      if (graph_->node(user).Is("matmul")) return true;
    }
    return false;
  }

  // ---- Before the kernels

  void FindInPlace(const std::vector<cost::Kernel>& kernels) {
    std::set<Value> computed;  // by a launch, or all in place
    std::set<Value> results;
    for (const ir::Output& o : graph_->outputs()) results.insert(o.value);
    for (const cost::Kernel& k : kernels) {
      if (k.launches || !k.in_place.empty()) {
        computed.insert(k.outputs.begin(), k.outputs.end());
      }
      const ir::Node& node = graph_->node(k.nodes.back());
      if (k.in_place.empty() || !node.Is("concat")) continue;
      const int64_t axis = node.attrs->Int("axis");
      int64_t at = 0;
      for (Value in : node.inputs) {
        if (std::count(k.in_place.begin(), k.in_place.end(), in) &&
            computed.count(in) && !results.count(in) && !in_place_.count(in)) {
          in_place_[in] = {{k.nodes.back(), 0}, axis, at};
        }
        at += graph_->type(in).shape[axis];
      }
    }
  }

  absl::Status Fold(const std::vector<cost::Kernel>& kernels) {
    std::set<Value> wanted;
    auto want = [&](Value v) {
      if (graph_->IsConstant(v)) wanted.insert(v);
    };
    for (const cost::Kernel& k : kernels) {
      std::set<NodeId> own(k.nodes.begin(), k.nodes.end());
      for (Value v : k.inputs) want(v);
      for (NodeId id : k.nodes) {
        for (Value v : graph_->node(id).inputs) {
          if (!own.count(v.node)) want(v);
        }
      }
    }
    for (const ir::Output& o : graph_->outputs()) want(o.value);
    const std::vector<Value> values(wanted.begin(), wanted.end());
    ASSIGN_OR_RETURN(folded_,
                     FoldConstants(*graph_, values, options_.progress));
    return absl::OkStatus();
  }

  // ---- Kernels

  struct Opened {
    std::shared_ptr<const ir::Graph> graph;
    std::vector<Operand> inputs;  // in the kernel's graph
    std::vector<int> buffers;     // of the inputs
    std::vector<Value> values;    // of the inputs, in the whole graph
    std::vector<Value> outputs;   // in the kernel's graph
  };

  absl::StatusOr<Opened> Open(const cost::Kernel& k,
                              const std::vector<NodeId>& nodes,
                              const std::vector<Value>& outputs) {
    std::set<NodeId> own(nodes.begin(), nodes.end());
    std::vector<Value> reads;
    for (NodeId id : nodes) {
      for (Value v : graph_->node(id).inputs) {
        if (!own.count(v.node) &&
            std::find(reads.begin(), reads.end(), v) == reads.end()) {
          reads.push_back(v);
        }
      }
    }
    for (Value v : outputs) {
      if (!own.count(v.node)) reads.push_back(v);
    }
    ASSIGN_OR_RETURN(KernelGraph kernel,
                     OpenKernel(*graph_, nodes, reads, outputs, expansions_));
    Opened out;
    out.outputs = kernel.outputs;
    for (size_t i = 0; i < reads.size(); ++i) {
      const Value inner = kernel.inputs[i];
      if (kernel.graph.node(inner.node).kind != ir::Node::Kind::kInput) {
        continue;
      }
      Storage s;
      if (graph_->IsConstant(reads[i])) {
        ASSIGN_OR_RETURN(s, ConstantAt(reads[i], IsFilter(k, reads[i])));
      } else {
        const auto it = storage_.find(reads[i]);
        if (it == storage_.end()) return Invalid("a value was not computed");
        s = it->second;
      }
      const std::string name = absl::StrCat("in", out.inputs.size());
      out.inputs.push_back(
          {inner, {name, graph_->type(reads[i]).dtype, s.offset, s.steps}});
      out.buffers.push_back(s.buffer);
      out.values.push_back(reads[i]);
    }
    out.graph = std::make_shared<const ir::Graph>(std::move(kernel.graph));
    return out;
  }

  Operand OutputOperand(Value inner, const Storage& s, DType dtype, int i) {
    return {inner, {absl::StrCat("out", i), dtype, s.offset, s.steps}};
  }

  Step NewStep(const cost::Kernel& k, const Opened& o) {
    Step step;
    step.family = k.family;
    step.signature = k.signature;
    step.arguments = o.buffers;
    for (Value v : o.values) step.bytes += BytesOf(graph_->type(v));
    return step;
  }

  absl::Status AddKernel(const cost::Kernel& k) {
    if (!k.in_place.empty() && graph_->node(k.nodes.back()).Is("concat")) {
      return AddConcat(k);
    }
    if (!k.launches) {
      ASSIGN_OR_RETURN(const bool done, AddView(k));
      if (done) return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Opened o, Open(k, k.nodes, k.outputs));
    if (k.outputs.size() == 1) {
      ASSIGN_OR_RETURN(const bool done, AddProduct(k, o));
      if (done) return absl::OkStatus();
    }
    return AddElements(k, o, k.outputs);
  }

  // A concat of which parts are there already: copies the others.
  absl::Status AddConcat(const cost::Kernel& k) {
    const NodeId id = k.nodes.back();
    const ir::Node& node = graph_->node(id);
    const Value result = {id, 0};
    const Storage whole = NewStorage(result);
    const int64_t axis = node.attrs->Int("axis");
    const std::vector<NodeId> before(k.nodes.begin(), k.nodes.end() - 1);
    int64_t at = 0;
    for (Value in : node.inputs) {
      const auto it = in_place_.find(in);
      const bool there = it != in_place_.end() && it->second.concat == result &&
                         it->second.at == at;
      if (!there) {
        Storage part = whole;
        part.offset += at * whole.steps[axis];
        ASSIGN_OR_RETURN(const Opened o, Open(k, before, {in}));
        RETURN_IF_ERROR(AddElementStep(k, o, {0}, {part}));
      }
      at += graph_->type(in).shape[axis];
    }
    return absl::OkStatus();
  }

  // A view is another way to look at a buffer, if its steps are regular.
  absl::StatusOr<bool> AddView(const cost::Kernel& k) {
    if (k.outputs.size() != 1 || in_place_.count(k.outputs[0])) return false;
    ASSIGN_OR_RETURN(const Opened o, Open(k, k.nodes, k.outputs));
    const Value v = k.outputs[0];
    ElementCode code(*o.graph);
    for (const Operand& in : o.inputs) code.Bind(in.value, in.place);
    std::vector<DimExpr> index;
    const std::vector<int64_t>& shape = graph_->type(v).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      index.push_back(code.NewIndex(absl::StrCat("i", d), shape[d]));
    }
    ASSIGN_OR_RETURN(const auto source, code.SourceOf(o.outputs[0], index));
    if (!source) return false;
    for (size_t i = 0; i < o.inputs.size(); ++i) {
      if (!(o.inputs[i].value == source->value)) continue;
      const DimExpr offset = code.Offset(o.inputs[i].place, source->index);
      Storage s{o.buffers[i], offset.polynomial().constant_term().num(),
                std::vector<int64_t>(shape.size(), 0)};
      for (const Monomial& m : offset.polynomial().monomials()) {
        if (m.factors.size() != 1 || m.factors[0].power != 1 ||
            !m.factors[0].atom.is_symbol()) {
          return false;
        }
        s.steps[std::stoi(m.factors[0].atom.name().substr(1))] =
            m.coefficient.num();
      }
      storage_[v] = s;
      return true;
    }
    return false;
  }

  absl::StatusOr<bool> AddProduct(const cost::Kernel& k, const Opened& o) {
    ProductCall call;
    bool found = false;
    for (NodeId id : o.graph->Order()) {
      const ir::Node& node = o.graph->node(id);
      if (!node.Is("matmul") && !node.Is("conv2d")) continue;
      if (found) return false;
      call.core = {id, 0};
      found = true;
    }
    const Value v = k.outputs[0];
    if (!found || NumElements(graph_->type(v)) == 0) return false;
    if (NumElements(graph_->type(v)) != NumElements(o.graph->type(call.core))) {
      return false;
    }
    call.graph = o.graph.get();
    call.inputs = o.inputs;
    const Storage to = NewStorage(v);
    call.output = OutputOperand(o.outputs[0], to, graph_->type(v).dtype, 0);
    ASSIGN_OR_RETURN(const Product p, Analyze(call));
    for (size_t i = 0; i < o.inputs.size(); ++i) {
      if (o.inputs[i].place.pointer == p.b.pointer) {
        call.constant_b = graph_->IsConstant(o.values[i]);
      }
    }
    const std::vector<Tiling> tilings = Tilings(p, options_.units);
    if (tilings.empty() && p.convolution && p.batch > 1) return false;
    Step step = NewStep(k, o);
    step.flops = p.flops();
    step.bytes += BytesOf(graph_->type(v));
    step.arguments.push_back(to.buffer);
    // The graph that the call points at lives as long as the variants.
    const auto keep = o.graph;
    for (const Tiling& t : tilings) {
      step.variants.push_back({t.ToString(), [keep, call, p, t] {
                                 return TiledProduct(call, p, t);
                               }});
    }
    if (p.depthwise) {
      step.variants.push_back(
          {"depthwise", [keep, call, p] { return DepthwiseKernel(call, p); }});
    } else if (tilings.empty()) {
      step.variants.push_back(
          {"general", [keep, call, p] { return GeneralProduct(call, p); }});
    }
    RETURN_IF_ERROR(step.variants[0].source().status());
    RETURN_IF_ERROR(AddLibrary(o, call, p, to, step));
    AddStep(std::move(step));
    return true;
  }

  // The same step by a library, and a kernel for what comes after the product.
  absl::Status AddLibrary(const Opened& o, const ProductCall& call,
                          const Product& p, const Storage& to, Step& step) {
    const std::optional<LibraryProduct> library = AsLibraryProduct(p);
    if (!library || p.flops() < kLibraryFlops) return absl::OkStatus();
    Variant v{"library", nullptr, library};
    for (size_t i = 0; i < o.inputs.size(); ++i) {
      if (o.inputs[i].place.pointer == p.a.pointer) v.a = o.buffers[i];
      if (o.inputs[i].place.pointer == p.b.pointer) v.b = o.buffers[i];
    }
    const TensorType& type = o.graph->type(call.core);
    const std::vector<int64_t> steps = DenseSteps(type.shape, p.convolution);
    if (call.core == call.output.value && to.offset == 0 && to.steps == steps) {
      v.out = to.buffer;
      step.variants.push_back(std::move(v));
      return absl::OkStatus();
    }
    v.out = NewBuffer(Buffer::Kind::kScratch, BytesOf(type));
    step.arguments.push_back(v.out);
    std::vector<Operand> inputs = o.inputs;
    inputs.push_back({call.core, {"core", type.dtype, 0, steps}});
    v.arguments = o.buffers;
    v.arguments.push_back(v.out);
    v.arguments.push_back(to.buffer);
    ASSIGN_OR_RETURN(const KernelSource rest,
                     ElementKernel(*o.graph, inputs, {call.output}));
    v.source = [rest]() -> absl::StatusOr<KernelSource> { return rest; };
    step.variants.push_back(std::move(v));
    return absl::OkStatus();
  }

  absl::Status AddElements(const cost::Kernel& k, const Opened& o,
                           const std::vector<Value>& outputs) {
    std::map<std::vector<int64_t>, std::vector<int>> by_shape;
    for (size_t i = 0; i < outputs.size(); ++i) {
      by_shape[graph_->type(outputs[i]).shape].push_back(static_cast<int>(i));
    }
    for (const auto& [shape, which] : by_shape) {
      std::vector<Storage> to;
      for (int i : which) to.push_back(NewStorage(outputs[i]));
      RETURN_IF_ERROR(AddElementStep(k, o, which, to));
    }
    return absl::OkStatus();
  }

  absl::Status AddElementStep(const cost::Kernel& k, const Opened& o,
                              const std::vector<int>& which,
                              const std::vector<Storage>& to) {
    std::vector<Operand> outputs;
    Step step = NewStep(k, o);
    for (size_t i = 0; i < which.size(); ++i) {
      const Value inner = o.outputs[which[i]];
      const TensorType& type = o.graph->type(inner);
      if (NumElements(type) == 0) return absl::OkStatus();
      outputs.push_back(
          OutputOperand(inner, to[i], type.dtype, static_cast<int>(i)));
      step.arguments.push_back(to[i].buffer);
      step.bytes += BytesOf(type);
    }
    ASSIGN_OR_RETURN(const KernelSource source,
                     ElementKernel(*o.graph, o.inputs, outputs));
    step.variants.push_back(
        {"element",
         [source]() -> absl::StatusOr<KernelSource> { return source; }});
    AddStep(std::move(step));
    return absl::OkStatus();
  }

  void AddStep(Step step) {
    const int at = static_cast<int>(program_.steps.size());
    for (int b : step.arguments) {
      program_.buffers[b].first = std::min(program_.buffers[b].first, at);
      program_.buffers[b].last = std::max(program_.buffers[b].last, at);
    }
    program_.steps.push_back(std::move(step));
  }

  // ---- After the kernels

  absl::Status AddOutputs() {
    for (const ir::Output& o : graph_->outputs()) {
      const TensorType& type = graph_->type(o.value);
      Storage s;
      if (graph_->IsConstant(o.value)) {
        ASSIGN_OR_RETURN(s, ConstantAt(o.value, false));
      } else {
        s = storage_.at(o.value);
      }
      const std::vector<int64_t> dense = DenseSteps(type.shape, false);
      bool regular = s.offset == 0;
      for (int d = 0; d < type.rank(); ++d) {
        regular = regular && (type.shape[d] == 1 || s.steps[d] == dense[d]);
      }
      if (!regular) {
        cost::Kernel copy;
        copy.family = "copy";
        const Value v = o.value;
        ASSIGN_OR_RETURN(const Opened opened, Open(copy, {}, {v}));
        Storage to{NewBuffer(Buffer::Kind::kScratch, BytesOf(type)), 0, dense};
        RETURN_IF_ERROR(AddElementStep(copy, opened, {0}, {to}));
        s = to;
      }
      Buffer& b = program_.buffers[s.buffer];
      b.last = INT32_MAX;
      b.first = std::min(b.first, 0);
      program_.outputs.push_back({o.name, type, s.buffer});
    }
    return absl::OkStatus();
  }

  // The lowest place that is free as long as a buffer lives, the long-lived
  // first come.
  void PlanMemory() {
    std::vector<const Buffer*> placed;
    for (Buffer& b : program_.buffers) {
      if (b.kind == Buffer::Kind::kConstant) {
        program_.constant_bytes += b.bytes;
      }
      if (b.kind != Buffer::Kind::kScratch) continue;
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (const Buffer* other : placed) {
        if (other->first <= b.last && b.first <= other->last) {
          taken.push_back(
              {other->offset, other->offset + Padded(other->bytes)});
        }
      }
      std::sort(taken.begin(), taken.end());
      int64_t at = 0;
      for (const auto& [from, to] : taken) {
        if (from >= at + Padded(b.bytes)) break;
        at = std::max(at, to);
      }
      b.offset = at;
      program_.arena_bytes =
          std::max(program_.arena_bytes, at + Padded(b.bytes));
      placed.push_back(&b);
    }
  }

  static int64_t Padded(int64_t bytes) {
    return CeilDiv(std::max<int64_t>(bytes, 1), kAlignment) * kAlignment;
  }

  std::shared_ptr<const ir::Graph> graph_;
  const ProgramOptions& options_;
  std::set<Value> channels_last_;
  ir::Expansions expansions_;
  Program program_;
  std::map<Value, Storage> storage_;
  std::map<Value, InPlace> in_place_;
  std::map<std::pair<Value, bool>, Storage> constants_;
  std::map<Value, SharedBytes> folded_;
};

}  // namespace

absl::StatusOr<Program> MakeProgram(const ir::Graph& graph,
                                    const cost::CostModel& cost,
                                    const ProgramOptions& options) {
  ASSIGN_OR_RETURN(ir::Graph prepared, Prepare(graph));
  return Maker(std::move(prepared), options).Make(cost);
}

}  // namespace isomer::cuda
