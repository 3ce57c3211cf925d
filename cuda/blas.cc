// The functions of cuBLASLt that are used, declared here. Its matrices lie
// column by column: it is asked for the transposed product.
#include "cuda/blas.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cuda/library.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Of cublasLt.h, cublas_api.h and library_types.h.
constexpr int kCompute32F = 68, kComputeTf32 = 77, kReal32F = 0, kReal16F = 2,
              kRealBf16 = 14;
constexpr int kDescTransA = 3, kDescTransB = 4;
constexpr int kDescEpilogue = 7, kDescBias = 8;
constexpr uint32_t kNoEpilogue = 1, kRelu = 2, kBias = 4, kGelu = 32;
constexpr int kLayoutBatch = 5, kLayoutStride = 6;
constexpr int kPrefWorkspace = 1, kPrefAlignA = 5;
constexpr int32_t kPlain = 0, kTransposed = 1;

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

int TypeOf(DType dtype) {
  return dtype == DType::kF16    ? kReal16F
         : dtype == DType::kBF16 ? kRealBf16
                                 : kReal32F;
}

uint32_t EpilogueCode(const LibraryProduct& p) {
  using Function = LibraryProduct::Function;
  const uint32_t out = (p.function == Function::kRelu       ? kRelu
                        : p.function == Function::kGeluTanh ? kGelu
                                                            : 0) |
                       (p.bias.pointer.empty() ? 0 : kBias);
  return out == 0 ? kNoEpilogue : out;
}

absl::Status Check(int result, const char* what) {
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("cuBLASLt: ", what, ": error ", result));
}

}  // namespace

struct Blas::Api {
  size_t (*version)();
  int (*create)(void**);
  int (*destroy)(void*);
  int (*new_desc)(void**, int compute, int scale);
  int (*free_desc)(void*);
  int (*set_desc)(void*, int attribute, const void*, size_t);
  int (*new_layout)(void**, int type, uint64_t rows, uint64_t columns,
                    int64_t step);
  int (*free_layout)(void*);
  int (*set_layout)(void*, int attribute, const void*, size_t);
  int (*new_preference)(void**);
  int (*free_preference)(void*);
  int (*set_preference)(void*, int attribute, const void*, size_t);
  int (*heuristic)(void*, void* desc, void* a, void* b, void* c, void* d,
                   void* preference, int wanted, Heuristic*, int* found);
  int (*run)(void*, void* desc, const void* alpha, const void* a,
             void* a_layout, const void* b, void* b_layout, const void* beta,
             const void* c, void* c_layout, void* d, void* d_layout,
             const Algorithm*, void* workspace, size_t bytes, void* stream);
};

class BlasProduct {
 public:
  // What all ways to compute one product share.
  struct Shared {
    LibraryProduct product;
    void *desc = nullptr, *a = nullptr, *b = nullptr, *added = nullptr;
    void* out = nullptr;
    std::function<void(Shared&)> release;
    ~Shared() { release(*this); }
  };
  std::shared_ptr<const Shared> shared;
  Algorithm algorithm;
};

absl::StatusOr<std::shared_ptr<const Blas>> Blas::Open() {
  ASSIGN_OR_RETURN(const Library library,
                   Library::Open({"libcublasLt.so.13", "libcublasLt.so.12"}));
  auto api = std::make_shared<Api>();
  Functions functions(library);
  functions.Find("cublasLtGetVersion", &api->version);
  functions.Find("cublasLtCreate", &api->create);
  functions.Find("cublasLtDestroy", &api->destroy);
  functions.Find("cublasLtMatmulDescCreate", &api->new_desc);
  functions.Find("cublasLtMatmulDescDestroy", &api->free_desc);
  functions.Find("cublasLtMatmulDescSetAttribute", &api->set_desc);
  functions.Find("cublasLtMatrixLayoutCreate", &api->new_layout);
  functions.Find("cublasLtMatrixLayoutDestroy", &api->free_layout);
  functions.Find("cublasLtMatrixLayoutSetAttribute", &api->set_layout);
  functions.Find("cublasLtMatmulPreferenceCreate", &api->new_preference);
  functions.Find("cublasLtMatmulPreferenceDestroy", &api->free_preference);
  functions.Find("cublasLtMatmulPreferenceSetAttribute", &api->set_preference);
  functions.Find("cublasLtMatmulAlgoGetHeuristic", &api->heuristic);
  functions.Find("cublasLtMatmul", &api->run);
  RETURN_IF_ERROR(functions.status());
  auto blas = std::make_shared<Blas>();
  blas->version_ = static_cast<int64_t>(api->version());
  blas->api_ = std::move(api);
  RETURN_IF_ERROR(Check(blas->api_->create(&blas->handle_), "cannot start"));
  return blas;
}

Blas::~Blas() {
  if (handle_ != nullptr) api_->destroy(handle_);
}

