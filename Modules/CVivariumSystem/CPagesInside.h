// What the files about pages share.
#ifndef VIVARIUM_CPAGES_INSIDE_H
#define VIVARIUM_CPAGES_INSIDE_H

#include <stdatomic.h>
#include <string.h>

#include "CMasks.h"
#include "CPages.h"

// What is known of a page; else it is the tag of the key whose value begins there, as that was found right.
enum { CS_UNKNOWN = 0, CS_CHECKED = 1, CS_PROVEN = 2, CS_TAG = 0x80000000u };

// LMDB's, of pages and of nodes.
enum { CS_HEADER = 16, CS_BRANCH = 1, CS_LEAF = 2, CS_LARGE = 4, CS_IS_LARGE = 1, CS_NODE = 8 };

struct cs_pages {
  const uint8_t *base;
  uint64_t mapped;       // pages that the map has room for
  _Atomic uint64_t end;  // pages that the file is known to have
  int file;
  uint32_t size;
  _Atomic uint32_t *tags;
  // Some small value is not what was written. LMDB copies it along with its page, so from then on each is looked at when it is read.
  _Atomic _Bool is_doubted;
  // A bit for each page that was free in transaction `noted`; NULL until it is known.
  uint64_t *spare;
  uint64_t spare_pages;
  uint64_t noted;
};

typedef struct {
  cs_pages *pages;
  const cs_tree *tree;
  cs_fault *fault;
} cs_context;

CS_INLINE uint16_t cs_get16(const uint8_t *at) { uint16_t word; memcpy(&word, at, 2); return word; }
CS_INLINE uint32_t cs_get32(const uint8_t *at) { uint32_t word; memcpy(&word, at, 4); return word; }
CS_INLINE uint64_t cs_get64(const uint8_t *at) { uint64_t word; memcpy(&word, at, 8); return word; }

CS_INLINE cs_answer cs_damaged(cs_context c, uint64_t page) {
  *c.fault = (cs_fault){.page = page};
  return CS_DAMAGED;
}

CS_INLINE unsigned cs_count(const uint8_t *page) { return (cs_get16(page + 12) - CS_HEADER) / 2u; }
CS_INLINE const uint8_t *cs_node(const uint8_t *page, unsigned i) { return page + cs_get16(page + CS_HEADER + 2 * i); }
CS_INLINE cs_span cs_key(const uint8_t *node) { return (cs_span){node + CS_NODE, cs_get16(node + 6)}; }
CS_INLINE uint64_t cs_child(const uint8_t *node) { return cs_get32(node) | (uint64_t)cs_get16(node + 4) << 32; }
CS_INLINE _Bool cs_is_leaf(const uint8_t *page) { return cs_get16(page + 10) == CS_LEAF; }
CS_INLINE uint64_t cs_number(const uint8_t *page) { return cs_get64(page); }

// The order of keys: as memcmp, the shorter first; of words by their value. Negative, zero, positive.
CS_INLINE int cs_compare(const cs_tree *tree, cs_span a, cs_span b) {
  if (tree->has_numbers && a.count == 8 && b.count == 8) {
    uint64_t x = cs_get64(a.bytes), y = cs_get64(b.bytes);
    return x < y ? -1 : x > y;
  }
  size_t common = a.count < b.count ? a.count : b.count;
  int order = common ? memcmp(a.bytes, b.bytes, common) : 0;
  return order ? order : a.count < b.count ? -1 : a.count > b.count;
}

// A checked page of the tree, as deep as it is.
cs_answer cs_page(cs_context c, uint64_t number, uint32_t level, const uint8_t **page);
// Whether what a page says of itself holds together. Believes nothing. `doubt`: a value in it is not what was written.
_Bool cs_is_sound(cs_context c, const uint8_t *page, uint64_t number, _Bool *doubt);
// Checks that the pages below a branch have the keys that it says, so that what is not found there is not in the tree.
cs_answer cs_prove(cs_context c, const uint8_t *page, uint32_t level);
// The first node whose key is not before a key; `exact`: it is the key.
unsigned cs_search(cs_context c, const uint8_t *page, cs_span key, _Bool *exact);
// The child of a branch that a key is below.
unsigned cs_branch(cs_context c, const uint8_t *page, cs_span key);
// What is looked at of a value: its pages alone, as far as LMDB does; that its key is the one it was put under; the value unless it
// was found right before; the value.
typedef enum { CS_PAGES, CS_KEY, CS_MET, CS_NEW } cs_care;
// The value of a node, checked.
cs_answer cs_value(cs_context c, const uint8_t *node, cs_care care, cs_span *value);

#endif
