// A power cut for one process: linked into a program, it stands before the system's calls that write files, and at
// the n-th of them leaves on disk what a real power cut might, then kills the process.
//
// What was written to a file since its last sync is, write by write, kept, lost or torn at a sector, at random. Files
// are those of the store at POWER_CUT_PATH (the path itself, "-wal", "-journal", ".safe", and what is to get one of these
// names). Of the names that files were given by `rename` since the folder's last sync, the last ones are lost, or none. (A
// name that is given only where there is none goes by another call, and is kept.) The environment says what happens:
//
//   POWER_CUT_PATH   the store; without it nothing is changed
//   POWER_CUT_AT     the number of the call, counted from 1, at which the power goes
//   POWER_CUT_SEED   for the choices
//   POWER_FAIL_AT    from this call on, writes fail with "no space" instead …
//   POWER_FAIL_FOR   … for so many calls
#ifndef VIVARIUM_POWER_CUT_H
#define VIVARIUM_POWER_CUT_H

#include <stdint.h>

// How many writes, truncations, renamings and syncs of the store's files, and syncs of their folder, there were so far.
uint64_t power_cut_calls(void);

#endif
