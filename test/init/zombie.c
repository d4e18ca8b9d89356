/* `zombie COMMAND ..` becomes that command with a child that has ended and was not reaped: waitid(2), WNOWAIT. */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  siginfo_t info;
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  if (argc < 2 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == -1) return 1;
  execvp(argv[1], argv + 1);
  return 1;
}
