/* Starts a program by fork and exec, and reports at once why it could not be started. */
#include <sys/wait.h>

#include "children.h"

enum { EXEC_MS = 1000 };

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

/*
 * The errno comes through a pipe, which the exec closes. An exec may hang with its file system, so init waits a moment
 * and then assumes that the program has started. A later failure has the exit code that a shell gives it.
 */
int start_program(const struct inherited *in, char *const argv[], int (*prepare)(int), int with, pid_t *pid) {
  int report[2];
  int error = 0;
  if (pipe2(report, O_CLOEXEC) == -1) return errno;
  report[1] = move_high(report[1]); /* `prepare` uses 0 to 2 */
  *pid = start_process();
  if (*pid == 0) become(in, argv, prepare, with, report[1]);
  int fork_error = errno;
  close(report[1]);
  struct pollfd reported = {.fd = report[0], .events = POLLIN};
  bool failed = *pid > 0 && poll(&reported, 1, EXEC_MS) == 1 && read(report[0], &error, sizeof error) == sizeof error;
  if (failed) waitpid(*pid, NULL, 0);
  else error = *pid == -1 ? fork_error : 0;
  close(report[0]);
  return error;
}
