// Kernel by kernel in the order of the plan.
#include "cuda/program.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cuda/attention_kernel.h"
#include "cuda/attention_plan.h"
#include "cuda/cold_constants.h"
#include "cuda/dnn_attention.h"
#include "cuda/element_kernel.h"
#include "cuda/held_kernel.h"
#include "cuda/kernel_uses.h"
#include "cuda/late_epilogues.h"
#include "cuda/layouts.h"
#include "cuda/memory_plan.h"
#include "cuda/norm_kernel.h"
#include "cuda/placement.h"
#include "cuda/pool_kernel.h"
#include "cuda/prepare.h"
#include "cuda/product.h"
#include "cuda/product_variants.h"
#include "cuda/schedule.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Smaller products take no longer here than in a library; of cuDNN's, which
// have to be compiled, those that are not convolutions pay where they are
// large. Small attention is over before one that is not started ahead starts.
constexpr double kLibraryFlops = 1e6;
constexpr double kDnnConvolutionFlops = 1e9, kDnnFlops = 5e10;
constexpr double kDnnAttentionFlops = 2e8;
constexpr int kMaxLanes = 256;  // of a row
// Of a thread that norms: fewer are too few, and more it does not take.
constexpr int64_t kFewRegisters = 64, kManyRegisters = 128;
// Constants and inputs of so many bytes at most are brought to the cache while
// the kernel before still runs. Larger constants are weights, which products
// ask for themselves.
constexpr int64_t kSmallConstant = 64 << 10, kSmallInput = 4 << 20;
constexpr int kNowhere = -1;  // the buffer of what is never in memory

// What makes a source that is there already.
std::function<absl::StatusOr<KernelSource>()> Ready(KernelSource source) {
  return [source = std::move(source)]() -> absl::StatusOr<KernelSource> {
    return source;
  };
}

class Maker {
 public:
  Maker(ir::Graph graph, const std::vector<cost::Kernel>& kernels,
        const ProgramOptions& options)
      : graph_(std::make_shared<const ir::Graph>(std::move(graph))),
        kernels_(kernels),
        options_(options),
        placement_(*graph_, program_, options.part_of_bytes.has_value()) {}

