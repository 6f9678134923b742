#include "CPagesInside.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

// MARK: The map

static void cs_look_at_file(cs_pages *pages) {
  struct stat info;
  if (fstat(pages->file, &info) == 0 && info.st_size > 0) atomic_store(&pages->end, (uint64_t)info.st_size / pages->size);
}

cs_pages *cs_pages_open(int file, uint32_t page_size, uint64_t bytes, const cs_pages *before, int *error) {
  *error = ENOMEM;
  cs_pages *pages = calloc(1, sizeof *pages);
  if (!pages) return NULL;
  pages->file = file;
  pages->size = page_size;
  pages->mapped = bytes / page_size;
  pages->tags = calloc(pages->mapped ? pages->mapped : 1, sizeof *pages->tags);
  void *base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (!pages->tags || base == MAP_FAILED) {
    if (base != MAP_FAILED) munmap(base, bytes);
    else *error = errno;
    free(pages->tags);
    free(pages);
    return NULL;
  }
  pages->base = base;
  cs_look_at_file(pages);
  if (!before) return pages;
  pages->is_doubted = before->is_doubted;
  for (uint64_t i = 0; i < before->mapped && i < pages->mapped; i++) {
    atomic_store_explicit(&pages->tags[i], atomic_load_explicit(&before->tags[i], memory_order_relaxed), memory_order_relaxed);
  }
  if (before->spare && (pages->spare = calloc(before->spare_pages / 64 + 1, 8))) {
    memcpy(pages->spare, before->spare, (before->spare_pages / 64 + 1) * 8);
    pages->spare_pages = before->spare_pages;
    pages->noted = before->noted;
  }
  return pages;
}

void cs_pages_close(cs_pages *pages) {
  munmap((void *)pages->base, pages->mapped * pages->size);
  free(pages->tags);
  free(pages->spare);
  free(pages);
}

void cs_pages_forget(cs_pages *pages) {
  for (uint64_t i = 0; i < pages->mapped; i++) atomic_store_explicit(&pages->tags[i], CS_UNKNOWN, memory_order_relaxed);
}

// MARK: Meta pages

enum { CS_META = 152, CS_META_NUMBER = 144, CS_META_LAST = 136, CS_META_SPARE = 40, CS_META_ENTRIES = 88, CS_RECORD_ROOT = 40 };

static cs_tree cs_tree_of(const uint8_t *meta, unsigned record) {
  return (cs_tree){
      .root = cs_get64(meta + record + CS_RECORD_ROOT), .entries = cs_get64(meta + record + 32),
      .pages = cs_get64(meta + record + 8) + cs_get64(meta + record + 16) + cs_get64(meta + record + 24),
      .depth = cs_get16(meta + record + 6), .last = cs_get64(meta + CS_META_LAST), .number = cs_get64(meta + CS_META_NUMBER)};
}

_Bool cs_trees(const cs_pages *pages, uint64_t number, cs_tree *entries, cs_tree *spare) {
  uint8_t copy[2][CS_META];
  if (atomic_load(&pages->end) < 2) return 0;
  for (int i = 0; i < 2; i++) {
    const uint8_t *meta = pages->base + (uint64_t)i * pages->size, *other = pages->base + (uint64_t)(1 - i) * pages->size;
    if (cs_get64(meta + CS_META_NUMBER) != number) continue;
    // The next commit but one writes over it: where the next is there already, it is read until it is twice the same.
    for (int round = 0; round < 64; round++) {
      memcpy(copy[round & 1], meta, CS_META);
      atomic_thread_fence(memory_order_seq_cst);
      _Bool is_safe = cs_get64(other + CS_META_NUMBER) <= number;
      if (!is_safe && round == 0) {
        sched_yield();
        continue;
      }
      if (cs_get64(copy[round & 1] + CS_META_NUMBER) != number) break;
      if (!is_safe && memcmp(copy[0], copy[1], CS_META) != 0) continue;
      *entries = cs_tree_of(copy[round & 1], CS_META_ENTRIES);
      *spare = cs_tree_of(copy[round & 1], CS_META_SPARE);
      spare->has_numbers = 1;
      return 1;
    }
  }
  return 0;
}

// MARK: Pages

static _Bool cs_is_spare(cs_context c, uint64_t number) {
  const cs_pages *p = c.pages;
  return p->spare && number < p->spare_pages && p->spare[number / 64] >> (number % 64) & 1;
}

// Written since the file was opened: what was free or not there then.
static _Bool cs_is_fresh(cs_context c, uint64_t number) {
  if (!c.pages->spare || c.tree->number <= c.pages->noted) return 0;
  return number >= c.pages->spare_pages || cs_is_spare(c, number);
}

