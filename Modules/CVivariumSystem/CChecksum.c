// The checksum of values. Eight lanes of multiplications keep a processor busy, so it reads about as fast as memory gives.
#include <string.h>

#include "CPages.h"

enum { CS_LANES = 8 };

// Each step can be undone where the other operand is known: two values that differ in one word of a lane differ in the lane.
static inline uint64_t cs_mix(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * 0x9E3779B97F4A7C15u;
  return lane << 29 | lane >> 35;
}

// Up to 8 bytes, low first; the rest is zero. How many there were is in the checksum by itself.
static inline uint64_t cs_word(const uint8_t *bytes, size_t count) {
  uint64_t word = 0;
  memcpy(&word, bytes, count < 8 ? count : 8);
  return word;
}

uint32_t cs_checksum(const void *key, size_t key_count, const void *value, size_t count) {
  uint64_t lanes[CS_LANES];
  const uint8_t *bytes = value;
  size_t left = count;
  for (int i = 0; i < CS_LANES; i++) lanes[i] = 0xC2B2AE3D27D4EB4Fu * (uint64_t)(i + 1);
  while (left >= 8 * CS_LANES) {
    for (int i = 0; i < CS_LANES; i++) {
      uint64_t word;
      memcpy(&word, bytes + 8 * i, 8);
      lanes[i] = cs_mix(lanes[i], word);
    }
    bytes += 8 * CS_LANES;
    left -= 8 * CS_LANES;
  }
  uint64_t sum = cs_mix(key_count, count);
  for (const uint8_t *at = key, *end = at + key_count; at < end; at += 8) sum = cs_mix(sum, cs_word(at, (size_t)(end - at)));
  while (left > 0) {
    sum = cs_mix(sum, cs_word(bytes, left));
    size_t step = left < 8 ? left : 8;
    bytes += step;
    left -= step;
  }
  if (count >= 8 * CS_LANES) for (int i = 0; i < CS_LANES; i++) sum = cs_mix(sum, lanes[i]);
  sum ^= sum >> 32;
  sum *= 0xD6E8FEB86659FD93u;
  return (uint32_t)(sum >> 32);
}

void cs_seal(void *out, const void *key, size_t key_count, const void *value, size_t count) {
  uint32_t seal[2] = {cs_checksum(key, key_count, value, count), cs_checksum(key, key_count, NULL, 0)};
  if (count > 0) memcpy(out, value, count);
  memcpy((uint8_t *)out + count, seal, sizeof seal);
}
