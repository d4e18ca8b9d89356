/* Makes itself a subreaper, which exec keeps, and becomes the program that its arguments name. */
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1) return 1;
  execv(argv[1], argv + 1);
  return 1;
}
