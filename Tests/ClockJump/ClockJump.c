#define _GNU_SOURCE
#include "ClockJump.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t ahead;
static _Atomic uint64_t waits;
static _Thread_local int is_watched;

void clock_jump(int64_t seconds) { ahead += seconds; }

void clock_watch(void) { is_watched = 1; }

uint64_t clock_waits(void) { return waits; }

#ifdef __linux__
#include <sys/syscall.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (syscall(SYS_clock_gettime, clock, time)) return -1;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += ahead;
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *place) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}

// By the clock as it is set at each moment, as the system does it.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end) {
  if (is_watched) waits++;
  for (;;) {
    if (!sem_trywait(semaphore)) return 0;
    if (errno != EAGAIN) return -1;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec)) {
      errno = ETIMEDOUT;
      return -1;
    }
    nanosleep(&(struct timespec){0, 1000000}, 0);
  }
}
#endif
