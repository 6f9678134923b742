// Going from entry to entry, the tree of free pages, and whole trees.
#include <stdlib.h>

#include "CPagesInside.h"

// Goes down from a page to its first or last leaf. Pages on the way are proven: keys that are missing would be stepped over.
static cs_answer cs_descend(cs_context c, cs_cursor *cursor, uint64_t number, uint32_t level, _Bool last) {
  for (;; level++) {
    const uint8_t *page;
    cs_answer answer = cs_page(c, number, level, &page);
    if (answer != CS_FOUND) return answer;
    cursor->pages[level] = page;
    cursor->places[level] = (uint16_t)(last ? cs_count(page) - 1 : 0);
    if (level + 1 == c.tree->depth) return CS_FOUND;
    if ((answer = cs_prove(c, page, level)) != CS_FOUND) return answer;
    number = cs_child(cs_node(page, cursor->places[level]));
  }
}

static const uint8_t *cs_here(const cs_tree *tree, const cs_cursor *cursor) {
  return cs_node(cursor->pages[tree->depth - 1], cursor->places[tree->depth - 1]);
}

cs_answer cs_place(
    cs_pages *pages, const cs_tree *tree, cs_cursor *cursor, const void *key, size_t count, _Bool reverse, cs_fault *fault) {
  cs_context c = {pages, tree, fault};
  cs_span wanted = {key, count};
  if (tree->root == UINT64_MAX) return CS_MISSING;
  if (tree->depth == 0 || tree->depth > CS_DEPTH_MAX) return cs_damaged(c, tree->root);
  if (!key) return cs_descend(c, cursor, tree->root, 0, reverse);
  uint64_t number = tree->root;
  uint32_t leaf = tree->depth - 1;
  for (uint32_t level = 0; level <= leaf; level++) {
    const uint8_t *page;
    cs_answer answer = cs_page(c, number, level, &page);
    if (answer != CS_FOUND) return answer;
    cursor->pages[level] = page;
    if (level == leaf) break;
    if ((answer = cs_prove(c, page, level)) != CS_FOUND) return answer;
    cursor->places[level] = (uint16_t)cs_branch(c, page, wanted);
    number = cs_child(cs_node(page, cursor->places[level]));
  }
  _Bool exact;
  unsigned place = cs_search(c, cursor->pages[leaf], wanted, &exact);
  unsigned nodes = cs_count(cursor->pages[leaf]);
  if (exact) {
    cursor->places[leaf] = (uint16_t)place;
    return CS_FOUND;
  }
  // That the keys beside the place are right says that none between them is missing.
  for (unsigned i = place ? place - 1 : 0; i <= place && i < nodes; i++) {
    cs_span value;
    cs_answer answer = cs_value(c, cs_node(cursor->pages[leaf], i), CS_KEY, &value);
    if (answer != CS_FOUND) return answer;
  }
  cursor->places[leaf] = (uint16_t)place;
  if (reverse) return cs_step(pages, tree, cursor, 1, fault);
  if (place < nodes) return CS_FOUND;
  cursor->places[leaf] = (uint16_t)(nodes - 1);
  return cs_step(pages, tree, cursor, 0, fault);
}

cs_answer cs_step(cs_pages *pages, const cs_tree *tree, cs_cursor *cursor, _Bool reverse, cs_fault *fault) {
  cs_context c = {pages, tree, fault};
  for (uint32_t level = tree->depth; level-- > 0;) {
    unsigned place = cursor->places[level];
    if (reverse ? place == 0 : place + 1 >= cs_count(cursor->pages[level])) continue;
    place = reverse ? place - 1 : place + 1;
    cursor->places[level] = (uint16_t)place;
    if (level + 1 == tree->depth) return CS_FOUND;
    return cs_descend(c, cursor, cs_child(cs_node(cursor->pages[level], place)), level + 1, reverse);
  }
  return CS_MISSING;
}

cs_answer cs_entry(
    cs_pages *pages, const cs_tree *tree, const cs_cursor *cursor, cs_span prefix, cs_span *key, cs_span *value, cs_fault *fault) {
  cs_context c = {pages, tree, fault};
  const uint8_t *node = cs_here(tree, cursor);
  *key = cs_key(node);
  if (key->count >= prefix.count && (!prefix.count || !memcmp(key->bytes, prefix.bytes, prefix.count)))
    return cs_value(c, node, CS_MET, value);
  // That it was put under this key says that it is none of those with the prefix, and that these have ended.
  cs_span other;
  cs_answer answer = cs_value(c, node, CS_KEY, &other);
  return answer == CS_FOUND ? CS_MISSING : answer;
}

