/* Starts a program by fork and exec. The errno of a failure comes through a pipe, which the exec closes. */
#include "children.h"

static _Noreturn void become(const struct inherited *in, char *const argv[], int (*prepare)(int), int with,
                             int report) {
  int error = prepare(with);
  if (in->pid_text) put_digits(in->pid_text, (uint64_t)getpid(), 1);
  if (error == 0 && in->directory > 0 && !go_to(in->directory)) error = errno;
  if (in->ignores_chld) signal(SIGCHLD, SIG_IGN);
  set_mask(inherited_mask, NULL);
  if (error == 0) error = exec_in_path(in, argv);
  ssize_t written = write(report, &error, sizeof error);
  _exit(written == sizeof error && error == ENOENT ? 127 : 126);
}

int start_program(const struct inherited *in, char *const argv[], int (*prepare)(int), int with, pid_t *pid,
                  int *report) {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC) == -1) return errno;
  pair[1] = move_high(pair[1]); /* `prepare` uses 0 to 2 */
  *pid = start_process();
  if (*pid == 0) become(in, argv, prepare, with, pair[1]);
  int error = *pid == -1 ? errno : 0;
  close(pair[1]);
  *report = move_high(pair[0]);
  if (error) close(*report);
  return error;
}

int read_report(int report, int wait_ms) {
  struct pollfd reported = {.fd = report, .events = POLLIN};
  int error = 0;
  bool failed = poll(&reported, 1, wait_ms) == 1 && read(report, &error, sizeof error) == sizeof error;
  close(report);
  return failed ? error : 0;
}
