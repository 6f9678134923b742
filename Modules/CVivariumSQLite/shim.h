// SQLite's interface, and the few calls of it that Swift cannot spell: variadic ones, and those that go
// through the table of functions behind an open file. Nothing here keeps state.
#ifndef VIVARIUM_CSQLITE_H
#define VIVARIUM_CSQLITE_H

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

// Imported as a constant: the macro is an expression.
static const int CSQLITE_CONSTRAINT_UNIQUE = SQLITE_CONSTRAINT_UNIQUE;

// Turns one of the boolean SQLITE_DBCONFIG_ options on or off.
static inline int csqlite_configure(sqlite3 *db, int option, int on) {
  return sqlite3_db_config(db, option, on, (int *)0);
}

// Binds a 64-bit word as a BLOB of eight bytes, most significant first.
static inline int csqlite_bind_word_blob(sqlite3_stmt *statement, int parameter, uint64_t word) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(word >> (56 - 8 * i));
  return sqlite3_bind_blob(statement, parameter, bytes, 8, SQLITE_TRANSIENT);
}

// Binds a copy of some text or bytes.
static inline int csqlite_bind_copy(
    sqlite3_stmt *statement, int parameter, const void *bytes, uint64_t count, int is_text) {
  const void *start = bytes ? bytes : "";
  return is_text ? sqlite3_bind_text64(statement, parameter, (const char *)start, count, SQLITE_TRANSIENT, SQLITE_UTF8)
                 : sqlite3_bind_blob64(statement, parameter, start, count, SQLITE_TRANSIENT);
}

// Gives a copy of some bytes as the result of a function.
static inline void csqlite_result_copy(sqlite3_context *context, const void *bytes, uint64_t count) {
  sqlite3_result_blob64(context, bytes, count, SQLITE_TRANSIENT);
}

// The first `count` bytes of the main file, read through SQLite's own descriptor: a descriptor of ours would,
// when closed, take back the locks that other connections of this process hold on the file.
static inline int csqlite_read_header(sqlite3 *db, void *bytes, int count) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (!file || !file->pMethods) return SQLITE_CANTOPEN;
  return file->pMethods->xRead(file, bytes, count, 0);
}

// A way to open files that leaves no trace: where SQLite would make an empty log beside a file that is only read,
// it is given an empty one that is always there.
static inline int csqlite_quiet_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  sqlite3_vfs *base = (sqlite3_vfs *)vfs->pAppData;
  if (flags & SQLITE_OPEN_WAL) {
    int exists = 0;
    base->xAccess(base, name, SQLITE_ACCESS_EXISTS, &exists);
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    if (!exists) name = "/dev/null";
  }
  return base->xOpen(base, name, file, flags, out_flags);
}

// Makes it known under the name "vivarium-quiet". Call once.
static inline int csqlite_register_quiet(void) {
  static sqlite3_vfs quiet;
  sqlite3_vfs *base = sqlite3_vfs_find(0);
  if (!base) return SQLITE_ERROR;
  quiet = *base;
  quiet.pNext = 0;
  quiet.zName = "vivarium-quiet";
  quiet.pAppData = base;
  quiet.xOpen = csqlite_quiet_open;
  return sqlite3_vfs_register(&quiet, 0);
}

// The first region of the WAL index, which every connection to the file shares; null when there is none.
// Stays mapped while the connection is open.
static inline const void *csqlite_wal_index(sqlite3 *db) {
  sqlite3_file *file = 0;
  void volatile *region = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &region) != SQLITE_OK) return 0;
  return (const void *)region;
}

// Copies the two headers of the WAL index, word by word. Other processes may write them meanwhile.
static inline void csqlite_copy_wal_header(const void *index, uint64_t *copy) {
  const volatile uint64_t *words = (const volatile uint64_t *)index;
  for (int i = 0; i < 12; i++) copy[i] = words[i];
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

// The header of the WAL index, which no two states of the file share; 0 while a commit is changing it.
static inline int csqlite_copy_wal_state(const void *index, uint64_t *copy) {
  uint64_t both[12];
  csqlite_copy_wal_header(index, both);
  memcpy(copy, both, 48);
  return memcmp(both, both + 6, 48) == 0;
}

// How many commits the header has seen, wherever they came from, in a copy of it.
static inline uint32_t csqlite_wal_commits(const uint64_t *copy) { return ((const uint32_t *)copy)[2]; }

// A number that is another one after every commit, and that a connection finds changed at the beginning of a transaction
// when another connection has committed since its last. Within a transaction or right after a commit.
static inline uint32_t csqlite_data_version(sqlite3 *db) {
  uint32_t version = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

// How many frames the log holds, and how many of them are in the main file already.
static inline void csqlite_wal_frames(const void *index, uint32_t *frames, uint32_t *backfilled) {
  const volatile uint32_t *words = (const volatile uint32_t *)index;
  *frames = words[4];
  *backfilled = words[24];
}

// Whether a reader that cannot write the index finds a mark of its log to read from. It cannot set one.
static inline int csqlite_wal_has_mark(const void *index) {
  const volatile uint32_t *words = (const volatile uint32_t *)index;
  for (int mark = 26; mark < 30; mark++)
    if (words[mark] <= words[4]) return 1;
  return 0;
}

// The two salts that tell this log from those before it, as they stand in its first bytes; SQLite gives it others whenever it
// begins anew.
static inline uint64_t csqlite_wal_salts(const void *index) { return ((const volatile uint64_t *)index)[4]; }

#endif