static _Bool cs_is_taken_for_free(cs_context c, uint64_t number) {
  return c.tree->number == c.pages->noted && cs_is_spare(c, number);
}

// That pages lie in the file and in the map.
static cs_answer cs_reach(cs_context c, uint64_t first, uint64_t count) {
  cs_pages *p = c.pages;
  if (first < 2 || first > c.tree->last || count > c.tree->last - first + 1) return cs_damaged(c, first);
  if (first + count > atomic_load_explicit(&p->end, memory_order_relaxed)) {
    cs_look_at_file(p);
    if (first + count > atomic_load(&p->end)) return cs_damaged(c, first);
  }
  return first + count > p->mapped ? CS_BEYOND : CS_FOUND;
}

static unsigned cs_kind(cs_context c, uint32_t level) { return level + 1 == c.tree->depth ? CS_LEAF : CS_BRANCH; }

cs_answer cs_page(cs_context c, uint64_t number, uint32_t level, const uint8_t **page) {
  cs_answer answer = cs_reach(c, number, 1);
  if (answer != CS_FOUND) return answer;
  const uint8_t *at = c.pages->base + number * c.pages->size;
  uint32_t tag = atomic_load_explicit(&c.pages->tags[number], memory_order_acquire);
  if (tag == CS_UNKNOWN || tag & CS_TAG) {
    _Bool doubt = 0;
    if (cs_is_taken_for_free(c, number) || !cs_is_sound(c, at, number, &doubt)) return cs_damaged(c, number);
    if (doubt) atomic_store(&c.pages->is_doubted, 1);
    tag = cs_is_fresh(c, number) ? CS_PROVEN : CS_CHECKED;
    atomic_store_explicit(&c.pages->tags[number], tag, memory_order_release);
  }
  if (level >= c.tree->depth || cs_number(at) != number || cs_get16(at + 10) != cs_kind(c, level)) return cs_damaged(c, number);
  *page = at;
  return CS_FOUND;
}

_Bool cs_is_sound(cs_context c, const uint8_t *page, uint64_t number, _Bool *doubt) {
  unsigned size = c.pages->size, flags = cs_get16(page + 10), lower = cs_get16(page + 12), upper = cs_get16(page + 14);
  if (cs_number(page) != number || (flags != CS_BRANCH && flags != CS_LEAF)) return 0;
  if (lower <= CS_HEADER || lower % 2 || upper < lower || upper > size) return 0;
  unsigned used = 0;
  cs_span last = {0};
  for (unsigned i = 0, count = cs_count(page); i < count; i++) {
    unsigned start = cs_get16(page + CS_HEADER + 2 * i);
    if (start < upper || start + CS_NODE > size) return 0;
    const uint8_t *node = page + start;
    cs_span key = cs_key(node);
    uint64_t length = CS_NODE + key.count;
    if (flags == CS_LEAF) {
      unsigned kind = cs_get16(node + 4);
      // Other programs have trees in nodes, and several values of a key.
      if (kind > 7 || (c.tree->is_sealed && kind > CS_IS_LARGE) || key.count == 0) return 0;
      length += kind & CS_IS_LARGE ? 8 : cs_get32(node);
    }
    if (start + length > size) return 0;
    used += (length + 1) & ~1u;
    // The first key of a branch stands for all that are below the second.
    if (i > (flags == CS_BRANCH) && cs_compare(c.tree, last, key) >= 0) return 0;
    if (c.tree->has_numbers && key.count != 8 && (flags == CS_LEAF || i > 0)) return 0;
    last = key;
    cs_span value;
    if (flags == CS_LEAF && !(cs_get16(node + 4) & CS_IS_LARGE) && cs_value(c, node, CS_NEW, &value) != CS_FOUND) *doubt = 1;
  }
  // Nodes lie one beside the other.
  return used == size - upper;
}

