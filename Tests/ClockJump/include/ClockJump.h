// A clock of dates that jumps, for one process: linked into a program, it stands before the system's calls that read that
// clock, and before the wait until a time of it. Clocks that nobody sets go on as they do. Linux alone.
#ifndef VIVARIUM_CLOCK_JUMP_H
#define VIVARIUM_CLOCK_JUMP_H

#include <stdint.h>

// Sets the clock of dates forward, or back.
void clock_jump(int64_t seconds);

// From now on the waits of the calling thread are counted.
void clock_watch(void);

// How often a counted thread has begun to wait until a time of that clock.
uint64_t clock_waits(void);

#endif