absl::StatusOr<std::vector<std::shared_ptr<const BlasProduct>>> Blas::Products(
    const LibraryProduct& p, int most) const {
  auto shared = std::make_shared<BlasProduct::Shared>();
  shared->product = p;
  shared->release = [api = api_](BlasProduct::Shared& s) {
    if (s.desc != nullptr) api->free_desc(s.desc);
    for (void* layout : {s.a, s.b, s.added, s.out}) {
      if (layout != nullptr) api->free_layout(layout);
    }
  };
  RETURN_IF_ERROR(
      Check(api_->new_desc(&shared->desc, p.tf32 ? kComputeTf32 : kCompute32F,
                           kReal32F),
            "a product"));
  // The library's first factor is b, its second a; both as if transposed.
  const int32_t first = p.b_inner ? kTransposed : kPlain;
  const int32_t second = p.a_inner ? kPlain : kTransposed;
  api_->set_desc(shared->desc, kDescTransA, &first, sizeof(first));
  api_->set_desc(shared->desc, kDescTransB, &second, sizeof(second));
  const uint32_t epilogue = EpilogueCode(p);
  api_->set_desc(shared->desc, kDescEpilogue, &epilogue, sizeof(epilogue));
  const int type = TypeOf(p.dtype);
  auto layout = [&](void** made, int64_t rows, int64_t columns, int64_t step,
                    int64_t batch_step) -> absl::Status {
    RETURN_IF_ERROR(
        Check(api_->new_layout(made, type, rows, columns, step), "a matrix"));
    const int32_t batch = static_cast<int32_t>(p.batch);
    if (batch > 1) {
      api_->set_layout(*made, kLayoutBatch, &batch, sizeof(batch));
      api_->set_layout(*made, kLayoutStride, &batch_step, sizeof(batch_step));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(layout(&shared->a, p.b_inner ? p.k : p.n,
                         p.b_inner ? p.n : p.k, p.b_step, p.b_batch));
  RETURN_IF_ERROR(layout(&shared->b, p.a_inner ? p.k : p.m,
                         p.a_inner ? p.m : p.k, p.a_step, p.a_batch));
  RETURN_IF_ERROR(layout(&shared->out, p.n, p.m, p.out.step, p.out.batch));
  const LibraryMatrix& c = p.added.pointer.empty() ? p.out : p.added;
  RETURN_IF_ERROR(layout(&shared->added, p.n, p.m, c.step, c.batch));
  void* preference = nullptr;
  RETURN_IF_ERROR(Check(api_->new_preference(&preference), "a preference"));
  const uint64_t bytes = kWorkspaceBytes;
  api_->set_preference(preference, kPrefWorkspace, &bytes, sizeof(bytes));
  const uint32_t alignment = 16;
  for (int i = 0; i < 4; ++i) {
    api_->set_preference(preference, kPrefAlignA + i, &alignment,
                         sizeof(alignment));
  }
  std::vector<Heuristic> found(most);
  int count = 0;
  const int result = api_->heuristic(handle_, shared->desc, shared->a,
                                     shared->b, shared->added, shared->out,
                                     preference, most, found.data(), &count);
  api_->free_preference(preference);
  RETURN_IF_ERROR(Check(result, "no way to compute a product"));
  std::vector<std::shared_ptr<const BlasProduct>> out;
  for (int i = 0; i < count; ++i) {
    if (found[i].state != 0) continue;
    auto way = std::make_shared<BlasProduct>();
    way->shared = shared;
    way->algorithm = found[i].algorithm;
    out.push_back(std::move(way));
  }
  return out;
}

absl::Status Blas::Run(const BlasProduct& product, const Buffers& buffers,
                       DevicePointer workspace, Stream stream) const {
  const BlasProduct::Shared& s = *product.shared;
  const LibraryProduct& p = s.product;
  const int size = ByteSize(p.dtype);
  auto at = [size](DevicePointer start, int64_t offset) {
    return reinterpret_cast<void*>(start + offset * size);
  };
  if (!p.bias.pointer.empty()) {
    void* const bias = at(buffers.bias, p.bias.offset);
    RETURN_IF_ERROR(Check(
        api_->set_desc(s.desc, kDescBias, &bias, sizeof(bias)), "a bias"));
  }
  void* const out = at(buffers.out, p.out.offset);
  const bool adds = !p.added.pointer.empty();
  const void* const added = adds ? at(buffers.added, p.added.offset) : out;
  const float scale = static_cast<float>(p.scale), beta = adds ? 1 : 0;
  return Check(api_->run(handle_, s.desc, &scale, at(buffers.b, p.b_offset),
                         s.a, at(buffers.a, p.a_offset), s.b, &beta, added,
                         s.added, out, s.out, &product.algorithm,
                         at(workspace, 0), kWorkspaceBytes, stream),
               "running a product");
}

}  // namespace isomer::cuda
