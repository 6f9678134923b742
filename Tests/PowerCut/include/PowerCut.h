// A power cut for one process: linked into a program, it stands before the system's calls that write files, and at
// the n-th of them leaves on disk what a real power cut might, then kills the process.
//
// What was written to a file since its last sync is, write by write, kept, lost or torn at a sector, at random. Files
// are those of the store at POWER_CUT_PATH (the path itself, "-wal" and "-journal"). The environment says what happens:
//
//   POWER_CUT_PATH   the store; without it nothing is changed
//   POWER_CUT_AT     the number of the call, counted from 1, at which the power goes
//   POWER_CUT_SEED   for the choices
//   POWER_FAIL_AT    from this call on, writes fail with "no space" instead …
//   POWER_FAIL_FOR   … for so many calls
#ifndef VIVARIUM_POWER_CUT_H
#define VIVARIUM_POWER_CUT_H

#include <stdint.h>

// How many writes, truncations and syncs of the store's files there were so far.
uint64_t power_cut_calls(void);

#endif
