#define _GNU_SOURCE
#include "PowerCut.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __linux__

enum { files_max = 32, sector = 512 };

// A file of the store, with a descriptor of our own that is never closed: closing it would drop the locks that the
// process holds on the file.
typedef struct {
  dev_t device;
  ino_t inode;
  int descriptor;
} tracked_file;

// One change since the file's last sync: what the bytes were, and what they became. A truncation has no new bytes.
typedef struct change {
  struct change *next;
  int file;
  off_t offset;
  off_t size_before;
  size_t old_count, new_count;
  char *old_bytes, *new_bytes;
  off_t truncated_to;  // -1: a write
} change;

// A name that another file has got since the folder's last sync. The file that had it keeps one that nobody looks for.
typedef struct renaming {
  struct renaming *next;  // the one before
  char *from, *to;
  char *kept;  // null: there was no file
} renaming;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static tracked_file files[files_max];
static int file_count;
static change *first_change, **last_change = &first_change;
static renaming *last_renaming;
static uint64_t calls, cut_at, fail_at, fail_for, random_state;
static const char *store_path;
static bool is_ready;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);

static uint64_t number(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, 0, 10) : 0;
}

static void prepare(void) {
  if (is_ready) return;
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_rename = dlsym(RTLD_NEXT, "rename");
  store_path = getenv("POWER_CUT_PATH");
  cut_at = number("POWER_CUT_AT");
  fail_at = number("POWER_FAIL_AT");
  fail_for = number("POWER_FAIL_FOR");
  random_state = number("POWER_CUT_SEED");
  is_ready = true;
}

static uint64_t random_below(uint64_t bound) {
  uint64_t z = (random_state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return (z ^ (z >> 31)) % bound;
}

static bool is_name_of_store(const char *path) {
  size_t prefix = strlen(store_path);
  if (strncmp(path, store_path, prefix)) return false;
  const char *rest = path + prefix;
  // A new store has a temporary name until it is complete.
  return !*rest || !strcmp(rest, "-wal") || !strcmp(rest, "-journal") || !strcmp(rest, ".safe") || !strncmp(rest, ".new-", 5);
}

static bool is_of_store(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count <= 0) return false;
  path[count] = 0;
  return is_name_of_store(path);
}

// Whether a descriptor is of the folder that has the store's names.
static bool is_folder(int descriptor) {
  struct stat info, folder;
  if (!store_path || fstat(descriptor, &info) || !S_ISDIR(info.st_mode)) return false;
  char path[4096];
  snprintf(path, sizeof path, "%s", store_path);
  char *slash = strrchr(path, '/');
  if (!slash) return false;
  *slash = 0;
  return !stat(path, &folder) && folder.st_dev == info.st_dev && folder.st_ino == info.st_ino;
}

// The file's place in `files`; -1 for files that are none of ours.
static int track(int descriptor) {
  struct stat info;
  if (!store_path || fstat(descriptor, &info) || !S_ISREG(info.st_mode)) return -1;
  for (int i = 0; i < file_count; i++)
    if (files[i].device == info.st_dev && files[i].inode == info.st_ino) return i;
  if (file_count == files_max || !is_of_store(descriptor)) return -1;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  int own = open(link, O_RDWR | O_CLOEXEC);
  if (own < 0) return -1;
  files[file_count] = (tracked_file){info.st_dev, info.st_ino, own};
  return file_count++;
}

static void keep(int file, off_t offset, const void *bytes, size_t count, off_t truncated_to) {
  struct stat info;
  if (fstat(files[file].descriptor, &info)) return;
  change *c = calloc(1, sizeof *c);
  c->file = file;
  c->offset = offset;
  c->size_before = info.st_size;
  c->truncated_to = truncated_to;
  size_t old = truncated_to >= 0 ? (size_t)(info.st_size > offset ? info.st_size - offset : 0) : count;
  c->old_bytes = malloc(old + 1);
  ssize_t got = pread(files[file].descriptor, c->old_bytes, old, offset);
  c->old_count = got > 0 ? (size_t)got : 0;
  if (truncated_to < 0) {
    c->new_bytes = malloc(count + 1);
    memcpy(c->new_bytes, bytes, count);
    c->new_count = count;
  }
  *last_change = c;
  last_change = &c->next;
}

// Everything written to the file so far is on disk for good.
static void forget(int file) {
  change **place = &first_change;
  while (*place) {
    change *c = *place;
    if (c->file == file) {
      *place = c->next;
      free(c->old_bytes);
      free(c->new_bytes);
      free(c);
    } else {
      place = &c->next;
    }
  }
  last_change = place;
}

static void undo(change *c) {
  if (!c) return;
  undo(c->next);
  int descriptor = files[c->file].descriptor;
  real_ftruncate(descriptor, c->size_before);
  if (c->old_count) real_pwrite(descriptor, c->old_bytes, c->old_count, c->offset);
}

static void free_renaming(renaming *r) {
  free(r->from);
  free(r->to);
  free(r->kept);
  free(r);
}

static int keep_and_rename(const char *from, const char *to) {
  static int number;
  renaming *r = calloc(1, sizeof *r);
  r->from = strdup(from);
  r->to = strdup(to);
  if (asprintf(&r->kept, "%s.before-%d", to, ++number) < 0) r->kept = 0;
  if (r->kept && link(to, r->kept)) {
    free(r->kept);
    r->kept = 0;
  }
  if (real_rename(from, to)) {
    int failure = errno;
    if (r->kept) unlink(r->kept);
    free_renaming(r);
    errno = failure;
    return -1;
  }
  r->next = last_renaming;
  last_renaming = r;
  return 0;
}

