/*
 * The application of the measurements: stamps its first instruction, its signals and its end.
 *   first        stays until it is asked to end, by itself or (`k`) by KILL
 *   first once   ends at once
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>

#include "record.h"

static void on_signal(int number) {
  int64_t at = now_ns();
  int saved = errno;
  report('s', at, number);
  errno = saved;
}

int main(int argc, char **argv) {
  int64_t first = now_ns();
  (void)argv;
  if (argc > 1) {
    report('f', first, 0);
    _exit(0);
  }
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  /* Reported only now, as the reader may send a signal at once. */
  report('f', first, 0);
  char order = 0;
  while (read(ORDERS, &order, 1) < 0 && errno == EINTR) {
  }
  report('x', now_ns(), 0);
  if (order == 'k') kill(getpid(), SIGKILL);
  _exit(0);
}
