// Kinds and instances are made when they are first asked for and kept.
#include "xfer_gen/world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/build_side.h"
#include "graph/hashing.h"
#include "ops/sharding.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

// Finds the dimensions of a graph's inputs that dimensions of its values are.
class Carrier {
 public:
  explicit Carrier(const ir::Graph& graph) : graph_(graph) {}

  std::vector<Carried> Carry(Value v, int dim) {
    const ir::Node& n = graph_.node(v.node);
    if (n.kind == ir::Node::Kind::kInput) {
      for (size_t i = 0; i < graph_.inputs().size(); ++i) {
        if (graph_.inputs()[i] == v.node) return {{static_cast<int>(i), dim}};
      }
    }
    if (n.kind != ir::Node::Kind::kOp) return {};
    std::vector<Carried> out;
    for (const Sharding& s : ShardingsOf(v.node)) {
      if (s.output_dim != dim) continue;
      for (size_t i = 0; i < s.input_dims.size(); ++i) {
        if (s.input_dims[i] < 0) continue;
        for (Carried c : Carry(n.inputs[i], s.input_dims[i])) {
          if (std::find(out.begin(), out.end(), c) == out.end()) {
            out.push_back(c);
          }
        }
      }
      break;
    }
    return out;
  }

 private:
  // None where they are not known.
  const std::vector<Sharding>& ShardingsOf(NodeId id) {
    auto [it, fresh] = shardings_.try_emplace(id);
    if (!fresh) return it->second;
    const ir::Node& n = graph_.node(id);
    std::vector<TensorType> types;
    for (const Value& in : n.inputs) types.push_back(graph_.type(in));
    auto found = LegalShardings(*n.op, types, *n.attrs);
    if (found.ok()) it->second = *std::move(found);
    return it->second;
  }

  const ir::Graph& graph_;
  std::map<NodeId, std::vector<Sharding>> shardings_;
};

// What carried dimensions depend on: the template, the ranks, and the
// attributes, where of a list, but for a shape, it matters what is 0 or 1.
std::string CarriedKey(const Template& t,
                       const ir::SideTyping<int64_t>& typing) {
  std::string key = t.name;
  for (const ir::TypedNode<int64_t>& n : typing.nodes) {
    for (const TensorType& type : n.types) {
      absl::StrAppend(&key, " ", type.rank());
    }
    for (const auto& [name, value] : n.attrs.entries()) {
      const auto* list = std::get_if<std::vector<int64_t>>(&value);
      if (list == nullptr || name == "shape") {
        absl::StrAppend(&key, " ", name, "=", AttrText(value));
        continue;
      }
      absl::StrAppend(&key, " ", name, "=");
      for (int64_t x : *list) {
        absl::StrAppend(&key, x == 0 ? "0" : x == 1 ? "1" : "+");
      }
    }
  }
  return key;
}

std::vector<Field> RandomValues(uint64_t seed, int64_t n) {
  std::vector<Field> out;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t high = ir::HashCombine(seed, 2 * i);
    const uint64_t low = ir::HashCombine(seed, 2 * i + 1);
    out.push_back(
        Field::FromWide(static_cast<unsigned __int128>(high) << 64 | low));
  }
  return out;
}

// What a template asks of the sizes of its operands.
absl::Status CheckConditions(const Template& t,
                             absl::Span<const TensorType* const> tensors,
                             absl::Span<const std::optional<Attr>> attrs) {
  auto type_of = [&](ir::RuleOperand o) -> const TensorType* {
    const int variable = t.where_variables[o.node];
    return variable < 0 ? nullptr : tensors[variable];
  };
  for (const ir::RuleCondition& c : t.where) {
    ASSIGN_OR_RETURN(const bool holds, ir::Holds(c, {attrs, type_of, nullptr}));
    if (!holds) return Invalid("a condition of template ", t.name, " fails");
  }
  return absl::OkStatus();
}