cs_answer cs_value(cs_context c, const uint8_t *node, cs_care care, cs_span *value) {
  cs_span key = cs_key(node);
  uint64_t size = cs_get32(node);
  const uint8_t *bytes = (const uint8_t *)key.bytes + key.count;
  *c.fault = (cs_fault){.page = (uint64_t)(node - c.pages->base) / c.pages->size, .key = key.bytes, .key_count = key.count};
  size_t seal = c.tree->is_sealed ? CS_SEAL : 0;
  if (size < seal) return CS_DAMAGED;
  uint32_t tag = CS_UNKNOWN;
  _Atomic uint32_t *known = NULL;
  if (cs_get16(node + 4) & CS_IS_LARGE) {
    uint64_t number = cs_get64(bytes), count = (CS_HEADER - 1 + size) / c.pages->size + 1;
    cs_answer answer = cs_reach(c, number, count);
    if (answer == CS_DAMAGED) *c.fault = (cs_fault){.page = number, .key = key.bytes, .key_count = key.count};
    if (answer != CS_FOUND) return answer;
    c.fault->page = number;
    const uint8_t *page = c.pages->base + number * c.pages->size;
    if (cs_number(page) != number || cs_get16(page + 10) != CS_LARGE || cs_get32(page + 12) != count) return CS_DAMAGED;
    known = &c.pages->tags[number];
    tag = CS_TAG | cs_checksum(key.bytes, key.count, NULL, 0);
    if (cs_is_taken_for_free(c, number)) return CS_DAMAGED;
    bytes = page + CS_HEADER;
  }
  *value = (cs_span){bytes, size - seal};
  if (!seal || care == CS_PAGES) return CS_FOUND;
  if (care == CS_KEY || care == CS_NEW) {
    if (cs_get32(bytes + value->count + 4) != cs_checksum(key.bytes, key.count, NULL, 0)) return CS_DAMAGED;
    if (care == CS_KEY) return CS_FOUND;
  }
  // Small values were looked at with their page.
  if (!known && care == CS_MET && !atomic_load_explicit(&c.pages->is_doubted, memory_order_relaxed)) return CS_FOUND;
  if (known && care == CS_MET && atomic_load_explicit(known, memory_order_relaxed) == tag) return CS_FOUND;
  if (cs_checksum(key.bytes, key.count, bytes, value->count) != cs_get32(bytes + value->count)) return CS_DAMAGED;
  if (known) atomic_store_explicit(known, tag, memory_order_relaxed);
  return CS_FOUND;
}

// MARK: Looking for a key

