// identity(x): x itself, of any type. ONNX's Dropout is one too when it does
// not train and nobody asks for its mask.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// The ratio plays no part at inference. Before opset 12 Dropout knew no
// training mode; from then on it is input 2.
Imported FromDropout(OnnxImport& c) {
  const std::vector<std::string>& outputs = c.node().outputs;
  if (outputs.size() > 1 && !outputs[1].empty()) {
    return Unsupported("Dropout: the mask output is used");
  }
  if (c.Has(2)) {
    std::optional<Tensor> training = c.Known(2);
    if (!training || training->size() != 1 || ToDoubles(*training)[0] != 0) {
      return Unsupported("Dropout: training_mode is not known to be false");
    }
  }
  ASSIGN_OR_RETURN(Value x, c.In(0));
  return One(c.Add("identity", {x}));
}

}  // namespace

std::vector<OpDef> DefineIdentity() {
  return {{
      .name = "identity",
      .inputs = Inputs({"x"}),
      .infer = InferLikeFirst(),
      .element = Element([](const auto& c) {
        return [&c](const auto& i) { return c.At(0, i); };
      }),
      .axioms = {"identity(x) => x"},
      .examples = {"identity([1 2]) = [1 2]", "identity([true]) = [true]"},
      .cases = {"identity(f16[2,3])", "identity(i64[])", "identity(bool[2])"},
      .onnx = {.from = {{"Identity", ImportAs("identity")},
                        {"Dropout", FromDropout}},
               .to = EmitAs("Identity")},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer
