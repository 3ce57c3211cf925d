// The sets that a maximum is taken over.
#ifndef ISOMER_VERIFY_NF_ITEMS_H_
#define ISOMER_VERIFY_NF_ITEMS_H_

#include <memory>
#include <vector>

#include "verify/nf_context.h"

namespace isomer::verify {

// An item as a term with one factor, so that it is simplified and compared as
// terms are, and back.
Term AsTerm(const Item& item);
Item AsItem(const Term& t);

// Sets that are alike become one, so do neighbouring ranges; what is below
// another goes.
void MergeItems(std::vector<Item>& items, NormalContext& c);

// Terms that every item holds, none of which speaks of the items' variables.
std::vector<Term> CommonTerms(const std::vector<Item>& items,
                              const std::vector<Bound>& inner);

// The sum without the first term like `t`.
std::shared_ptr<const Sum> RemoveTerm(Sum s, const Term& t);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_ITEMS_H_
