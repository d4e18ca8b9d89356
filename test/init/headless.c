/*
 * A process whose first thread has ended, so that /proc shows it as a zombie, and whose other thread lives:
 * pthread_exit(3).
 */
#include <pthread.h>
#include <unistd.h>

static void *stay(void *nothing) {
  (void)nothing;
  if (write(STDOUT_FILENO, "headless\n", 9) != 9) return NULL;
  for (;;) pause();
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, stay, NULL) != 0) return 1;
  pthread_exit(NULL);
}
