// System calls that Swift cannot spell: variadic ones, atomics on memory shared between processes, and a
// counter of forks. Nothing here allocates, and nothing keeps state but the counter.
#ifndef VIVARIUM_CSYSTEM_H
#define VIVARIUM_CSYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "CMasks.h"
#include "CPages.h"

// Atomics on words of a shared mapping. Sequentially consistent.
uint64_t cs_load64(const uint64_t *word);
void cs_store64(uint64_t *word, uint64_t value);
uint64_t cs_add64(uint64_t *word, uint64_t value);  // gives the value before
uint32_t cs_load32(const uint32_t *word);
void cs_add32(uint32_t *word, uint32_t value);

// Sleeps while *word is `expected`, at most `nanoseconds`. Wakes early for any reason it likes.
// The word may be shared between processes.
void cs_wait(const uint32_t *word, uint32_t expected, uint64_t nanoseconds);
// Wakes everybody that sleeps on the word.
void cs_wake(uint32_t *word);

// Byte-range locks that belong to an open file, not to a process. `length` 0 reaches to the end of all files.
// 0, or an errno value; never waits.
int cs_lock_exclusive(int file, int64_t start, int64_t length);
int cs_lock_shared(int file, int64_t start, int64_t length);
int cs_unlock(int file, int64_t start, int64_t length);
// Where some other open file holds a lock in the range; -1: nowhere.
int64_t cs_locked_at(int file, int64_t start, int64_t length);
// Whether some other open file holds a lock in the range: 1 or 0; -1 if the system does not say.
int cs_is_locked_by_others(int file, int64_t start, int64_t length);

// open(2), always with close-on-exec; -1 with *error set.
int cs_open(const char *path, bool writes, bool creates, uint32_t mode, int *error);
// The same of a file that others may have put there: never follows a link at the end of the path, never waits for the other
// end of a pipe.
int cs_open_side(const char *path, bool writes, bool creates, uint32_t mode, int *error);
// Makes the file at least so long, with all blocks up to there allocated where the system can, those of holes too: a store
// into a hole of a mapping on a full disk is a signal. An errno value.
int cs_reserve(int file, int64_t length);
// Gives a file another name, unless something has that already (EEXIST). An errno value.
int cs_rename_new(const char *from, const char *to);

// Whether what a path leads to is where something is mounted: of a file, that it was mounted by itself. 1 or 0; -1 where the system
// does not say.
int cs_is_mount(const char *path);

// Gives the blocks of a range back and leaves zeroes; the file keeps its length. An errno value, EOPNOTSUPP where there is
// no such thing.
int cs_punch(int file, int64_t start, int64_t length);
// The first byte from `start` on that has a block of its own; INT64_MAX: none. `start` where the system does not say.
int64_t cs_data_from(int file, int64_t start);

// A descriptor that another thread writes eight bytes to, to wake who polls it; -1 where there is none.
int cs_event(void);

// How often this process, or the line of processes it was forked from, forked since the first call.
uint64_t cs_fork_count(void);

#endif
