/* Makes N orphans: each is left by a parent that ends at once, and ends itself. Then it prints `made` and awaits EOF. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 0;
  for (long i = 0; i < count; i++) {
    pid_t middle = fork();
    if (middle == 0) _exit(fork() == -1 ? 1 : 0);
    int status;
    if (middle == -1 || waitpid(middle, &status, 0) == -1 || status != 0) return 1;
  }
  char byte;
  if (write(STDOUT_FILENO, "made\n", 5) != 5) return 1;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  return 0;
}