// Sizes to confirm at may be larger than those to enumerate at.
constexpr int kMoreElements = 8;

}  // namespace

const CarriedDims::Outputs& CarriedDims::Of(const std::string& key,
                                            const ir::Graph& graph) {
  {
    std::lock_guard lock(mutex_);
    if (auto it = known_.find(key); it != known_.end()) return it->second;
  }
  Outputs outputs;
  Carrier carrier(graph);
  for (const ir::Output& o : graph.outputs()) {
    auto& dims = outputs.emplace_back();
    for (int d = 0; d < graph.type(o.value).rank(); ++d) {
      dims.push_back(carrier.Carry(o.value, d));
    }
  }
  std::lock_guard lock(mutex_);
  // Another thread may have found it meanwhile.
  return known_.try_emplace(key, std::move(outputs)).first->second;
}

std::vector<Field> LeafValues(uint64_t seed, int leaf, const TensorType& type,
                              bool above) {
  uint64_t h = ir::HashCombine(ir::HashMix(seed + 1), leaf);
  std::vector<Field> values = RandomValues(h, NumElements(type));
  while (values.size() == 1 && Less(Field(), values[0]) != above) {
    h = ir::HashMix(h);
    values = RandomValues(h, 1);
  }
  return values;
}

uint64_t TypeHash(const TensorType& type) {
  return ir::HashText(TypeText(type));
}

std::vector<Leaf> LeavesOf(const Preset& preset) {
  std::vector<Leaf> leaves;
  for (size_t c = 0; c < preset.leaves.size(); ++c) {
    for (int i = 0; i < preset.leaves[c].count; ++i) {
      leaves.push_back({static_cast<int>(c), i});
    }
  }
  return leaves;
}

std::string LeafName(const Preset& preset, const Leaf& leaf) {
  return absl::StrCat(preset.leaves[leaf.cls].name, leaf.index + 1);
}

World::World(const Preset& preset, int assignment, uint64_t seed,
             std::shared_ptr<CarriedDims> carried)
    : preset_(preset),
      sizes_(preset.sizes[assignment]),
      first_(assignment == 0),
      max_elements_(preset.max_elements *
                    (assignment == 0 ? 1 : kMoreElements)),
      carried_(carried != nullptr ? std::move(carried)
                                  : std::make_shared<CarriedDims>()) {
  for (const Template& t : preset.templates) {
    has_seams_ = has_seams_ || t.parts >= 0;
  }
  const std::vector<Leaf> leaves = LeavesOf(preset);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const TensorType type =
        LeafType(preset.leaves[leaves[i].cls], leaves[i].index, sizes_);
    leaf_kinds_.push_back(
        Intern(type, std::vector<int>(type.shape.size(), -1)));
    const int leaf = static_cast<int>(i);
    leaf_values_.push_back(LeafValues(seed, leaf, type, !first_));
    spare_values_.push_back(LeafValues(~seed, leaf, type, first_));
  }
}

const TensorType& World::type(KindId kind) const { return kinds_[kind].type; }

bool World::HasSeam(KindId kind, int dim) const {
  const std::vector<int>& seams = kinds_[kind].seams;
  return dim < static_cast<int>(seams.size()) && seams[dim] >= 0;
}

KindId World::Intern(const TensorType& type, std::vector<int> seams) {
  const int number =
      type_numbers_.try_emplace(TypeText(type), type_numbers_.size())
          .first->second;
  auto [it, fresh] = kind_ids_.try_emplace({number, seams}, kinds_.size());
  if (!fresh) return it->second;
  std::vector<int64_t> places;
  for (int seam : seams) places.push_back(seam < 0 ? -1 : seams_[seam].place);
  kinds_.Add({type, number, std::move(seams), std::move(places)});
  return it->second;
}

int World::InternSeam(Seam seam) {
  auto [it, fresh] = seam_ids_.try_emplace(seam, seams_.size());
  if (fresh) seams_.push_back(seam);
  return it->second;
}

