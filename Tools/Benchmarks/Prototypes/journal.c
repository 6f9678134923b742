// What a commit of a few small changes costs: LMDB writing the changed chunks anew, or one appended record of the differences.
// It is the disk's part alone, of no engine, for Docs/Decisions/0065. Medians of 200 commits of each, alternately:
//
//   cc -O2 -o /tmp/journal Tools/Benchmarks/Prototypes/journal.c -llmdb && mkdir /tmp/there && /tmp/journal /tmp/there
#define _GNU_SOURCE
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Chunks of two overflow pages, as a column of eight bytes has them.
enum { chunks = 4000, chunkBytes = 8000, rounds = 200, journalBytes = 64 << 20 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *times) {
  qsort(times, rounds, sizeof *times, compare);
  return times[rounds / 2];
}

static unsigned random_number(void) {
  static unsigned long long state = 88172645463325252ULL;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 32;
}

static void check(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d\n", what, code);
  exit(1);
}

static void put(MDB_txn *txn, MDB_dbi dbi, size_t number, char *bytes) {
  MDB_val key = {sizeof number, &number}, value = {chunkBytes, bytes};
  check(mdb_put(txn, dbi, &key, &value, 0), "put");
}

static void commit_chunks(MDB_env *env, MDB_dbi dbi, int changes, char *bytes) {
  MDB_txn *txn;
  check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
  for (int i = 0; i < changes; i++) {
    size_t number = random_number() % chunks;
    MDB_val key = {sizeof number, &number}, value;
    check(mdb_get(txn, dbi, &key, &value), "get");
    memcpy(bytes, value.mv_data, chunkBytes);
    bytes[random_number() % chunkBytes]++;
    put(txn, dbi, number, bytes);
  }
  check(mdb_txn_commit(txn), "commit");
}

// A head with a checksum; for each change its place, the old bytes and the new ones.
static void append_record(int file, off_t *end, int changes, char *bytes, int isDurable) {
  size_t length = 64 + (size_t)changes * 32;
  for (size_t i = 0; i < length; i++) bytes[i] = random_number();
  if (*end + (off_t)length > journalBytes) *end = 0;
  if (pwrite(file, bytes, length, *end) != (ssize_t)length) check(1, "write");
  *end += (length + 511) & ~(size_t)511;
  if (isDurable) check(fdatasync(file), "sync");
}

int main(int count, char **arguments) {
  if (count != 2) check(2, "give a folder");
  char path[4096];
  static char bytes[1 << 20];
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi dbi;
  snprintf(path, sizeof path, "%s/lmdb", arguments[1]);
  check(mdb_env_create(&env), "create");
  check(mdb_env_set_mapsize(env, 1u << 30), "size");
  check(mdb_env_open(env, path, MDB_NOSUBDIR, 0600), "open");
  check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
  check(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi), "table");
  for (size_t i = 0; i < chunks; i++) put(txn, dbi, i, bytes);
  check(mdb_txn_commit(txn), "commit");
  snprintf(path, sizeof path, "%s/journal", arguments[1]);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < journalBytes >> 20; i++) if (write(file, bytes, 1 << 20) < 0) check(1, "room");
  fsync(file);
  off_t end = 0;
  for (int changes = 1; changes <= 100; changes *= 100) {
    for (int isDurable = 1; isDurable >= 0; isDurable--) {
      double lmdb[rounds], journal[rounds];
      for (int round = 0; round < rounds; round++) {
        mdb_env_set_flags(env, MDB_NOSYNC, !isDurable);
        double begun = now();
        commit_chunks(env, dbi, changes, bytes);
        lmdb[round] = now() - begun;
        begun = now();
        append_record(file, &end, changes, bytes, isDurable);
        journal[round] = now() - begun;
      }
      printf("%d changes, %s: LMDB %.3f ms, journal %.3f ms\n", changes, isDurable ? "durable" : "relaxed", median(lmdb), median(journal));
    }
  }
  return 0;
}
