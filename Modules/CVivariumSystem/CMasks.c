// The loops of CMasks.h that are worth a second form for newer processors. Both forms give the same, to the bit.
#include "CMasks.h"

#if defined(__x86_64__) && (defined(__linux__) || defined(__APPLE__))
#define CS_HAS_WIDE 1
#define CS_WIDE __attribute__((target("avx2,popcnt")))
static inline int cs_is_wide(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }
#else
#define CS_HAS_WIDE 0
#endif

// The last rows, fewer than 64: the memory ends where they do.
static uint64_t cs_rest_between8(const uint8_t *values, size_t rows, uint8_t start, uint8_t width) {
  uint64_t mask = 0;
  size_t i = 0;
  for (; i + 16 <= rows; i += 16) {
    cs_bytes16 bytes;
    memcpy(&bytes, values + i, 16);
    mask |= cs_top_bits16((cs_bytes16)(bytes - start <= width)) << i;
  }
  for (; i < rows; i++) mask |= (uint64_t)((uint8_t)(values[i] - start) <= width) << i;
  return mask;
}

static void cs_narrow_plain(
    uint64_t *mask, const uint8_t *values, size_t words, uint8_t start, uint8_t width) {
  for (size_t word = 0; word < words; word++) mask[word] &= cs_mask_between8(values + 64 * word, start, width);
}

static uint64_t cs_count_plain(const uint64_t *mask, size_t words) {
  uint64_t count = 0;
  for (size_t word = 0; word < words; word++) count += (uint64_t)__builtin_popcountll(mask[word]);
  return count;
}

#if CS_HAS_WIDE
typedef uint8_t cs_bytes32 __attribute__((vector_size(32)));
typedef char cs_chars32 __attribute__((vector_size(32)));

CS_WIDE static void cs_narrow_wide(
    uint64_t *mask, const uint8_t *values, size_t words, uint8_t start, uint8_t width) {
  for (size_t word = 0; word < words; word++) {
    cs_bytes32 low, high;
    memcpy(&low, values + 64 * word, 32);
    memcpy(&high, values + 64 * word + 32, 32);
    uint32_t first = (uint32_t)__builtin_ia32_pmovmskb256((cs_chars32)(low - start <= width));
    uint32_t second = (uint32_t)__builtin_ia32_pmovmskb256((cs_chars32)(high - start <= width));
    mask[word] &= first | (uint64_t)second << 32;
  }
}

CS_WIDE static uint64_t cs_count_wide(const uint64_t *mask, size_t words) {
  uint64_t count = 0;
  for (size_t word = 0; word < words; word++) count += (uint64_t)__builtin_popcountll(mask[word]);
  return count;
}
#endif

void cs_narrow_between8(uint64_t *mask, const void *values, size_t rows, uint8_t start, uint8_t width) {
  size_t words = rows / 64;
  const uint8_t *bytes = values;
#if CS_HAS_WIDE
  if (cs_is_wide()) cs_narrow_wide(mask, bytes, words, start, width);
  else
#endif
    cs_narrow_plain(mask, bytes, words, start, width);
  if (rows % 64) mask[words] &= cs_rest_between8(bytes + 64 * words, rows % 64, start, width);
}

uint64_t cs_count_bits(const uint64_t *mask, size_t words) {
#if CS_HAS_WIDE
  if (cs_is_wide()) return cs_count_wide(mask, words);
#endif
  return cs_count_plain(mask, words);
}

uint64_t cs_sum8(const void *values, size_t rows) {
  const uint8_t *bytes = values;
  uint64_t sum = 0;
  size_t row = 0;
#if defined(__SSE2__)
  typedef long long cs_sums2 __attribute__((vector_size(16)));
  typedef char cs_chars16 __attribute__((vector_size(16)));
  cs_sums2 sums = {0, 0};
  for (; row + 16 <= rows; row += 16) {
    cs_chars16 block;
    memcpy(&block, bytes + row, 16);
    sums += (cs_sums2)__builtin_ia32_psadbw128(block, (cs_chars16){0});
  }
  sum = (uint64_t)sums[0] + (uint64_t)sums[1];
#else
  // At most 256 bytes of at most 255 fit 16 bits: the inner loop stays narrow.
  for (; row + 256 <= rows; row += 256) {
    uint16_t part = 0;
    for (size_t i = 0; i < 256; i++) part = (uint16_t)(part + bytes[row + i]);
    sum += part;
  }
#endif
  for (; row < rows; row++) sum += bytes[row];
  return sum;
}