const Instance* World::Find(int t, absl::Span<const KindId> kinds) {
  const InstanceKey key(t, kinds);
  auto& shard = instances_[absl::HashOf(key) >> kShardShift];
  {
    std::lock_guard lock(shard.mutex);
    if (auto it = shard.map.find(key); it != shard.map.end()) {
      return it->second.get();
    }
  }
  // Most do not fit: they are not kept.
  const Shape* shape = ShapeOf(t, kinds);
  if (shape == nullptr) return nullptr;
  auto made = std::make_unique<Instance>(*shape);
  made->outputs = OutputsOf(t, *shape, kinds);
  std::lock_guard lock(shard.mutex);
  // Another thread may have made it meanwhile.
  return shard.map.try_emplace(key, std::move(made)).first->second.get();
}

std::vector<KindId> World::OutputsOf(int t, const Shape& shape,
                                     absl::Span<const KindId> kinds) {
  std::vector<KindId> out;
  std::lock_guard lock(mutex_);
  for (size_t k = 0; k < shape.types.size(); ++k) {
    out.push_back(Intern(shape.types[k], SeamsOf(preset_.templates[t], shape,
                                                 static_cast<int>(k), kinds)));
  }
  return out;
}

absl::Status World::WhyNot(int t, absl::Span<const KindId> kinds) {
  return MakeShape(t, kinds).status();
}

absl::StatusOr<std::vector<std::optional<Attr>>> World::AttrsOf(
    const Template& t, absl::Span<const KindId> kinds) const {
  std::vector<std::optional<Attr>> attrs(t.attr_names.size());
  for (size_t i = 0; i < attrs.size(); ++i) {
    const std::string& name = t.attr_names[i];
    if (t.parts >= 0 && name == "seam") {
      const Kind& k = kinds_[kinds[0]];
      if (t.parts >= k.type.rank() || k.seams[t.parts] < 0) {
        return Invalid("the operand was not joined along ", t.parts);
      }
      attrs[i] = Attr(k.places[t.parts]);
    } else if (sizes_.contains(name)) {
      attrs[i] = Attr(SizeOf(sizes_, name, 0));
    } else if (t.attr_words[i]) {
      attrs[i] = Attr(name);
    }
  }
  return attrs;
}

absl::StatusOr<World::ShapeKey> World::KeyOf(
    int t, absl::Span<const KindId> kinds) const {
  ShapeKey key = {};
  key[0] = t;
  for (size_t i = 0; i < kinds.size(); ++i) {
    key[i + 1] = kinds_[kinds[i]].type_number + 1;
  }
  const int parts = preset_.templates[t].parts;
  if (parts < 0) return key;
  const Kind& k = kinds_[kinds[0]];
  if (parts >= k.type.rank() || k.seams[parts] < 0) {
    return Invalid("the operand was not joined along ", parts);
  }
  key.back() = k.places[parts];
  return key;
}

const Shape* World::ShapeOf(int t, absl::Span<const KindId> kinds) {
  const absl::StatusOr<ShapeKey> key = KeyOf(t, kinds);
  if (!key.ok()) return nullptr;
  Slot* slot = nullptr;
  {
    auto& shard = shapes_[absl::HashOf(*key) >> kShardShift];
    std::lock_guard lock(shard.mutex);
    std::unique_ptr<Slot>& at = shard.map[*key];
    if (at == nullptr) at = std::make_unique<Slot>();
    slot = at.get();
  }
  absl::call_once(slot->once, [&] {
    absl::StatusOr<std::unique_ptr<Shape>> made = MakeShape(t, kinds);
    if (made.ok()) slot->shape = *std::move(made);
  });
  return slot->shape.get();
}

bool Shape::Ready() const {
  absl::call_once(compiled_, [&] {
    if (graph == nullptr) return;
    absl::StatusOr<Program> made =
        Program::Compile(*graph, *unrolled, /*only_whole=*/true);
    if (made.ok()) program = *std::move(made);
    graph = nullptr;
  });
  return !program.outputs().empty();
}

