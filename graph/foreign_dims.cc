// Sums in normal form; equations solved by elimination.
#include "graph/foreign_dims.h"

#include <utility>

namespace isomer::ir {

namespace {

using V = ValueSyntax;

constexpr int64_t kHuge = int64_t{1} << 62;

ValueSyntax SymbolSyntax(const SizeSymbol& s) {
  if (s.kind != SizeSymbol::Kind::kDimension) {
    return {.kind = V::Kind::kName, .name = s.name};
  }
  V out{.kind = V::Kind::kDim, .name = s.name};
  out.args.push_back({.kind = V::Kind::kInteger, .integer = s.dim});
  return out;
}

ValueSyntax Binary(V::Kind kind, ValueSyntax a, ValueSyntax b) {
  V out{.kind = kind};
  out.args.push_back(std::move(a));
  out.args.push_back(std::move(b));
  return out;
}

// Absurd files must not overflow; what they get does not type.
int64_t Sum(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_add_overflow(a, b, &out) ? kHuge : out;
}

int64_t Product(int64_t a, int64_t b) {
  int64_t out;
  return __builtin_mul_overflow(a, b, &out) ? kHuge : out;
}

}  // namespace

bool Size::Expressible() const {
  for (const auto& [symbol, factor] : terms) {
    if (symbol.kind < SizeSymbol::Kind::kAttribute) return false;
  }
  return true;
}

// Terms that are added come first, so that no sum begins with a minus sign
// unless all are taken away.
ValueSyntax Size::Syntax() const {
  std::optional<V> out;
  auto add = [&](int64_t factor, V value) {
    const int64_t size = factor < 0 ? -factor : factor;
    if (size != 1) {
      value = Binary(V::Kind::kMul,
                     {.kind = V::Kind::kInteger, .integer = size}, value);
    }
    const V::Kind kind = factor < 0 ? V::Kind::kSub : V::Kind::kAdd;
    if (!out && factor < 0) out = V{.kind = V::Kind::kInteger};
    out = out ? Binary(kind, *std::move(out), std::move(value))
              : std::move(value);
  };
  for (bool positive : {true, false}) {
    for (const auto& [symbol, factor] : terms) {
      if ((factor > 0) == positive) add(factor, SymbolSyntax(symbol));
    }
    if (constant != 0 && (constant > 0) == positive) {
      V number{.kind = V::Kind::kInteger,
               .integer = positive ? constant : -constant};
      const V::Kind kind = positive ? V::Kind::kAdd : V::Kind::kSub;
      if (!out && !positive) out = V{.kind = V::Kind::kInteger};
      out = out ? Binary(kind, *std::move(out), std::move(number))
                : std::move(number);
    }
  }
  return out ? *std::move(out) : V{.kind = V::Kind::kInteger};
}

Size operator+(const Size& a, const Size& b) {
  Size out = a;
  out.constant = Sum(a.constant, b.constant);
  for (const auto& [symbol, factor] : b.terms) {
    int64_t& sum = out.terms[symbol];
    sum = Sum(sum, factor);
    if (sum == 0) out.terms.erase(symbol);
  }
  return out;
}

Size operator-(const Size& a, const Size& b) { return a + (-1) * b; }

Size operator*(int64_t k, const Size& a) {
  Size out;
  if (k == 0) return out;
  out.constant = Product(k, a.constant);
  for (const auto& [symbol, factor] : a.terms) {
    out.terms[symbol] = Product(k, factor);
  }
  return out;
}

Size SizeEquations::Reduce(const Size& size) const {
  Size out = Size::Number(size.constant);
  for (const auto& [symbol, factor] : size.terms) {
    auto it = solved_.find(symbol);
    out = out + factor * (it == solved_.end() ? Size::Of(symbol) : it->second);
  }
  return out;
}

void SizeEquations::Add(const Size& a, const Size& b) {
  const Size zero = Reduce(a - b);
  // Of the symbols that the rule speaks of, the last is given up, so that the
  // names which come first stay.
  const SizeSymbol* chosen = nullptr;
  for (const auto& [symbol, factor] : zero.terms) {
    if (factor != 1 && factor != -1) continue;
    if (chosen == nullptr || symbol.kind >= SizeSymbol::Kind::kAttribute) {
      if (chosen != nullptr && chosen->kind < symbol.kind) continue;
      chosen = &symbol;
    }
  }
  if (chosen == nullptr) return;
  const SizeSymbol symbol = *chosen;
  const int64_t sign = zero.terms.at(symbol);
  const Size value = Size::Of(symbol) - sign * zero;
  for (auto& [other, size] : solved_) {
    auto it = size.terms.find(symbol);
    if (it == size.terms.end()) continue;
    const int64_t factor = it->second;
    size = size - factor * Size::Of(symbol) + factor * value;
  }
  solved_[symbol] = value;
}

}  // namespace isomer::ir
