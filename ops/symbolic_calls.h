// Calls on numbers turned into calls on symbols, so that a test can hold
// inference and index semantics over expressions against those over numbers.
#ifndef ISOMER_OPS_SYMBOLIC_CALLS_H_
#define ISOMER_OPS_SYMBOLIC_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/example.h"
#include "ops/op_def.h"

namespace isomer {

using SymbolValues = std::map<std::string, int64_t>;

// A call whose sizes, and perhaps some attributes, are symbols.
struct SymbolicCall {
  std::vector<SymType> inputs;
  SymAttrs attrs;
  SymbolValues values;  // of the symbols
};

// How sizes become symbols: one for each dimension, one for all dimensions of
// one size, or not at all.
enum class Naming { kEachDimension, kEachSize, kNumbers };

// A call with attributes `attrs` whose sizes are named so.
SymbolicCall Symbolic(const TypedCall& call, const Attrs& attrs, Naming naming);

// The same call with the symbol `name` as the number that it stands for.
SymbolicCall WithNumber(SymbolicCall call, const std::string& name);

// The symbolic forms of a call, the most general one first: each naming of its
// sizes, then those where one integer attribute that names no dimensions is
// made of symbols too.
std::vector<SymbolicCall> SymbolicForms(const OpDef& op, const TypedCall& call,
                                        const Attrs& attrs);

// True if all demands hold at the values of the symbols.
bool Hold(const std::vector<Obligation>& demands, const SymbolValues& values);

// The type at the values of the symbols; a size without a value becomes -1.
TensorType TypeAt(const SymType& t, const SymbolValues& values);

}  // namespace isomer

#endif  // ISOMER_OPS_SYMBOLIC_CALLS_H_
