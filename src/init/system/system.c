/* The few system calls that every other file of sexton-init needs. */
#include "system.h"

#include <stdalign.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
  FIRST_HIGH_FD = 100,
  LARGE_BYTES = 16384,
  CLOSE_AT_EXEC = 4, /* CLOSE_RANGE_CLOEXEC */
  MAX_OLD_FD = 4096, /* where there is no close_range(2) */
};

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool is_ahead(int64_t at) { return at != NEVER && at > now_ms(); }

int64_t wall_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * SECOND_NS + now.tv_nsec;
}

int64_t wall_at(int64_t at) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return wall_ns() - (now.tv_sec * SECOND_NS + now.tv_nsec - at * (SECOND_NS / 1000));
}

/* The C libraries reserve two or three signals; the system call does not. */
void set_mask(uint64_t mask, uint64_t *old) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, old, sizeof mask); }

/* fork(3) of the C library handles threads and takes a kilobyte. */
pid_t start_process(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

int move_high(int fd) {
  if (fd == -1 || fd >= FIRST_HIGH_FD) return fd;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
  if (high == -1 && fd <= STDERR_FILENO) high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (high == -1) return fd;
  close(fd);
  return high;
}

void close_from(int first, bool at_exec) {
  if (syscall(SYS_close_range, (unsigned)first, ~0U, at_exec ? (unsigned)CLOSE_AT_EXEC : 0U) == 0) return;
  /* before Linux 5.9, and 5.11 */
  for (int fd = first; fd < MAX_OLD_FD; fd++)
    if (at_exec) fcntl(fd, F_SETFD, FD_CLOEXEC);
    else close(fd);
}

bool go_to(int directory) { return syscall(SYS_fchdir, directory) == 0; }

void release_pages(char *bytes, size_t length) {
  uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ); /* 4 to 64 KiB */
  uintptr_t start = ((uintptr_t)bytes + page - 1) / page * page;
  uintptr_t end = ((uintptr_t)bytes + length) / page * page;
  if (start < end) madvise(bytes + (start - (uintptr_t)bytes), end - start, MADV_DONTNEED);
}

void release_if_large(char *buffer, size_t used) {
  if (used > LARGE_BYTES) release_pages(buffer, used);
}

bool read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return false;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  text[length > 0 ? length : 0] = 0;
  return length > 0;
}

bool visit_entries(int directory, bool (*visit)(void *with, const char *name), void *with) {
  struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
  };
  alignas(uint64_t) char bytes[4096];
  long length;
  while ((length = syscall(SYS_getdents64, directory, bytes, sizeof bytes)) > 0)
    for (long at = 0; at < length;) {
      const struct entry *entry = (const struct entry *)(void *)(bytes + at);
      if (!visit(with, entry->name)) return false;
      at += entry->length;
    }
  return length == 0;
}

char *put_digits(char *out, uint64_t number, int width) {
  char digits[20];
  int count = 0;
  for (; number > 0 || count < width; number /= 10) digits[count++] = (char)('0' + number % 10);
  while (count > 0) *out++ = digits[--count];
  *out = 0;
  return out;
}

/* AT_RANDOM is only the fallback: it seeds the stack protector, and ids are published. */
char *make_random_id(char id[33]) {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes) {
    const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
    memset(bytes, 0, sizeof bytes);
    if (random) memcpy(bytes, random, sizeof bytes);
  }
  for (size_t i = 0; i < sizeof bytes; i++) {
    id[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    id[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  id[32] = 0;
  return id + 32;
}

bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

bool is_among(const char *text, const char *words) {
  for (; *(words += strspn(words, " ")); words += strcspn(words, " "))
    if (starts_with(words, text) && strcspn(words, " ") == strlen(text)) return true;
  return false;
}

const char *find_text(const char *text, const char *part) {
  while (*text && !starts_with(text, part)) text++;
  return *text ? text : NULL;
}

void say(const char *first, const char *second, const char *third) {
  char line[1024];
  size_t used = 0;
  const char *parts[] = {first, second, third};
  for (int i = 0; i < 3; i++)
    for (const char *at = parts[i]; *at && used < sizeof line - 1; at++) line[used++] = *at;
  if (used > 0) line[used - 1] = '\n';
  /* A pipe that polls as writable takes a line of this length whole: pipe(7), PIPE_BUF. */
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&ready, 1, 0) == 1 && ready.revents & POLLOUT && write(STDERR_FILENO, line, used) < 0) return;
}

void name_signal(char name[SIGNAL_NAME_BYTES], int number) {
  enum { FIRST_REAL_TIME = 34, LAST_REAL_TIME = 64 };
  const char *word =
      "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG "
      "XCPU XFSZ VTALRM PROF WINCH IO PWR SYS ";
  char *end = stpcpy(name, "SIG");
  if (number >= FIRST_REAL_TIME) {
    end = stpcpy(end, number == LAST_REAL_TIME ? "RTMAX" : number == FIRST_REAL_TIME ? "RTMIN" : "RTMIN+");
    if (number > FIRST_REAL_TIME && number < LAST_REAL_TIME) put_digits(end, (uint64_t)(number - FIRST_REAL_TIME), 1);
    return;
  }
  for (; number > 1; number--) word += strcspn(word, " ") + 1;
  *(char *)mempcpy(end, word, strcspn(word, " ")) = 0;
}