  absl::StatusOr<Program> Make() {
    RETURN_IF_ERROR(placement_.Start(kernels_, options_.progress));
    cold_ = ColdConstants(
        *graph_, kernels_,
        placement_.FoldedBytes() + options_.part_of_bytes.value_or(0),
        options_.cached_bytes);
    program_.cold = cold_.any();
    program_.units = options_.units;
    const std::map<size_t, AttentionPlan> attentions =
        FindAttention(*graph_, kernels_);
    std::set<size_t> later;
    for (const auto& [last, t] : attentions) {
      later.insert(t.scores);
      later.insert(t.between.begin(), t.between.end());
      later.insert(t.copies.begin(), t.copies.end());
    }
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (later.count(i)) continue;
      kernel_ = static_cast<int>(i);
      const auto it = attentions.find(i);
      const absl::Status status = it == attentions.end()
                                      ? AddKernel(kernels_[i])
                                      : AddAttention(it->second, i);
      if (!status.ok()) return Prefixed(KernelName(kernels_[i]), status);
    }
    RETURN_IF_ERROR(AddOutputs());
    program_.schedule = MakeSchedule(program_, options_.streams);
    PlanMemory(program_);
    return std::move(program_);
  }

 private:
  std::string KernelName(const cost::Kernel& k) const {
    return absl::StrCat("kernel ", k.signature, ": ");
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
                              const std::vector<Value>& outputs,
                              const std::set<std::string>& whole = {}) {
    std::vector<Value> reads = ReadsOf(*graph_, nodes);
    for (Value v : outputs) {
      if (!absl::c_linear_search(nodes, v.node)) reads.push_back(v);
    }
    ASSIGN_OR_RETURN(
        KernelGraph kernel,
        OpenKernel(*graph_, nodes, reads, outputs, expansions_, whole));
    Opened out;
    out.outputs = kernel.outputs;
    for (size_t i = 0; i < reads.size(); ++i) {
      const Value inner = kernel.inputs[i];
      if (kernel.graph.node(inner.node).kind != ir::Node::Kind::kInput) {
        continue;
      }
      ASSIGN_OR_RETURN(const Storage s, placement_.ReadBy(k, reads[i]));
      const std::string name = absl::StrCat("in", out.inputs.size());
      out.inputs.push_back(
          {inner, {name, graph_->type(reads[i]).dtype, s.offset, s.steps}});
      out.inputs.back().number = NumberOf(*graph_, reads[i]);
      if (s.buffer != kNowhere) {
        Describe(reads[i], program_.buffers[s.buffer], out.inputs.back());
      }
      out.buffers.push_back(s.buffer);
      out.values.push_back(reads[i]);
    }
    out.graph = std::make_shared<const ir::Graph>(std::move(kernel.graph));
    return out;
  }

  void Describe(Value v, const Buffer& buffer, Operand& o) const {
    // What a part reads is written right before it.
    o.there = buffer.kind == Buffer::Kind::kConstant ||
              (buffer.kind == Buffer::Kind::kInput && !options_.part_of_bytes);
    if (!cold_.any()) return;
    const bool is_constant = graph_->IsConstant(v);
    o.cold = cold_.Has(v);
    o.kept = cold_.Kept(v);
    const bool is_input = graph_->node(v.node).kind == ir::Node::Kind::kInput;
    if ((is_constant && buffer.bytes <= kSmallConstant) ||
        (is_input && buffer.bytes <= kSmallInput)) {
      o.ahead_bytes = buffer.bytes;
    }
  }

  Operand OutputOperand(Value inner, const Storage& s, DType dtype, int i) {
    return {inner, {absl::StrCat("out", i), dtype, s.offset, s.steps}};
  }

  Step NewStep(const cost::Kernel& k, const Opened& o) {
    Step step;
    step.kernel = kernel_;
    step.family = k.family;
    step.signature = k.signature;
    step.us = static_cast<double>(k.time_ps) * 1e-6;
    step.arguments = o.buffers;
    step.reads = static_cast<int>(o.buffers.size());
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
    if (const int parts = PartsOf(*graph_, k);
        parts > 1 || k.outputs.size() == 1) {
      ASSIGN_OR_RETURN(const bool done, AddProduct(k, o, parts));
      if (done) return absl::OkStatus();
    }
    if (k.outputs.size() == 1) {
      ASSIGN_OR_RETURN(const bool pooled, AddPool(k, o));
      if (pooled) return absl::OkStatus();
    }
    return AddElements(k, o, k.outputs);
  }

  // A concat of which parts are there already: copies the others.
  absl::Status AddConcat(const cost::Kernel& k) {
    const NodeId id = k.nodes.back();
    const ir::Node& node = graph_->node(id);
    const Value result = {id, 0};
    const Storage whole = placement_.NewStorage(result);
    const int64_t axis = node.attrs->Int("axis");
    const std::vector<NodeId> before(k.nodes.begin(), k.nodes.end() - 1);
    int64_t at = 0;
    for (Value in : node.inputs) {
      const bool there = placement_.IsInPlace(in, result, at);
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
    if (k.outputs.size() != 1 || placement_.IsInPlace(k.outputs[0]))
      return false;
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
      placement_.Set(v, std::move(s));
      return true;
    }
    return false;
  }

  // The only node of a kernel that is one of `cores`, and what the kernel
  // reads; nothing if the result is not of the size of one of so many parts.
  std::optional<ProductCall> CallOf(const Opened& o, int parts = 1,
                                    const std::set<absl::string_view>& cores = {
                                        "matmul", "conv2d"}) const {
    ProductCall call;
    bool found = false;
    for (NodeId id : o.graph->Order()) {
      const ir::Node& node = o.graph->node(id);
      if (node.op == nullptr || !cores.count(node.op->name)) continue;
      if (found) return std::nullopt;
      call.core = {id, 0};
      found = true;
    }
    if (!found) return std::nullopt;
    const int64_t size = NumElements(o.graph->type(o.outputs[0]));
    if (size == 0 || size * parts != NumElements(o.graph->type(call.core))) {
      return std::nullopt;
    }
    call.parts = parts;
    call.graph = o.graph.get();
    call.inputs = o.inputs;
    return call;
  }

  // All kernels as one where that is possible, otherwise one by one.
  absl::Status AddAttention(const AttentionPlan& t, size_t last) {
    for (bool with_concat : {true, false}) {
      std::vector<Views> copies;
      for (size_t i : t.copies) {
        copies.push_back(ViewsOf(*graph_, kernels_[i], with_concat));
      }
      ASSIGN_OR_RETURN(const bool done, AddFused(t, kernels_[last], copies));
      if (done) return absl::OkStatus();
    }
    for (size_t i : t.copies) RETURN_IF_ERROR(AddKernel(kernels_[i]));
    ASSIGN_OR_RETURN(const bool done, AddFused(t, kernels_[last], {}));
    if (done) return absl::OkStatus();
    RETURN_IF_ERROR(AddKernel(kernels_[t.scores]));
    for (size_t i : t.between) RETURN_IF_ERROR(AddKernel(kernels_[i]));
    return AddKernel(kernels_[last]);
  }

  // False, with nothing added, if no kernel does it. `copies` are not made:
  // the kernel reads what they are views of.
  absl::StatusOr<bool> AddFused(const AttentionPlan& t,
                                const cost::Kernel& third,
                                const std::vector<Views>& copies) {
    const cost::Kernel& first = kernels_[t.scores];
    cost::Kernel before = first, last = third;
    std::string signature = first.signature;
    for (size_t i : t.between) {
      const std::vector<NodeId>& nodes = kernels_[i].nodes;
      before.nodes.insert(before.nodes.end(), nodes.begin(), nodes.end());
      absl::StrAppend(&signature, "; ", kernels_[i].signature);
    }
    absl::StrAppend(&signature, "; ", last.signature);
    before.nodes.erase(absl::c_find(before.nodes, t.softmax),
                       before.nodes.end());
    for (const Views& c : copies) {
      if (!c.rest.nodes.empty()) placement_.NewStorage(c.rest.outputs[0]);
      const Value made = {c.nodes.back(), 0};
      const auto& reads = first.inputs;
      cost::Kernel& reader =
          std::count(reads.begin(), reads.end(), made) ? before : last;
      reader.nodes.insert(reader.nodes.begin(), c.nodes.begin(), c.nodes.end());
    }
    const Value operand = graph_->node(t.softmax).inputs[0];
    const Value weights = kernels_[t.between.back()].outputs[0];
    const Value result = last.outputs[0];
    const TensorType& type = graph_->type(weights);
    const std::vector<int64_t> dense = DenseSteps(type.shape, false);
    ASSIGN_OR_RETURN(const Opened one, Open(before, before.nodes, {operand}));
    placement_.Set(weights, {kNowhere, 0, dense});
    auto opened = Open(last, last.nodes, last.outputs);
    placement_.Forget(weights);
    if (!opened.ok()) return opened.status();
    Opened two = *std::move(opened);
    Step step = NewStep(last, one);
    for (size_t i = 0; i < two.inputs.size(); ++i) {
      const bool inner = two.buffers[i] == kNowhere;
      two.inputs[i].place.pointer = inner ? "scores" : absl::StrCat("other", i);
      if (inner) continue;
      step.arguments.push_back(two.buffers[i]);
      ++step.reads;
      step.bytes += BytesOf(graph_->type(two.values[i]));
    }
    auto scores = CallOf(one), values = CallOf(two);
    if (!scores || !values) return false;
    scores->two_places = values->two_places = true;
    const Storage to = placement_.NewStorage(result);
    scores->outputs = {{one.outputs[0], {"scores", type.dtype, 0, dense}}};
    values->outputs = {
        OutputOperand(two.outputs[0], to, graph_->type(result).dtype, 0)};
    const AttentionCall call{*scores, *values, t.guarded};
    ASSIGN_OR_RETURN(const std::optional<Attention> a, AnalyzeAttention(call));
    if (!a) return false;
    step.family = "attention";
    for (const Views& c : copies) {
      absl::StrAppend(&signature, "; ", c.signature);
    }
    step.signature = std::move(signature);
    step.flops = a->scores.flops() + a->values.flops();
    step.bytes += BytesOf(graph_->type(result));
    step.arguments.push_back(to.buffer);
    for (const AttentionTiling& t : AttentionTilings(*a, options_.units)) {
      step.variants.push_back(
          {t.ToString(), [one = one.graph, two = two.graph, call, a, t] {
             return AttentionKernel(call, *a, t);
           }});
    }
    if (step.variants.empty()) return false;
    if (step.flops >= kDnnAttentionFlops) {
      ASSIGN_OR_RETURN(auto product, AsDnnAttention(call, *a));
      if (product) AddDnn(*std::move(product), {&one, &two}, to.buffer, step);
    }
    for (const Views& c : copies) {
      if (!c.rest.nodes.empty()) RETURN_IF_ERROR(AddKernel(c.rest));
    }
    program_.steps.push_back(std::move(step));
    return true;
  }

  // Pooling where channels lie side by side.
  absl::StatusOr<bool> AddPool(const cost::Kernel& k, const Opened& o) {
    std::optional<ProductCall> found = CallOf(o, 1, {"max_pool", "avg_pool"});
    const Value v = k.outputs[0];
    if (!found || graph_->type(v).rank() != 4) return false;
    ProductCall call = *std::move(found);
    const Storage to = placement_.NewStorage(v);
    if (to.steps[1] != 1) return false;
    call.outputs = {OutputOperand(o.outputs[0], to, graph_->type(v).dtype, 0)};
    ASSIGN_OR_RETURN(const auto source, PoolKernel(call));
    if (!source) return false;
    Step step = NewStep(k, o);
    step.bytes += BytesOf(graph_->type(v));
    step.arguments.push_back(to.buffer);
    step.variants.push_back({"pool", Ready(*source)});
    program_.steps.push_back(std::move(step));
    return true;
  }

  absl::StatusOr<bool> AddProduct(const cost::Kernel& k, const Opened& o,
                                  int parts) {
    std::optional<ProductCall> found = CallOf(o, parts);
    if (!found) return false;
    ProductCall call = *std::move(found);
    std::vector<int> to;  // buffers of outputs
    for (size_t i = 0; i < k.outputs.size(); ++i) {
      const Value v = k.outputs[i];
      const Storage s = placement_.NewStorage(v);
      call.outputs.push_back(OutputOperand(
          o.outputs[i], s, graph_->type(v).dtype, static_cast<int>(i)));
      to.push_back(s.buffer);
    }
    ASSIGN_OR_RETURN(const Product p, Analyze(call));
    std::vector<OwnVariant> own = OwnVariants(o.graph, call, p, options_);
    if (own.empty()) return false;
    Step step = NewStep(k, o);
    step.flops = p.flops();
    for (Value v : k.outputs) step.bytes += BytesOf(graph_->type(v));
    step.arguments.insert(step.arguments.end(), to.begin(), to.end());
    for (OwnVariant& v : own) {
      if (v.panels) {
        v.variant.arguments = WithB(o, p, Order::kPanels, step.arguments);
        if (v.variant.arguments == step.arguments) continue;
      }
      step.variants.push_back(std::move(v.variant));
    }
    RETURN_IF_ERROR(step.variants[0].source().status());
    if (p.parts == 1 || p.m > kFewRows || p.dtype == DType::kF32) {
      RETURN_IF_ERROR(AddLibrary(o, call, p, to, step));
    }
    if (p.parts == 1) RETURN_IF_ERROR(AddDnn(o, call, p, to[0], step));
    program_.steps.push_back(std::move(step));
    return true;
  }

  // Other orders for the elements of a constant b: InPanels, InPlainOrder.
  enum class Order { kPanels, kPlain };

  // The arguments of a step, with a b in that order if it is a constant.
  std::vector<int> WithB(const Opened& o, const Product& p, Order order,
                         std::vector<int> arguments) {
    for (size_t i = 0; i < o.inputs.size(); ++i) {
      const Buffer& b = program_.buffers[o.buffers[i]];
      if (o.inputs[i].place.pointer == p.b.pointer &&
          b.kind == Buffer::Kind::kConstant &&
          b.bytes == p.k * p.n * ByteSize(p.dtype)) {
        arguments[i] = InOrder(o.buffers[i], p, order);
      }
    }
    return arguments;
  }

  // A buffer of what is in this one, in that order.
  int InOrder(int buffer, const Product& p, Order order) {
    const auto [it, added] = reordered_.insert({{buffer, order}, 0});
    if (!added) return it->second;
    const SharedBytes& from = program_.buffers[buffer].data;
    SharedBytes data = order == Order::kPanels
                           ? InPanels(from, p.dtype, p.k, p.n)
                           : InPlainOrder(from, p);
    it->second = placement_.NewBuffer(Buffer::Kind::kConstant, p.dtype,
                                      program_.buffers[buffer].bytes);
    Buffer& copy = program_.buffers[it->second];
    copy.data = std::move(data);
    copy.copy = true;
    return it->second;
  }

  // The same step by a library, and a kernel for what comes after the product.
  absl::Status AddLibrary(const Opened& o, const ProductCall& call,
                          const Product& p, const std::vector<int>& to,
                          Step& step) {
    std::optional<LibraryProduct> library = AsLibraryProduct(p);
    if (!library || p.flops() < kLibraryFlops) return absl::OkStatus();
    std::vector<int> buffers = o.buffers;
    std::optional<LibraryProduct> whole;
    if (p.parts == 1) {
      ASSIGN_OR_RETURN(whole, WithEpilogue(call, p, *library));
    } else {
      buffers = WithB(o, p, Order::kPlain, std::move(buffers));
      if (buffers == o.buffers) return absl::OkStatus();
    }
    auto add = [&](Variant v) {
      step.variants.push_back(v);
      if (!options_.tf32 || p.dtype != DType::kF32) return;
      v.name = "tf32";
      v.library->tf32 = true;
      step.variants.push_back(std::move(v));
    };
    const bool alone = whole.has_value();
    if (alone) library = std::move(whole);
    library->out.step = alone ? library->out.step : p.n;
    library->out.batch = alone ? library->out.batch : p.m * p.n;
    Variant v{"library", nullptr, library};
    for (size_t i = 0; i < o.inputs.size(); ++i) {
      const std::string& pointer = o.inputs[i].place.pointer;
      if (pointer == p.a.pointer) v.a = buffers[i];
      if (pointer == p.b.pointer) v.b = buffers[i];
      if (pointer == library->added.pointer) v.added = buffers[i];
      if (pointer == library->bias.pointer) v.bias = buffers[i];
    }
    if (alone) {
      v.out = to[0];
      add(std::move(v));
      return absl::OkStatus();
    }
    const TensorType& type = o.graph->type(call.core);
    const std::vector<int64_t> steps = DenseSteps(type.shape, p.convolution);
    v.out =
        placement_.NewBuffer(Buffer::Kind::kScratch, type.dtype, BytesOf(type));
    step.arguments.push_back(v.out);
    std::vector<Operand> inputs = o.inputs;
    inputs.push_back({call.core, {"core", type.dtype, 0, steps}});
    v.arguments = std::move(buffers);
    v.arguments.push_back(v.out);
    v.arguments.insert(v.arguments.end(), to.begin(), to.end());
    ASSIGN_OR_RETURN(const KernelSource rest,
                     ElementKernel(*o.graph, inputs, call.outputs));
    v.source = Ready(rest);
    add(std::move(v));
    return absl::OkStatus();
  }

  // The same step, all of it, by cuDNN.
  absl::Status AddDnn(const Opened& o, const ProductCall& call,
                      const Product& p, int to, Step& step) {
    if (p.flops() < (p.convolution ? kDnnConvolutionFlops : kDnnFlops) ||
        p.depthwise) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(auto product, AsDnnProduct(call, p));
    if (product) AddDnn(*std::move(product), {&o}, to, step);
    return absl::OkStatus();
  }

  // A variant by cuDNN, which reads inputs of these.
  void AddDnn(DnnProduct product, const std::vector<const Opened*>& from,
              int to, Step& step) {
    Variant v{"cudnn", nullptr};
    for (const DnnTensor& t : product.tensors) {
      int buffer = t.pointer.empty() ? Zeros(t, product.dtype) : to;
      for (const Opened* o : from) {
        for (size_t i = 0; i < o->inputs.size(); ++i) {
          if (o->inputs[i].place.pointer == t.pointer) buffer = o->buffers[i];
        }
      }
      v.arguments.push_back(buffer);
    }
    v.dnn = std::move(product);
    step.variants.push_back(std::move(v));
  }

  // A buffer of zeros for the tensor.
  int Zeros(const DnnTensor& t, DType dtype) {
    const int64_t bytes = NumElements(t.shape) * ByteSize(dtype);
    const auto [it, added] = zeros_.insert({bytes, 0});
    if (added) {
      it->second = placement_.NewBuffer(Buffer::Kind::kConstant, dtype, bytes);
      program_.buffers[it->second].data =
          SharedBytes::Own(std::string(bytes, '\0'));
    }
    return it->second;
  }

  absl::Status AddElements(const cost::Kernel& k, const Opened& o,
                           const std::vector<Value>& outputs) {
    std::map<std::vector<int64_t>, std::vector<int>> by_shape;
    for (size_t i = 0; i < outputs.size(); ++i) {
      by_shape[graph_->type(outputs[i]).shape].push_back(static_cast<int>(i));
    }
    for (const auto& [shape, which] : by_shape) {
      std::vector<Storage> to;
      for (int i : which) to.push_back(placement_.NewStorage(outputs[i]));
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
    step.variants.push_back({"element", Ready(source)});
    // How many threads do best on a row is found out.
    const int most = std::max(kMaxLanes, source.lanes / 2);
    for (int lanes = 32; source.lanes > 1 && lanes <= most; lanes *= 2) {
      if (lanes == source.lanes) continue;
      step.variants.push_back(
          {absl::StrCat("element ", lanes),
           [keep = o.graph, inputs = o.inputs, outputs, lanes] {
             return ElementKernel(*keep, inputs, outputs, lanes);
           }});
    }
    RETURN_IF_ERROR(AddColumns(k, o, outputs, step));
    RETURN_IF_ERROR(AddNorm(k, o, which, outputs, step));
    program_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  // Sums whose elements lie side by side, such as those over an image whose
  // channels come last.
  absl::Status AddColumns(const cost::Kernel& k, const Opened& o,
                          const std::vector<Operand>& outputs, Step& step) {
    if (k.family != "reduce") return absl::OkStatus();
    std::vector<Variant> own;
    for (int lanes = 8; lanes <= kMaxLanes && own.size() < 3; lanes *= 2) {
      ASSIGN_OR_RETURN(const auto source,
                       ColumnsKernel(*o.graph, o.inputs, outputs, lanes));
      if (!source) continue;
      own.push_back({absl::StrCat("columns ", lanes), Ready(*source)});
    }
    step.variants.insert(step.variants.begin(), own.begin(), own.end());
    return absl::OkStatus();
  }

  // A norm whose rows stay in registers, where that can be.
  absl::Status AddNorm(const cost::Kernel& k, const Opened& o,
                       const std::vector<int>& which,
                       const std::vector<Operand>& outputs, Step& step) {
    const std::set<std::string> norms = {"layer_norm", "rms_norm"};
    if (k.family != "norm") return absl::OkStatus();
    std::vector<Value> made;
    for (int i : which) made.push_back(k.outputs[i]);
    ASSIGN_OR_RETURN(const Opened whole, Open(k, k.nodes, made, norms));
    if (whole.buffers != o.buffers) return absl::OkStatus();
    const std::optional<ProductCall> call =
        CallOf(whole, 1, {"layer_norm", "rms_norm"});
    if (!call) return absl::OkStatus();
    std::vector<Operand> to = outputs;
    for (size_t i = 0; i < to.size(); ++i) to[i].value = whole.outputs[i];
    const auto kernel = [&](const NormRegisters& registers) {
      return NormKernel(*call->graph, call->core, call->inputs, to, registers);
    };
    // What stands around it may be more than this kernel can do.
    const auto source = kernel({});
    if (!source.ok() || !*source) return absl::OkStatus();
    // That all blocks are there at a time.
    const int each = static_cast<int>(
        CeilDiv(int64_t{(*source)->grid[0]}, int64_t{options_.units}));
    const int64_t room = kRegisters / (int64_t{each} * (*source)->block);
    std::vector<Variant> own = {{"norm", Ready(**source)}};
    if (room >= kManyRegisters) {
      ASSIGN_OR_RETURN(const auto wide, kernel({.factors_as_floats = true}));
      own[0].source = Ready(*wide);
    } else if (room >= kFewRegisters) {
      ASSIGN_OR_RETURN(const auto bounded, kernel({.blocks = each}));
      own.push_back({absl::StrCat("norm ", each), Ready(*bounded)});
    }
    step.variants.insert(step.variants.begin(), own.begin(), own.end());
    return absl::OkStatus();
  }

  // ---- After the kernels

  absl::Status AddOutputs() {
    for (const ir::Output& o : graph_->outputs()) {
      const TensorType& type = graph_->type(o.value);
      ASSIGN_OR_RETURN(Storage s, placement_.Result(o.value));
      const std::vector<int64_t> dense = DenseSteps(type.shape, false);
      bool regular = s.offset == 0;
      for (int d = 0; d < type.rank(); ++d) {
        regular = regular && (type.shape[d] == 1 || s.steps[d] == dense[d]);
      }
      if (!regular && !options_.part_of_bytes) {
        cost::Kernel copy;
        copy.family = "copy";
        const Value v = o.value;
        ASSIGN_OR_RETURN(const Opened opened, Open(copy, {}, {v}));
        Storage to{placement_.NewBuffer(Buffer::Kind::kScratch, type.dtype,
                                        BytesOf(type)),
                   0, dense};
        RETURN_IF_ERROR(AddElementStep(copy, opened, {0}, {to}));
        s = to;
      }
      program_.outputs.push_back({o.name, type, s.buffer});
    }
    return absl::OkStatus();
  }

  std::shared_ptr<const ir::Graph> graph_;
  const std::vector<cost::Kernel>& kernels_;
  const ProgramOptions& options_;
  ir::Expansions expansions_;
  Program program_;
  int kernel_ = 0;                // of the plan, that is being added
  std::map<int64_t, int> zeros_;  // buffers, by their bytes
  // Buffers, by those that have the same in the order of the plan.
  std::map<std::pair<int, Order>, int> reordered_;
  Placement placement_;
  ColdConstants cold_;
};

}  // namespace

absl::StatusOr<Program> MakeProgram(const ir::Graph& graph,
                                    const cost::CostModel& cost,
                                    const ProgramOptions& options) {
  ASSIGN_OR_RETURN(ir::Graph prepared, Prepare(graph));
  std::vector<cost::Kernel> kernels = cost.MakePlan(prepared).Kernels(prepared);
  std::vector<PlannedKernel> planned = Launched(prepared, kernels);
  MoveEpilogues(prepared, kernels, options.cached_bytes);
  RETURN_IF_ERROR(JoinProducts(prepared, kernels, options.cached_bytes));
  MoveSums(prepared, kernels);
  MoveParts(prepared, kernels, options.cached_bytes);
  ASSIGN_OR_RETURN(Program program,
                   Maker(std::move(prepared), kernels, options).Make());
  program.planned = std::move(planned);
  return program;
}

}  // namespace isomer::cuda
