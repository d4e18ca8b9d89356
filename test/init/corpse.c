/*
 * `corpse PID`: traces that process and never waits for it. When it dies its parent cannot reap it, ptrace(2), as if it slept in the kernel
 * and took no notice of KILL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0) == -1) {
    perror("corpse");
    return 1;
  }
  if (write(STDOUT_FILENO, "held\n", 5) != 5) return 1;
  for (;;) pause();
}
