/*
 * `newborn PID`: traces that process, and holds each child that it makes from now on before its first instruction, as
 * a lack of CPU does. The kernel lets them go when this one ends: ptrace(2).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int status;
  if (argc != 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE) == -1) {
    perror("newborn");
    return 1;
  }
  if (write(STDOUT_FILENO, "held\n", 5) != 5) return 1;
  for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (pid != atoi(argv[1]) || !WIFSTOPPED(status)) continue;
    ptrace(PTRACE_CONT, pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
  }
}