unsigned cs_search(cs_context c, const uint8_t *page, cs_span key, _Bool *exact) {
  unsigned low = 0, high = cs_count(page);
  *exact = 0;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    int order = cs_compare(c.tree, cs_key(cs_node(page, middle)), key);
    if (order == 0) {
      *exact = 1;
      return middle;
    }
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

unsigned cs_branch(cs_context c, const uint8_t *page, cs_span key) {
  unsigned low = 1, high = cs_count(page);
  while (low < high) {
    unsigned middle = (low + high) / 2;
    if (cs_compare(c.tree, cs_key(cs_node(page, middle)), key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

cs_answer cs_prove(cs_context c, const uint8_t *page, uint32_t level) {
  _Atomic uint32_t *known = &c.pages->tags[cs_number(page)];
  if (atomic_load_explicit(known, memory_order_relaxed) == CS_PROVEN) return CS_FOUND;
  for (unsigned i = 0, count = cs_count(page); i < count; i++) {
    const uint8_t *child;
    uint64_t number = cs_child(cs_node(page, i));
    cs_answer answer = cs_page(c, number, level + 1, &child);
    if (answer != CS_FOUND) return answer;
    unsigned first = cs_is_leaf(child) ? 0 : 1, last = cs_count(child) - 1;
    if (first <= last && i > 0 && cs_compare(c.tree, cs_key(cs_node(child, first)), cs_key(cs_node(page, i))) < 0)
      return cs_damaged(c, number);
    if (last >= first && i + 1 < count && cs_compare(c.tree, cs_key(cs_node(child, last)), cs_key(cs_node(page, i + 1))) >= 0)
      return cs_damaged(c, number);
    // LMDB looks there for the first key of a branch that it merges.
    for (uint32_t deep = level + 2; deep < c.tree->depth; deep++)
      if ((answer = cs_page(c, cs_child(cs_node(child, 0)), deep, &child)) != CS_FOUND) return answer;
  }
  atomic_store_explicit(known, CS_PROVEN, memory_order_relaxed);
  return CS_FOUND;
}

// Proves a branch and, from one of its ends on, those below it, until they have `*leaves` leaves together.
static cs_answer cs_prove_end(cs_context c, const uint8_t *page, uint32_t level, _Bool last, unsigned *leaves) {
  cs_answer answer = cs_prove(c, page, level);
  unsigned count = cs_count(page);
  if (answer == CS_FOUND && level + 2 >= c.tree->depth) *leaves -= count < *leaves ? count : *leaves;
  if (level + 2 >= c.tree->depth) return answer;
  for (unsigned i = 0; answer == CS_FOUND && i < count && *leaves; i++) {
    const uint8_t *child;
    answer = cs_page(c, cs_child(cs_node(page, last ? count - 1 - i : i)), level + 1, &child);
    if (answer == CS_FOUND) answer = cs_prove_end(c, child, level + 1, last, leaves);
  }
  return answer;
}

// Proves what lies on both sides of a child of a branch. When a branch has one child left after deletions, LMDB moves a page there from the
// branch beside it or merges the two, and looks into that page with the next deletion. Each deletion moves one at most, and what can be
// deleted from then on are the keys of one leaf that is not a quarter full: fewer than size / 64.
static cs_answer cs_prove_beside(cs_context c, const uint8_t *page, uint32_t level, unsigned place) {
  for (int right = 0; right < 2; right++) {
    unsigned leaves = c.pages->size / 64, count = cs_count(page);
    for (unsigned i = place; leaves && (right ? i + 1 < count : i > 0);) {
      const uint8_t *beside;
      i = right ? i + 1 : i - 1;
      cs_answer answer = cs_page(c, cs_child(cs_node(page, i)), level + 1, &beside);
      if (answer == CS_FOUND) answer = cs_prove_end(c, beside, level + 1, !right, &leaves);
      if (answer != CS_FOUND) return answer;
    }
  }
  return CS_FOUND;
}

// How much is proven on the way to a leaf: nothing, the branches, and those beside them as well.
typedef enum { CS_TRUSTS, CS_PROVES, CS_PROVES_WIDELY } cs_proof;

// The leaf of a key, NULL of the last of all.
static cs_answer cs_leaf(
    cs_context c, const cs_span *key, cs_proof proof, const uint8_t *path[CS_DEPTH_MAX], const uint8_t **leaf) {
  if (c.tree->depth > CS_DEPTH_MAX) return cs_damaged(c, c.tree->root);
  uint64_t number = c.tree->root;
  for (uint32_t level = 0;; level++) {
    cs_answer answer = cs_page(c, number, level, leaf);
    if (answer != CS_FOUND) return answer;
    if (level + 1 == c.tree->depth) return CS_FOUND;
    path[level] = *leaf;
    if (proof != CS_TRUSTS && (answer = cs_prove(c, *leaf, level)) != CS_FOUND) return answer;
    unsigned place = key ? cs_branch(c, *leaf, *key) : cs_count(*leaf) - 1;
    // Leaves are proven with their branch.
    if (proof == CS_PROVES_WIDELY && level + 2 < c.tree->depth && (answer = cs_prove_beside(c, *leaf, level, place)) != CS_FOUND)
      return answer;
    number = cs_child(cs_node(*leaf, place));
  }
}

cs_answer cs_get(cs_pages *pages, const cs_tree *tree, const void *key, size_t count, cs_span *value, cs_fault *fault) {
  if (tree->root == UINT64_MAX) return CS_MISSING;
  cs_context c = {pages, tree, fault};
  cs_span wanted = {key, count};
  const uint8_t *path[CS_DEPTH_MAX], *leaf;
  cs_answer answer = cs_leaf(c, &wanted, CS_TRUSTS, path, &leaf);
  if (answer != CS_FOUND) return answer;
  _Bool exact;
  unsigned place = cs_search(c, leaf, wanted, &exact);
  if (exact) return cs_value(c, cs_node(leaf, place), CS_MET, value);
  // It is not there if the pages on the way are right, and the keys beside its place are what their values were put under.
  for (uint32_t level = 0; level + 1 < tree->depth; level++)
    if ((answer = cs_prove(c, path[level], level)) != CS_FOUND) return answer;
  for (unsigned i = place ? place - 1 : 0; i <= place && i < cs_count(leaf); i++)
    if ((answer = cs_value(c, cs_node(leaf, i), CS_KEY, value)) != CS_FOUND) return answer;
  return CS_MISSING;
}

cs_answer cs_prepare(cs_pages *pages, const cs_tree *tree, const void *key, size_t count, _Bool deletes, cs_fault *fault) {
  if (tree->root == UINT64_MAX) return CS_MISSING;
  cs_context c = {pages, tree, fault};
  cs_span wanted = {key, count}, value;
  const uint8_t *path[CS_DEPTH_MAX], *leaf;
  cs_answer answer = cs_leaf(c, key ? &wanted : NULL, deletes ? CS_PROVES_WIDELY : CS_PROVES, path, &leaf);
  if (answer != CS_FOUND || !key) return answer;
  _Bool exact;
  unsigned place = cs_search(c, leaf, wanted, &exact);
  return exact ? cs_value(c, cs_node(leaf, place), CS_PAGES, &value) : CS_MISSING;
}
