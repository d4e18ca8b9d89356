/*
 * A kernel whose pages have 64 KiB, as some of arm64 have. A test build of init calls these in place of madvise and
 * getauxval. What is given back is gone by whole pages, madvise(2).
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#undef getauxval
unsigned long getauxval(unsigned long type);

enum { PAGE = 65536 };

int large_madvise(void *start, size_t length, int advice);
unsigned long large_getauxval(unsigned long type);

int large_madvise(void *start, size_t length, int advice) {
  (void)advice;
  if ((uintptr_t)start % PAGE != 0) {
    errno = EINVAL;
    return -1;
  }
  memset(start, 0, (length + PAGE - 1) / PAGE * PAGE);
  return 0;
}

unsigned long large_getauxval(unsigned long type) { return type == AT_PAGESZ ? PAGE : getauxval(type); }
