// Reads the trees of an LMDB file (layout 1, 64 bits, little endian) from a map of our own, and believes nothing: each page and
// each value is checked when it is met first after the file was opened, and what fails is an answer, never a signal.
//
// Damage happens while a file rests. What is written while it is open, by anybody, is taken as it comes.
#ifndef VIVARIUM_CPAGES_H
#define VIVARIUM_CPAGES_H

#include <stddef.h>
#include <stdint.h>

// A map of a file, with what is known of its pages. Safe from any thread.
typedef struct cs_pages cs_pages;

// One version of one tree.
typedef struct {
  uint64_t root;    // UINT64_MAX: no entries
  uint64_t last;    // the last page that was given out
  uint64_t number;  // the transaction that made the version
  uint64_t entries;
  uint64_t pages;   // of the tree, with those of large values
  uint32_t depth;
  uint8_t is_sealed;    // values end with their checksum
  uint8_t has_numbers;  // keys are words, as in the tree of free pages
} cs_tree;

typedef enum {
  CS_FOUND = 0,
  CS_MISSING = 1,
  CS_DAMAGED = 2,
  CS_BEYOND = 3,  // behind the end of the map: take a larger one
} cs_answer;

// Where damage was found: a page, and where it was a value its key, which lies in the map.
typedef struct {
  uint64_t page;
  const void *key;
  size_t key_count;
} cs_fault;

typedef struct {
  const void *bytes;
  size_t count;
} cs_span;

enum { CS_DEPTH_MAX = 32, CS_SEAL = 8 };

// A place among the entries of a tree.
typedef struct {
  const uint8_t *pages[CS_DEPTH_MAX];
  uint16_t places[CS_DEPTH_MAX];
} cs_cursor;

// The checksum of a value, which depends on its key as well: a word of eight lanes, folded. Any one bit, byte or word that
// changes changes it; other damage does not in one of 2^32 cases.
uint32_t cs_checksum(const void *key, size_t key_count, const void *value, size_t count);
// Copies a value and puts its checksum behind it, and that of the key alone: so a key can be told from another without the value.
void cs_seal(void *out, const void *key, size_t key_count, const void *value, size_t count);

// Maps the beginning of a file, as many bytes as are asked for though it may be shorter. NULL with *error set.
// `before`: a smaller map of the same file, from which is taken what is known of the pages; it stays as it is.
cs_pages *cs_pages_open(int file, uint32_t page_size, uint64_t bytes, const cs_pages *before, int *error);
void cs_pages_close(cs_pages *pages);
// Forgets which pages were checked. While nobody else uses the map.
void cs_pages_forget(cs_pages *pages);

// The trees of entries and of free pages that a transaction reads. False where neither meta page is the transaction's (any more).
_Bool cs_trees(const cs_pages *pages, uint64_t number, cs_tree *entries, cs_tree *spare);
// Notes which pages are free in a version, once: those cannot be in its tree. CS_DAMAGED where the tree of free pages is, or where
// more pages are in use and free than were ever given out.
cs_answer cs_note_spare(cs_pages *pages, const cs_tree *entries, const cs_tree *spare, cs_fault *fault);

// The value of a key.
cs_answer cs_get(cs_pages *pages, const cs_tree *tree, const void *key, size_t count, cs_span *value, cs_fault *fault);
// Whether the bytes of a value that was found begin right behind the head of a page, where those of a leaf never do.
_Bool cs_has_own_pages(const cs_pages *pages, const void *value);
// Checks all pages that LMDB may look at when it puts a key, or deletes it, which merges pages; NULL: that it looks at to find the last.
cs_answer cs_prepare(cs_pages *pages, const cs_tree *tree, const void *key, size_t count, _Bool deletes, cs_fault *fault);
// Goes to the first key at or after a key, in reverse to the last at or before it; NULL: to the first or last of all.
cs_answer cs_place(
    cs_pages *pages, const cs_tree *tree, cs_cursor *cursor, const void *key, size_t count, _Bool reverse, cs_fault *fault);
cs_answer cs_step(cs_pages *pages, const cs_tree *tree, cs_cursor *cursor, _Bool reverse, cs_fault *fault);
// The entry at a place, if its key begins with the prefix. Of another only the key is checked: CS_MISSING says that there are no more
// with the prefix.
cs_answer cs_entry(
    cs_pages *pages, const cs_tree *tree, const cs_cursor *cursor, cs_span prefix, cs_span *key, cs_span *value, cs_fault *fault);
// Looks at all pages and values, whether they were looked at before or not, and reports each fault.
void cs_verify(
    cs_pages *pages, const cs_tree *tree, void (*report)(const cs_fault *fault, void *context), void *context);

#endif
