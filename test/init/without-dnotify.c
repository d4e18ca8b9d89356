/* A kernel without dnotify: a test build of init calls this in place of fcntl(2). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#undef fcntl
int fcntl(int fd, int command, ...);
int deaf_fcntl(int fd, int command, ...);

int deaf_fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  long argument = va_arg(rest, long);
  va_end(rest);
  if (command != F_NOTIFY) return fcntl(fd, command, argument);
  errno = EINVAL;
  return -1;
}
