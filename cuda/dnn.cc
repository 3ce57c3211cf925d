// The functions and numbers of cuDNN that are used, declared here: they never
// change. All is said to it by descriptors, sets of numbered attributes.
#include "cuda/dnn.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cuda/layouts.h"
#include "cuda/library.h"
#include "ops/status.h"

namespace isomer::cuda {

struct DnnApi {
  size_t (*version)();
  const char* (*error_text)(int);
  void (*last_error)(char*, size_t);
  int (*create)(void**);
  int (*destroy)(void*);
  int (*set_stream)(void*, void* stream);
  int (*new_descriptor)(int kind, void**);
  int (*free_descriptor)(void*);
  int (*set)(void*, int attribute, int type, int64_t count, const void*);
  int (*get)(void*, int attribute, int type, int64_t wanted, int64_t* count,
             void*);
  int (*finish)(void*);
  int (*run)(void* handle, void* plan, void* pack);
};

struct DnnHandle {
  std::shared_ptr<const DnnApi> api;
  absl::Mutex mutex;
  void* handle = nullptr;
  ~DnnHandle() {
    if (handle != nullptr) api->destroy(handle);
  }
};

namespace {

// Of cudnn_graph.h: types of data and of attributes.
constexpr int kFloat = 0, kHalf = 2, kBfloat16 = 9;
constexpr int kOfHandle = 0, kOfDataType = 1, kOfBool = 2, kOfInt64 = 3;
constexpr int kOfFloat = 4, kOfDouble = 5, kOfPointer = 6, kOfConvMode = 7;
constexpr int kOfHeuristic = 8, kOfKnob = 9, kOfNumericalNote = 11;
constexpr int kOfPointwiseMode = 14, kOfDescriptor = 15, kOfReduction = 18;
constexpr int kOfBehaviorNote = 19;

// Kinds of descriptors, and the attributes of each.
constexpr int kPointwise = 0;
constexpr int kPointwiseMode = 0, kPointwisePrecision = 1;
constexpr int kPointwiseLowest = 3, kPointwiseMost = 4;
constexpr int kConvolution = 1;
constexpr int kConvPrecision = 100, kConvMode = 101, kConvDilations = 102;
constexpr int kConvStrides = 103, kConvPadEnd = 104, kConvPadBegin = 105;
constexpr int kConvSpace = 106;
constexpr int kHeuristic = 4;
constexpr int kHeuristicMode = 200, kHeuristicGraph = 201;
constexpr int kHeuristicResults = 202;
constexpr int kConfig = 3;
constexpr int kConfigEngine = 300, kConfigKnobs = 302;
constexpr int kExecution = 5;
constexpr int kExecutionHandle = 400, kExecutionConfig = 401;
constexpr int kExecutionWorkspace = 402;
constexpr int kKnob = 7;
constexpr int kKnobType = 600, kKnobValue = 601;
constexpr int kConvForward = 10;
constexpr int kForwardAlpha = 700, kForwardBeta = 701, kForwardConv = 702;
constexpr int kForwardFilters = 703, kForwardImage = 704, kForwardOut = 705;
constexpr int kOperation = 13;
constexpr int kOperationWhat = 750, kOperationX = 751, kOperationB = 752;
constexpr int kOperationOut = 753;
constexpr int kGraph = 15;
constexpr int kGraphHandle = 800, kGraphOperations = 801;
constexpr int kTensor = 17;
constexpr int kTensorAlignment = 900, kTensorType = 901, kTensorShape = 902;
constexpr int kTensorSteps = 903, kTensorId = 906, kTensorVirtual = 907;
constexpr int kTensorByValue = 908;
constexpr int kVariantPack = 16;
constexpr int kPackIds = 1000, kPackPointers = 1001, kPackWorkspace = 1003;
constexpr int kEngine = 2;
constexpr int kEngineGraph = 1300, kEngineIndex = 1301, kEngineNotes = 1303;
constexpr int kEngineBehavior = 1305;
constexpr int kMatmul = 18;
constexpr int kMatmulPrecision = 1500;
constexpr int kMatmulOperation = 19;
constexpr int kMatmulA = 1520, kMatmulB = 1521, kMatmulOut = 1522;
constexpr int kMatmulWhat = 1523;
constexpr int kReduction = 21;
constexpr int kReductionMode = 1600, kReductionPrecision = 1601;
constexpr int kReductionOperation = 22;
constexpr int kReductionX = 1610, kReductionOut = 1611, kReductionWhat = 1612;

constexpr int kCrossCorrelation = 1;
// Of softmax: functions, and what is made of rows.
constexpr int kDiv = 6, kExp = 13, kLog = 15;
constexpr int kSum = 0, kMost = 3;
constexpr int kModeA = 3, kModeFallback = 2;
constexpr int kMaxNotes = 32, kMaxKnobs = 64, kMaxWays = 64;
constexpr int64_t kAlignment = 16;  // bytes, of every tensor

// Notes of engines: tensor cores, and what makes them other than exact
// products that are summed in float, always in the same order.
constexpr int kUsesTensorCores = 0, kDownConverts = 1, kReducesPrecision = 2;
constexpr int kFourier = 3, kNondeterministic = 4, kWinograd = 5;

// A note on how engines behave.
constexpr int kIsCompiled = 0;

// Identifiers of tensors: those of the product, results in between, numbers.
constexpr int64_t kFirstResult = 1000, kFirstNumber = 2000;

int TypeOf(DType dtype) {
  return dtype == DType::kF16    ? kHalf
         : dtype == DType::kBF16 ? kBfloat16
                                 : kFloat;
}

int ModeOf(DnnOperation::Kind kind) {
  switch (kind) {
    case DnnOperation::Kind::kAdd:
      return 0;
    case DnnOperation::Kind::kMul:
      return 1;
    case DnnOperation::Kind::kSub:
      return 9;
    case DnnOperation::Kind::kRelu:
      return 100;
    case DnnOperation::Kind::kTanh:
      return 101;
    case DnnOperation::Kind::kSigmoid:
      return 102;
    case DnnOperation::Kind::kGelu:
      return 104;
  }
  return 0;
}

// The shape of results in between: scores are of as many columns as keys.
std::vector<int64_t> ResultShape(const DnnProduct& p) {
  std::vector<int64_t> shape = p.tensors[2].shape;
  if (p.attention) shape.back() = p.tensors[1].shape.back();
  return shape;
}

absl::Status Check(const DnnApi& api, int result, const char* what) {
  if (result == 0) return absl::OkStatus();
  char more[256] = "";
  api.last_error(more, sizeof(more) - 1);
  const std::string text =
      absl::StrCat("cuDNN: ", what, ": ", api.error_text(result), " (", result,
                   ")", more[0] == '\0' ? "" : ": ", more);
  // What it has no engine for is no error of anyone.
  return result / 1000 == 3 ? absl::UnimplementedError(text)
                            : absl::InternalError(text);
}

// A set of attributes. The first call that fails is the one that counts.
class Descriptor {
 public:
  Descriptor(std::shared_ptr<const DnnApi> api, int kind)
      : api_(std::move(api)) {
    result_ = api_->new_descriptor(kind, &descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept
      : api_(std::move(other.api_)),
        descriptor_(std::exchange(other.descriptor_, nullptr)),
        result_(other.result_) {}
  ~Descriptor() {
    if (descriptor_ != nullptr) api_->free_descriptor(descriptor_);
  }

  void* get() const { return descriptor_; }

  void Set(int attribute, int type, int64_t count, const void* values) {
    if (result_ == 0) {
      result_ = api_->set(descriptor_, attribute, type, count, values);
    }
  }
  void SetEnum(int attribute, int type, int value) {
    Set(attribute, type, 1, &value);
  }
  void SetInts(int attribute, const std::vector<int64_t>& values) {
    Set(attribute, kOfInt64, static_cast<int64_t>(values.size()),
        values.data());
  }
  void SetBool(int attribute, bool value) {
    Set(attribute, kOfBool, 1, &value);
  }
  void SetDescriptor(int attribute, void* other) {
    Set(attribute, kOfDescriptor, 1, &other);
  }
  // The descriptor is complete.
  int Finish() {
    if (result_ == 0) result_ = api_->finish(descriptor_);
    return result_;
  }
  // So many as there are, or none where there is no answer.
  int64_t Get(int attribute, int type, int64_t wanted, void* values) const {
    int64_t count = 0;
    const int result =
        api_->get(descriptor_, attribute, type, wanted, &count, values);
    return result == 0 ? count : 0;
  }
  // `wanted` descriptors of a kind that the attribute has.
  std::vector<Descriptor> GetDescriptors(int attribute, int kind,
                                         int64_t wanted) const {
    std::vector<Descriptor> out;
    std::vector<void*> pointers;
    for (int64_t i = 0; i < wanted; ++i) {
      out.emplace_back(api_, kind);
      pointers.push_back(out.back().get());
    }
    const int64_t count =
        Get(attribute, kOfDescriptor, wanted, pointers.data());
    while (static_cast<int64_t>(out.size()) > count) out.pop_back();
    return out;
  }

 private:
  std::shared_ptr<const DnnApi> api_;
  void* descriptor_ = nullptr;
  int result_ = 0;
};

// A product and what follows it as a graph of operations.
class Operations {
 public:
  explicit Operations(std::shared_ptr<const DnnApi> api)
      : api_(std::move(api)) {}

  absl::Status Make(const DnnProduct& p, void* handle) {
    for (size_t i = 0; i < p.tensors.size(); ++i) {
      ASSIGN_OR_RETURN(void* const t, AddTensor(static_cast<int64_t>(i + 1),
                                                TypeOf(p.dtype), p.tensors[i]));
      tensors_.push_back(t);
    }
    // The last result is the output, or scores.
    const size_t between = p.operations.size() + (p.attention ? 1 : 0);
    while (results_.size() < between) {
      ASSIGN_OR_RETURN(void* const t, AddResult(ResultShape(p), p.convolution));
      results_.push_back(t);
    }
    if (!p.attention) results_.push_back(tensors_[2]);
    RETURN_IF_ERROR(p.convolution
                        ? AddConvolution(p)
                        : AddMatmul(tensors_[0], tensors_[1], results_[0]));
    for (size_t i = 0; i < p.operations.size(); ++i) {
      RETURN_IF_ERROR(AddPointwise(p, static_cast<int>(i)));
    }
    if (p.attention) RETURN_IF_ERROR(AddSoftmax(p));
    Descriptor graph(api_, kGraph);
    graph.Set(kGraphHandle, kOfHandle, 1, &handle);
    graph.Set(kGraphOperations, kOfDescriptor,
              static_cast<int64_t>(operations_.size()), operations_.data());
    ASSIGN_OR_RETURN(graph_, Add(std::move(graph), "a graph of operations"));
    return absl::OkStatus();
  }

  void* graph() const { return graph_; }
  // Numbers that operations read, by identifier.
  const std::vector<std::pair<int64_t, float>>& numbers() const {
    return numbers_;
  }

 private:
  enum class Where { kMemory, kNowhere, kNumber };

  absl::StatusOr<void*> Add(Descriptor d, const char* what) {
    RETURN_IF_ERROR(Check(*api_, d.Finish(), what));
    parts_.push_back(std::move(d));
    return parts_.back().get();
  }

  absl::StatusOr<void*> AddTensor(int64_t id, int type, const DnnTensor& tensor,
                                  Where where = Where::kMemory) {
    Descriptor t(api_, kTensor);
    t.SetEnum(kTensorType, kOfDataType, type);
    t.SetInts(kTensorShape, tensor.shape);
    t.SetInts(kTensorSteps, tensor.steps);
    t.SetInts(kTensorId, {id});
    t.SetInts(kTensorAlignment, {kAlignment});
    if (where == Where::kNowhere) t.SetBool(kTensorVirtual, true);
    if (where == Where::kNumber) t.SetBool(kTensorByValue, true);
    return Add(std::move(t), "a tensor");
  }

  // A result in between, without gaps.
  absl::StatusOr<void*> AddResult(const std::vector<int64_t>& shape,
                                  bool channels_last = false,
                                  int type = kFloat) {
    return AddTensor(kFirstResult + nowhere_++, type,
                     {"", shape, DenseSteps(shape, channels_last)},
                     Where::kNowhere);
  }

  absl::Status AddConvolution(const DnnProduct& p) {
    Descriptor what(api_, kConvolution);
    what.SetEnum(kConvPrecision, kOfDataType, kFloat);
    what.SetEnum(kConvMode, kOfConvMode, kCrossCorrelation);
    what.SetInts(kConvSpace, {static_cast<int64_t>(p.stride.size())});
    what.SetInts(kConvStrides, p.stride);
    what.SetInts(kConvDilations, p.dilation);
    what.SetInts(kConvPadBegin, p.pad_begin);
    what.SetInts(kConvPadEnd, p.pad_end);
    ASSIGN_OR_RETURN(void* const how, Add(std::move(what), "a convolution"));
    const float one = 1, zero = 0;
    Descriptor product(api_, kConvForward);
    product.Set(kForwardAlpha, kOfFloat, 1, &one);
    product.Set(kForwardBeta, kOfFloat, 1, &zero);
    product.SetDescriptor(kForwardConv, how);
    product.SetDescriptor(kForwardImage, tensors_[0]);
    product.SetDescriptor(kForwardFilters, tensors_[1]);
    product.SetDescriptor(kForwardOut, results_[0]);
    return AddOperation(std::move(product));
  }

  absl::Status AddMatmul(void* a, void* b, void* out) {
    Descriptor what(api_, kMatmul);
    what.SetEnum(kMatmulPrecision, kOfDataType, kFloat);
    ASSIGN_OR_RETURN(void* const how, Add(std::move(what), "a product"));
    Descriptor product(api_, kMatmulOperation);
    product.SetDescriptor(kMatmulWhat, how);
    product.SetDescriptor(kMatmulA, a);
    product.SetDescriptor(kMatmulB, b);
    product.SetDescriptor(kMatmulOut, out);
    return AddOperation(std::move(product));
  }

  absl::Status AddPointwise(const DnnProduct& p, int i) {
    const DnnOperation& o = p.operations[i];
    void* other = nullptr;
    if (o.result >= 0) other = results_[o.result];
    if (o.tensor >= 0) other = tensors_[o.tensor];
    if (o.number) {
      const int64_t id = kFirstNumber + i;
      const std::vector<int64_t> ones(p.tensors[2].shape.size(), 1);
      ASSIGN_OR_RETURN(other,
                       AddTensor(id, kFloat, {"", ones, ones}, Where::kNumber));
      numbers_.push_back({id, static_cast<float>(*o.number)});
    }
    return AddFunction(ModeOf(o.kind), results_[o.x], other, results_[i + 1],
                       o.limit);
  }

  // A function of one tensor or, with `other`, of two.
  absl::Status AddFunction(int mode, void* x, void* other, void* out,
                           std::optional<double> limit = {}) {
    Descriptor what(api_, kPointwise);
    what.SetEnum(kPointwiseMode, kOfPointwiseMode, mode);
    what.SetEnum(kPointwisePrecision, kOfDataType, kFloat);
    if (limit) {
      const double lowest = 0;
      what.Set(kPointwiseLowest, kOfDouble, 1, &lowest);
      what.Set(kPointwiseMost, kOfDouble, 1, &*limit);
    }
    ASSIGN_OR_RETURN(void* const how, Add(std::move(what), "an operation"));
    Descriptor operation(api_, kOperation);
    operation.SetDescriptor(kOperationWhat, how);
    operation.SetDescriptor(kOperationX, x);
    if (other != nullptr) operation.SetDescriptor(kOperationB, other);
    operation.SetDescriptor(kOperationOut, out);
    return AddOperation(std::move(operation));
  }

  // One number of each row.
  absl::Status AddReduction(int mode, void* x, void* out) {
    Descriptor what(api_, kReduction);
    what.SetEnum(kReductionMode, kOfReduction, mode);
    what.SetEnum(kReductionPrecision, kOfDataType, kFloat);
    ASSIGN_OR_RETURN(void* const how, Add(std::move(what), "a reduction"));
    Descriptor operation(api_, kReductionOperation);
    operation.SetDescriptor(kReductionX, x);
    operation.SetDescriptor(kReductionOut, out);
    operation.SetDescriptor(kReductionWhat, how);
    return AddOperation(std::move(operation));
  }

  // The softmax of the scores' rows, times values. Nobody reads `stats`, but
  // engines know attention by it.
  absl::Status AddSoftmax(const DnnProduct& p) {
    using Kind = DnnOperation::Kind;
    const std::vector<int64_t> shape = ResultShape(p);
    std::vector<int64_t> row = shape;
    row.back() = 1;
    void* const scores = results_.back();
    ASSIGN_OR_RETURN(void* const most, AddResult(row));
    ASSIGN_OR_RETURN(void* const shifted, AddResult(shape));
    ASSIGN_OR_RETURN(void* const power, AddResult(shape));
    ASSIGN_OR_RETURN(void* const sum, AddResult(row));
    ASSIGN_OR_RETURN(void* const log, AddResult(row));
    ASSIGN_OR_RETURN(void* const stats, AddResult(row));
    ASSIGN_OR_RETURN(void* const weights,
                     AddResult(shape, false, TypeOf(p.dtype)));
    RETURN_IF_ERROR(AddReduction(kMost, scores, most));
    RETURN_IF_ERROR(AddFunction(ModeOf(Kind::kSub), scores, most, shifted));
    RETURN_IF_ERROR(AddFunction(kExp, shifted, nullptr, power));
    RETURN_IF_ERROR(AddReduction(kSum, power, sum));
    RETURN_IF_ERROR(AddFunction(kLog, sum, nullptr, log));
    RETURN_IF_ERROR(AddFunction(ModeOf(Kind::kAdd), most, log, stats));
    RETURN_IF_ERROR(AddFunction(kDiv, power, sum, weights));
    return AddMatmul(weights, tensors_.back(), tensors_[2]);
  }

  absl::Status AddOperation(Descriptor d) {
    ASSIGN_OR_RETURN(void* const made, Add(std::move(d), "an operation"));
    operations_.push_back(made);
    return absl::OkStatus();
  }

  std::shared_ptr<const DnnApi> api_;
  std::vector<Descriptor> parts_;  // the graph and all that it is made of
  std::vector<std::pair<int64_t, float>> numbers_;
  std::vector<void*> tensors_, results_, operations_;
  int64_t nowhere_ = 0;  // tensors that are never in memory
  void* graph_ = nullptr;
};

// An engine with its settings.
struct Way {
  std::string text;  // "" if it is not wanted
  bool compiled = false;
};

// True if the engine sums exact products in float, always in the same order.
bool IsExact(const Descriptor& engine, DType dtype) {
  std::vector<int> notes(kMaxNotes);
  notes.resize(
      engine.Get(kEngineNotes, kOfNumericalNote, kMaxNotes, notes.data()));
  for (int note : notes) {
    if (note == kDownConverts || note == kReducesPrecision ||
        note == kFourier || note == kNondeterministic || note == kWinograd ||
        (note == kUsesTensorCores && dtype == DType::kF32)) {
      return false;
    }
  }
  return true;
}

Way WayOf(const Descriptor& config, DType dtype) {
  const std::vector<Descriptor> engines =
      config.GetDescriptors(kConfigEngine, kEngine, 1);
  int64_t index = 0;
  if (engines.empty() ||
      engines[0].Get(kEngineIndex, kOfInt64, 1, &index) != 1 ||
      !IsExact(engines[0], dtype)) {
    return {};
  }
  Way way{absl::StrCat(index)};
  for (const Descriptor& knob :
       config.GetDescriptors(kConfigKnobs, kKnob, kMaxKnobs)) {
    int type = 0;
    int64_t value = 0;
    if (knob.Get(kKnobType, kOfKnob, 1, &type) != 1 ||
        knob.Get(kKnobValue, kOfInt64, 1, &value) != 1) {
      return {};
    }
    absl::StrAppend(&way.text, " ", type, "=", value);
  }
  std::vector<int> notes(kMaxNotes);
  notes.resize(engines[0].Get(kEngineBehavior, kOfBehaviorNote, kMaxNotes,
                              notes.data()));
  way.compiled = std::count(notes.begin(), notes.end(), kIsCompiled) > 0;
  return way;
}

// What the text of a way says.
struct Settings {
  int64_t engine = 0;
  std::vector<std::pair<int, int64_t>> knobs = {};
};

absl::StatusOr<Settings> ParseWay(const std::string& way) {
  const std::vector<std::string> words = absl::StrSplit(way, ' ');
  Settings out;
  if (!absl::SimpleAtoi(words[0], &out.engine)) {
    return Invalid("cuDNN: '", way, "' names no engine");
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(words[i], '=');
    std::pair<int, int64_t> knob;
    if (!absl::SimpleAtoi(parts.first, &knob.first) ||
        !absl::SimpleAtoi(parts.second, &knob.second)) {
      return Invalid("cuDNN: '", words[i], "' of '", way, "' is no setting");
    }
    out.knobs.push_back(knob);
  }
  return out;
}

}  // namespace

struct DnnPlan {
  std::shared_ptr<DnnHandle> handle;
  std::unique_ptr<Operations> operations;
  std::vector<Descriptor> parts;  // the last is the plan
  std::vector<int64_t> offsets;   // of the tensors, in bytes
};

absl::StatusOr<std::shared_ptr<const Dnn>> Dnn::Open() {
  ASSIGN_OR_RETURN(const Library library, Library::Open({"libcudnn.so.9"}));
  auto api = std::make_shared<DnnApi>();
  Functions functions(library);
  functions.Find("cudnnGetVersion", &api->version);
  functions.Find("cudnnGetErrorString", &api->error_text);
  functions.Find("cudnnGetLastErrorString", &api->last_error);
  functions.Find("cudnnCreate", &api->create);
  functions.Find("cudnnDestroy", &api->destroy);
  functions.Find("cudnnSetStream", &api->set_stream);
  functions.Find("cudnnBackendCreateDescriptor", &api->new_descriptor);
  functions.Find("cudnnBackendDestroyDescriptor", &api->free_descriptor);
  functions.Find("cudnnBackendSetAttribute", &api->set);
  functions.Find("cudnnBackendGetAttribute", &api->get);
  functions.Find("cudnnBackendFinalize", &api->finish);
  functions.Find("cudnnBackendExecute", &api->run);
  RETURN_IF_ERROR(functions.status());
  auto dnn = std::make_shared<Dnn>();
  dnn->version_ = static_cast<int64_t>(api->version());
  dnn->api_ = std::move(api);
  RETURN_IF_ERROR(dnn->FreeHandle().status());
  return dnn;
}

Dnn::~Dnn() = default;

absl::StatusOr<std::shared_ptr<DnnHandle>> Dnn::FreeHandle() const {
  absl::MutexLock lock(&mutex_);
  for (const std::shared_ptr<DnnHandle>& h : handles_) {
    if (!h->mutex.TryLock()) continue;
    h->mutex.Unlock();
    return h;
  }
  auto made = std::make_shared<DnnHandle>();
  made->api = api_;
  RETURN_IF_ERROR(Check(*api_, api_->create(&made->handle), "cannot start"));
  handles_.push_back(made);
  return made;
}

absl::StatusOr<std::vector<std::string>> Dnn::Ways(const DnnProduct& product,
                                                   int most,
                                                   int most_compiled) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<DnnHandle> handle, FreeHandle());
  absl::MutexLock lock(&handle->mutex);
  Operations operations(api_);
  RETURN_IF_ERROR(operations.Make(product, handle->handle));
  std::vector<std::string> ways;
  int compiled = 0;
  for (int mode : {kModeA, kModeFallback}) {
    Descriptor heuristic(api_, kHeuristic);
    heuristic.SetDescriptor(kHeuristicGraph, operations.graph());
    heuristic.SetEnum(kHeuristicMode, kOfHeuristic, mode);
    if (heuristic.Finish() != 0) continue;
    for (const Descriptor& config :
         heuristic.GetDescriptors(kHeuristicResults, kConfig, kMaxWays)) {
      Way way = WayOf(config, product.dtype);
      if (way.text.empty() || static_cast<int>(ways.size()) >= most ||
          (way.compiled && compiled >= most_compiled) ||
          std::count(ways.begin(), ways.end(), way.text) > 0) {
        continue;
      }
      compiled += way.compiled;
      ways.push_back(std::move(way.text));
    }
    // Others are slower.
    if (!ways.empty()) break;
  }
  return ways;
}

absl::StatusOr<std::shared_ptr<const DnnPlan>> Dnn::Plan(
    const DnnProduct& product, const std::string& way) const {
  const std::string key = absl::StrCat(DnnText(product), "\n", way);
  {
    absl::MutexLock lock(&mutex_);
    const auto it = plans_.find(key);
    if (it != plans_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const DnnPlan> plan, MakePlan(product, way));
  absl::MutexLock lock(&mutex_);
  return plans_.insert({key, std::move(plan)}).first->second;
}

absl::StatusOr<std::shared_ptr<const DnnPlan>> Dnn::MakePlan(
    const DnnProduct& product, const std::string& way) const {
  auto plan = std::make_shared<DnnPlan>();
  ASSIGN_OR_RETURN(plan->handle, FreeHandle());
  absl::MutexLock lock(&plan->handle->mutex);
  plan->operations = std::make_unique<Operations>(api_);
  RETURN_IF_ERROR(plan->operations->Make(product, plan->handle->handle));
  for (const DnnTensor& t : product.tensors) {
    plan->offsets.push_back(t.offset * ByteSize(product.dtype));
  }
  auto add = [&](Descriptor d) -> absl::StatusOr<void*> {
    RETURN_IF_ERROR(Check(*api_, d.Finish(), "a plan"));
    plan->parts.push_back(std::move(d));
    return plan->parts.back().get();
  };
  ASSIGN_OR_RETURN(const Settings settings, ParseWay(way));
  Descriptor engine(api_, kEngine);
  engine.SetDescriptor(kEngineGraph, plan->operations->graph());
  engine.SetInts(kEngineIndex, {settings.engine});
  ASSIGN_OR_RETURN(void* const found, add(std::move(engine)));
  std::vector<void*> knobs;
  for (const auto& [type, value] : settings.knobs) {
    Descriptor knob(api_, kKnob);
    knob.SetEnum(kKnobType, kOfKnob, type);
    knob.SetInts(kKnobValue, {value});
    ASSIGN_OR_RETURN(void* const made, add(std::move(knob)));
    knobs.push_back(made);
  }
  Descriptor config(api_, kConfig);
  config.SetDescriptor(kConfigEngine, found);
  if (!knobs.empty()) {
    config.Set(kConfigKnobs, kOfDescriptor, static_cast<int64_t>(knobs.size()),
               knobs.data());
  }
  ASSIGN_OR_RETURN(void* const configured, add(std::move(config)));
  Descriptor execution(api_, kExecution);
  execution.Set(kExecutionHandle, kOfHandle, 1, &plan->handle->handle);
  execution.SetDescriptor(kExecutionConfig, configured);
  RETURN_IF_ERROR(add(std::move(execution)).status());
  int64_t bytes = 0;
  plan->parts.back().Get(kExecutionWorkspace, kOfInt64, 1, &bytes);
  if (bytes > kWorkspaceBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cuDNN: engine ", way, " wants ", bytes, " bytes to work in"));
  }
  return plan;
}

absl::Status Dnn::Run(const DnnPlan& plan,
                      const std::vector<DevicePointer>& tensors,
                      DevicePointer workspace, Stream stream) const {
  std::vector<int64_t> ids;
  std::vector<const void*> pointers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    ids.push_back(static_cast<int64_t>(i + 1));
    pointers.push_back(
        reinterpret_cast<const void*>(tensors[i] + plan.offsets[i]));
  }
  for (const auto& [id, number] : plan.operations->numbers()) {
    ids.push_back(id);
    pointers.push_back(&number);
  }
  absl::MutexLock lock(&plan.handle->mutex);
  Descriptor pack(api_, kVariantPack);
  pack.SetInts(kPackIds, ids);
  pack.Set(kPackPointers, kOfPointer, static_cast<int64_t>(pointers.size()),
           pointers.data());
  void* const work = reinterpret_cast<void*>(workspace);
  pack.Set(kPackWorkspace, kOfPointer, 1, &work);
  RETURN_IF_ERROR(Check(*api_, pack.Finish(), "naming buffers"));
  RETURN_IF_ERROR(
      Check(*api_, api_->set_stream(plan.handle->handle, stream), "a stream"));
  const int result =
      api_->run(plan.handle->handle, plan.parts.back().get(), pack.get());
  const absl::Status status = Check(*api_, result, "running a plan");
  // The stream may be gone when the handle is used next, to make a plan too.
  api_->set_stream(plan.handle->handle, nullptr);
  return status;
}

}  // namespace isomer::cuda