_Bool cs_has_own_pages(const cs_pages *pages, const void *value) {
  return ((const uint8_t *)value - pages->base) % pages->size == CS_HEADER;
}

// MARK: Free pages

// A list of free pages: how many, and their numbers descending. False where it is none, or names a page a second time.
static _Bool cs_take_list(cs_context c, uint64_t *spare, uint64_t *found, cs_span list) {
  if (list.count < 8) return 0;
  uint64_t count = cs_get64(list.bytes), last = UINT64_MAX;
  if (count > list.count / 8 - 1) return 0;
  for (uint64_t i = 1; i <= count; i++) {
    uint64_t page = cs_get64((const uint8_t *)list.bytes + 8 * i);
    if (page < 2 || page > c.tree->last || page >= last || spare[page / 64] >> (page % 64) & 1) return 0;
    spare[page / 64] |= (uint64_t)1 << (page % 64);
    last = page;
  }
  *found += count;
  return 1;
}

cs_answer cs_note_spare(cs_pages *pages, const cs_tree *used, const cs_tree *tree, cs_fault *fault) {
  cs_context c = {pages, tree, fault};
  if (tree->last >> 32) return cs_damaged(c, 0);
  uint64_t *spare = calloc(tree->last / 64 + 1, 8), entries = 0, found = 0;
  if (!spare) return CS_FOUND;
  cs_cursor cursor;
  cs_answer answer = cs_place(pages, tree, &cursor, NULL, 0, 0, fault);
  for (; answer == CS_FOUND; answer = cs_step(pages, tree, &cursor, 0, fault)) {
    cs_span key, list;
    if ((answer = cs_entry(pages, tree, &cursor, (cs_span){0}, &key, &list, fault)) != CS_FOUND) break;
    if (!cs_take_list(c, spare, &found, list)) {
      answer = cs_damaged(c, cs_number(cursor.pages[tree->depth - 1]));
      break;
    }
    entries++;
  }
  // With the two meta pages; each number by itself, as sums of damaged ones may be small.
  uint64_t all = tree->last + 1;
  if (answer == CS_MISSING && (used->pages > all || tree->pages > all || used->pages + tree->pages + found + 2 > all))
    answer = cs_damaged(c, 0);
  if (answer == CS_MISSING) answer = entries == tree->entries ? CS_FOUND : cs_damaged(c, tree->root == UINT64_MAX ? 0 : tree->root);
  if (answer != CS_FOUND) {
    free(spare);
    return answer;
  }
  pages->spare = spare;
  pages->spare_pages = tree->last + 1;
  pages->noted = tree->number;
  return CS_FOUND;
}

// MARK: Whole trees

typedef struct {
  cs_context c;
  void (*report)(const cs_fault *fault, void *context);
  void *context;
  uint64_t entries, visited;
} cs_look;

static void cs_look_at(cs_look *look, uint64_t number, uint32_t level) {
  cs_context c = look->c;
  const uint8_t *page;
  if (number >= 2 && number < c.pages->mapped) atomic_store(&c.pages->tags[number], CS_UNKNOWN);
  // A whole tree has fewer pages than the file; more means that it goes in circles.
  if (look->visited++ > c.tree->last || cs_page(c, number, level, &page) != CS_FOUND) {
    if (look->visited <= c.tree->last + 2) look->report(c.fault, look->context);
    return;
  }
  _Bool is_leaf = cs_is_leaf(page);
  for (unsigned i = 0, count = cs_count(page); i < count; i++) {
    cs_span value;
    if (!is_leaf) {
      cs_look_at(look, cs_child(cs_node(page, i)), level + 1);
    } else {
      look->entries++;
      if (cs_value(c, cs_node(page, i), CS_NEW, &value) != CS_FOUND) look->report(c.fault, look->context);
    }
  }
  if (!is_leaf && cs_prove(c, page, level) != CS_FOUND) look->report(c.fault, look->context);
}

void cs_verify(
    cs_pages *pages, const cs_tree *tree, void (*report)(const cs_fault *fault, void *context), void *context) {
  cs_fault fault = {0};
  cs_look look = {{pages, tree, &fault}, report, context, 0, 0};
  if (tree->depth <= CS_DEPTH_MAX && tree->root != UINT64_MAX) cs_look_at(&look, tree->root, 0);
  if (look.entries != tree->entries) {
    fault = (cs_fault){.page = tree->root};
    report(&fault, context);
  }
}
