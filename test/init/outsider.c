/*
 * outsider PID SIGNAL: sends a signal without a sender. So the kernel reports one that comes from outside of the
 * receiver's PID namespace, as a platform's stop request does: rt_sigqueueinfo(2).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
  if (count != 3) return 125;
  int number = atoi(words[2]);
  siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
  return syscall(SYS_rt_sigqueueinfo, atoi(words[1]), number, &info) == -1;
}
