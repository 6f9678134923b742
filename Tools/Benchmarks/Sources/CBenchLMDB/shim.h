#include <lmdb.h>
#include <string.h>

/* glibc declares memmem for GNU sources only. */
extern void *memmem(const void *haystack, size_t haystack_length, const void *needle, size_t needle_length);

static inline int bench_contains(const void *bytes, size_t count, const void *needle, size_t needle_count) {
  return memmem(bytes, count, needle, needle_count) != 0;
}
