// Masks of 64 rows from 64 bytes. Vector units gather the top bits of bytes in one instruction, for which Swift has no name;
// what is defined here is a few instructions, inlined where it is used, and the same on every processor.
#ifndef VIVARIUM_CMASKS_H
#define VIVARIUM_CMASKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CS_INLINE static inline __attribute__((always_inline))

typedef uint8_t cs_bytes16 __attribute__((vector_size(16)));

// Bit i is the top bit of byte i.
CS_INLINE uint64_t cs_top_bits16(cs_bytes16 bytes) {
#if defined(__SSE2__)
  typedef char cs_chars16 __attribute__((vector_size(16)));
  return (uint64_t)(uint32_t)__builtin_ia32_pmovmskb128((cs_chars16)bytes);
#else
  uint64_t halves[2];
  memcpy(halves, &bytes, 16);
  // Eight bytes of 0 or 1 gather in the top byte of the product, the first in its lowest bit.
  uint64_t low = ((halves[0] >> 7 & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
  uint64_t high = ((halves[1] >> 7 & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
  return low | high << 8;
#endif
}

// Bit i is set where flags[i], which is 0 or 1, is 1. Reads 64 bytes.
CS_INLINE uint64_t cs_mask_of_flags(const uint8_t *flags) {
  uint64_t mask = 0;
  for (int i = 0; i < 4; i++) {
    cs_bytes16 bytes;
    memcpy(&bytes, flags + 16 * i, 16);
    // No flag reaches the next byte: they are 0 or 1.
    typedef uint64_t cs_words2 __attribute__((vector_size(16)));
    mask |= cs_top_bits16((cs_bytes16)((cs_words2)bytes << 7)) << 16 * i;
  }
  return mask;
}

// Bit i is set where values[i] lies in start...start + width, round the end of a byte too. Reads 64 bytes.
CS_INLINE uint64_t cs_mask_between8(const void *values, uint8_t start, uint8_t width) {
  uint64_t mask = 0;
  for (int i = 0; i < 4; i++) {
    cs_bytes16 bytes;
    memcpy(&bytes, (const uint8_t *)values + 16 * i, 16);
    mask |= cs_top_bits16((cs_bytes16)(bytes - start <= width)) << 16 * i;
  }
  return mask;
}

// Clears the bits of rows whose byte does not lie in start...start + width, round the end of a byte too. Reads no byte
// behind the last row; bits behind it in the last word are cleared.
void cs_narrow_between8(uint64_t *mask, const void *values, size_t rows, uint8_t start, uint8_t width);

// How many bits are set.
uint64_t cs_count_bits(const uint64_t *mask, size_t words);

// The sum of bytes.
uint64_t cs_sum8(const void *values, size_t rows);

#endif