// The folder's names are on disk for good.
static void settle_names(void) {
  while (last_renaming) {
    renaming *r = last_renaming;
    last_renaming = r->next;
    if (r->kept) unlink(r->kept);
    free_renaming(r);
  }
}

// A folder's names reach the disk in their order: of those since its last sync the last ones are lost, or none.
static void lose_names(void) {
  uint64_t count = 0;
  for (renaming *r = last_renaming; r; r = r->next) count++;
  if (!count) return;
  uint64_t lost = random_below(count + 1);
  for (renaming *r = last_renaming; r && lost; lost--) {
    real_rename(r->to, r->from);
    if (r->kept) real_rename(r->kept, r->to);
    last_renaming = r->next;
    free_renaming(r);
    r = last_renaming;
  }
  settle_names();
}

static void cut(void) {
  lose_names();
  undo(first_change);
  for (change *c = first_change; c; c = c->next) {
    int descriptor = files[c->file].descriptor;
    uint64_t fate = random_below(3);
    if (fate == 0) continue;
    if (c->truncated_to >= 0) {
      real_ftruncate(descriptor, c->truncated_to);
      continue;
    }
    size_t count = c->new_count;
    if (fate == 1 && count > sector) count = sector * random_below(count / sector);
    if (count) real_pwrite(descriptor, c->new_bytes, count, c->offset);
  }
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Counts a call and lets it happen, fail (true), or be the last.
static bool fails(void) {
  calls++;
  if (cut_at && calls == cut_at) cut();
  return fail_at && calls >= fail_at && calls < fail_at + fail_for;
}

uint64_t power_cut_calls(void) {
  pthread_mutex_lock(&guard);
  uint64_t result = calls;
  pthread_mutex_unlock(&guard);
  return result;
}

// A descriptor opened with O_DSYNC writes through.
static bool writes_through(int descriptor) { return fcntl(descriptor, F_GETFL) & (O_DSYNC | O_SYNC); }

#define REFUSED -2

// Before a write of `count` bytes at `offset`: 0 to go on, REFUSED with errno set.
static int before(int descriptor, off_t offset, const void *bytes, size_t count) {
  int file = track(descriptor);
  if (file < 0) return 0;
  if (fails()) {
    errno = ENOSPC;
    return REFUSED;
  }
  if (!writes_through(descriptor)) keep(file, offset, bytes, count, -1);
  return 0;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  pthread_mutex_lock(&guard);
  prepare();
  ssize_t result = before(descriptor, offset, bytes, count) ? -1 : real_pwrite(descriptor, bytes, count, offset);
  pthread_mutex_unlock(&guard);
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite64(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  pthread_mutex_lock(&guard);
  prepare();
  int refused = 0;
  if (store_path) refused = before(descriptor, lseek(descriptor, 0, SEEK_CUR), bytes, count);
  ssize_t result = refused ? -1 : real_write(descriptor, bytes, count);
  pthread_mutex_unlock(&guard);
  return result;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  pthread_mutex_lock(&guard);
  prepare();
  int refused = 0;
  if (store_path && track(descriptor) >= 0) {
    size_t total = 0;
    for (int i = 0; i < count; i++) total += parts[i].iov_len;
    char *bytes = malloc(total + 1), *end = bytes;
    for (int i = 0; i < count; i++) {
      memcpy(end, parts[i].iov_base, parts[i].iov_len);
      end += parts[i].iov_len;
    }
    refused = before(descriptor, lseek(descriptor, 0, SEEK_CUR), bytes, total);
    free(bytes);
  }
  ssize_t result = refused ? -1 : real_writev(descriptor, parts, count);
  pthread_mutex_unlock(&guard);
  return result;
}

int ftruncate64(int descriptor, off_t size) {
  pthread_mutex_lock(&guard);
  prepare();
  int file = track(descriptor), result = 0;
  if (file >= 0) {
    if (fails()) {
      errno = ENOSPC;
      result = -1;
    } else {
      keep(file, size, 0, 0, size);
    }
  }
  if (!result) result = real_ftruncate(descriptor, size);
  pthread_mutex_unlock(&guard);
  return result;
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int rename(const char *from, const char *to) {
  pthread_mutex_lock(&guard);
  prepare();
  int result;
  if (!store_path || !is_name_of_store(to)) {
    result = real_rename(from, to);
  } else if (fails()) {
    errno = EIO;
    result = -1;
  } else {
    result = keep_and_rename(from, to);
  }
  pthread_mutex_unlock(&guard);
  return result;
}

static int sync_folder(int (*sync)(int), int descriptor) {
  // The power may go here. A full disk has room for names.
  fails();
  int result = sync(descriptor);
  if (!result) settle_names();
  return result;
}

static int sync_with(int (*sync)(int), int descriptor) {
  if (is_folder(descriptor)) return sync_folder(sync, descriptor);
  int file = track(descriptor), result = 0;
  if (file >= 0 && fails()) {
    errno = EIO;
    result = -1;
  }
  if (!result) result = sync(descriptor);
  if (file >= 0 && !result) forget(file);
  return result;
}

int fsync(int descriptor) {
  pthread_mutex_lock(&guard);
  prepare();
  int result = sync_with(real_fsync, descriptor);
  pthread_mutex_unlock(&guard);
  return result;
}

int fdatasync(int descriptor) {
  pthread_mutex_lock(&guard);
  prepare();
  int result = sync_with(real_fdatasync, descriptor);
  pthread_mutex_unlock(&guard);
  return result;
}

#else

uint64_t power_cut_calls(void) { return 0; }

#endif
