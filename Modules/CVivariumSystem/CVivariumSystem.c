#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CVivariumSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <os/os_sync_wait_on_address.h>
#endif

uint64_t cs_load64(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
void cs_store64(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }
uint64_t cs_add64(uint64_t *word, uint64_t value) { return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); }
uint32_t cs_load32(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
void cs_add32(uint32_t *word, uint32_t value) { __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); }

void cs_wait(const uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
#ifdef __linux__
  struct timespec limit = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, 0, 0);
#elif defined(__APPLE__)
  os_sync_wait_on_address_with_timeout(
      (void *)word, expected, sizeof *word, OS_SYNC_WAIT_ON_ADDRESS_SHARED, OS_CLOCK_MACH_ABSOLUTE_TIME, nanoseconds);
#else
  struct timespec limit = {0, nanoseconds < 1000000 ? (long)nanoseconds : 1000000};
  if (cs_load32(word) == expected) nanosleep(&limit, 0);
#endif
}

void cs_wake(uint32_t *word) {
#ifdef __linux__
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
#elif defined(__APPLE__)
  os_sync_wake_by_address_all(word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_SHARED);
#else
  (void)word;
#endif
}

#if defined(__APPLE__) && !defined(F_OFD_SETLK)
#define F_OFD_SETLK 90
#define F_OFD_GETLK 92
#endif

static int range_lock(int file, short type, int64_t start, int64_t length) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  while (fcntl(file, F_OFD_SETLK, &range) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

int cs_lock_exclusive(int file, int64_t start, int64_t length) { return range_lock(file, F_WRLCK, start, length); }
int cs_lock_shared(int file, int64_t start, int64_t length) { return range_lock(file, F_RDLCK, start, length); }
int cs_unlock(int file, int64_t start, int64_t length) { return range_lock(file, F_UNLCK, start, length); }

// Makes *range a lock that some other open file holds in it, or of the type F_UNLCK.
static int lock_of_others(int file, int64_t start, int64_t length, struct flock *range) {
  *range = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(file, F_OFD_GETLK, range);
}

int64_t cs_locked_at(int file, int64_t start, int64_t length) {
  struct flock range;
  if (lock_of_others(file, start, length, &range) != 0 || range.l_type == F_UNLCK) return -1;
  return range.l_start < start ? start : range.l_start;
}

int cs_is_locked_by_others(int file, int64_t start, int64_t length) {
  struct flock range;
  if (lock_of_others(file, start, length, &range) != 0) return -1;
  return range.l_type == F_UNLCK ? 0 : 1;
}

static int open_with(const char *path, bool writes, bool creates, uint32_t mode, int more, int *error) {
  int flags = (writes ? O_RDWR : O_RDONLY) | (creates ? O_CREAT : 0) | O_CLOEXEC | more;
  int file;
  do file = open(path, flags, (mode_t)mode);
  while (file < 0 && errno == EINTR);
  *error = file < 0 ? errno : 0;
  return file;
}

int cs_open(const char *path, bool writes, bool creates, uint32_t mode, int *error) {
  return open_with(path, writes, creates, mode, 0, error);
}

int cs_open_side(const char *path, bool writes, bool creates, uint32_t mode, int *error) {
  return open_with(path, writes, creates, mode, O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, error);
}

int cs_reserve(int file, int64_t length) {
  struct stat info;
  if (fstat(file, &info) != 0) return errno;
  // Blocks count 512 bytes each; fewer than the length of the file is a hole.
  if (info.st_size >= length && (int64_t)info.st_blocks * 512 >= length) return 0;
#ifdef __linux__
  int result;
  do result = fallocate(file, 0, 0, length) == 0 ? 0 : errno;
  while (result == EINTR);
  if (result != EOPNOTSUPP && result != ENOSYS) return result;
  // A file system that reserves nothing. Only what lies beyond the end is written: others may be writing what lies before.
  if (info.st_size >= length) return 0;
  do result = posix_fallocate(file, info.st_size, length - info.st_size);
  while (result == EINTR);
  return result;
#else
  return info.st_size >= length || ftruncate(file, length) == 0 ? 0 : errno;
#endif
}

int cs_rename_new(const char *from, const char *to) {
  int number = ENOSYS;
#if defined(__linux__) && defined(SYS_renameat2)
  if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u /* RENAME_NOREPLACE */) == 0) return 0;
  number = errno;
#elif defined(__APPLE__)
  if (renamex_np(from, to, RENAME_EXCL) == 0) return 0;
  number = errno;
#endif
  if (number != ENOSYS && number != EINVAL && number != ENOTSUP) return number;
  // A file system without it: two names for a moment.
  if (link(from, to) != 0) return errno;
  unlink(from);
  return 0;
}

int cs_punch(int file, int64_t start, int64_t length) {
#ifdef __linux__
  int result;
  do result = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
#elif defined(__APPLE__)
  fpunchhole_t hole = {.fp_offset = start, .fp_length = length};
  return fcntl(file, F_PUNCHHOLE, &hole) == 0 ? 0 : errno == ENOTSUP ? EOPNOTSUPP : errno;
#else
  return EOPNOTSUPP;
#endif
}

int64_t cs_data_from(int file, int64_t start) {
#ifdef SEEK_DATA
  off_t found = lseek(file, start, SEEK_DATA);
  if (found >= 0) return found;
  return errno == ENXIO ? INT64_MAX : start;
#else
  return start;
#endif
}

int cs_event(void) {
#ifdef __linux__
  return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
#else
  return -1;
#endif
}

static _Atomic uint64_t forks;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void forked_child(void) { atomic_fetch_add(&forks, 1); }
static void watch_forks(void) { pthread_atfork(0, 0, forked_child); }

uint64_t cs_fork_count(void) {
  pthread_once(&watching, watch_forks);
  return atomic_load_explicit(&forks, memory_order_relaxed);
}

int cs_is_mount(const char *path) {
#if defined(__linux__) && defined(SYS_statx)
  // The result has 256 bytes. By words, since not every libc has its type: the second has what the file is, the eighth what the
  // kernel can say of files.
  uint64_t words[32];
  const uint64_t mount_root = 0x2000;
  if (syscall(SYS_statx, AT_FDCWD, path, 0, 0, words) != 0 || (words[7] & mount_root) == 0) return -1;
  return (words[1] & mount_root) != 0;
#elif defined(__linux__)
  (void)path;
  return -1;
#else
  // Only folders are mounted there.
  (void)path;
  return 0;
#endif
}