absl::StatusOr<std::unique_ptr<Shape>> World::MakeShape(
    int t, absl::Span<const KindId> kinds) {
  const Template& tmpl = preset_.templates[t];
  std::vector<TensorType> types;
  for (KindId k : kinds) types.push_back(kinds_[k].type);
  ASSIGN_OR_RETURN(const auto attrs, AttrsOf(tmpl, kinds));
  ir::SideTyping<int64_t> typing;
  std::vector<const TensorType*> tensors(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    tensors[tmpl.param_variables[i]] = &types[i];
  }
  RETURN_IF_ERROR(ir::TypeSide<int64_t>(tmpl.side, tensors, attrs, {}, typing));
  RETURN_IF_ERROR(CheckConditions(tmpl, tensors, attrs));
  auto owned = std::make_unique<ir::Graph>();
  ir::Graph& graph = *owned;
  std::vector<Value> inputs(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    inputs[tmpl.param_variables[i]] = graph.AddInput(tmpl.params[i], types[i]);
  }
  ASSIGN_OR_RETURN(ir::BuiltSide built,
                   ir::BuildSide(graph, tmpl.side, typing, inputs, attrs));
  auto shape = std::make_unique<Shape>();
  for (size_t k = 0; k < built.outputs.size(); ++k) {
    const TensorType& type = graph.type(built.outputs[k]);
    if (NumElements(type) > max_elements_ || NumElements(type) < 1) {
      return Invalid("an output of ", NumElements(type), " elements");
    }
    graph.AddOutput(absl::StrCat("y", k), built.outputs[k]);
    shape->types.push_back(type);
    shape->type_hashes.push_back(TypeHash(type));
    shape->samples.push_back(SampledPlaces(type));
  }
  if (has_seams_) {
    shape->carried = &carried_->Of(CarriedKey(tmpl, typing), graph);
  }
  shape->typing = std::move(typing.nodes);
  if (!first_) {
    // Graphs are not enumerated here, only compared, and many tensors only
    // typed: what is run is compiled when it is.
    shape->graph = std::move(owned);
    shape->unrolled = &unrolled_;
    return shape;
  }
  ASSIGN_OR_RETURN(shape->program,
                   Program::Compile(graph, unrolled_, /*only_whole=*/false));
  for (size_t k = 0; k < shape->samples.size(); ++k) {
    for (uint32_t& place : shape->samples[k]) {
      place += static_cast<uint32_t>(shape->program.offset(k));
    }
  }
  return shape;
}

std::vector<int> World::SeamsOf(const Template& t, const Shape& shape,
                                int number, absl::Span<const KindId> kinds) {
  std::vector<int> seams(shape.types[number].rank(), -1);
  bool any = false;
  for (KindId k : kinds) {
    for (int seam : kinds_[k].seams) any = any || seam >= 0;
  }
  if (!has_seams_ || (!any && t.joins < 0)) return seams;
  for (int d = 0; d < static_cast<int>(seams.size()); ++d) {
    if (d == t.joins) {
      const Kind &a = kinds_[kinds[0]], &b = kinds_[kinds[1]];
      seams[d] = InternSeam({a.seams[d], b.seams[d], a.type.shape[d]});
    } else if (d == t.parts) {
      const Seam s = seams_[kinds_[kinds[0]].seams[d]];
      seams[d] = number == 0 ? s.left : s.right;
    } else if (any) {
      // Operands that share a dimension must have been joined alike.
      const std::vector<Carried>& from = (*shape.carried)[number][d];
      for (size_t i = 0; i < from.size(); ++i) {
        const int seam = kinds_[kinds[from[i].operand]].seams[from[i].dim];
        if (i > 0 && seam != seams[d]) {
          seams[d] = -1;
          break;
        }
        seams[d] = seam;
      }
    }
  }
  return seams;
}

}  // namespace isomer::gen
