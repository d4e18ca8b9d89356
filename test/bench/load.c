/*
 * Connections for the bench of drains.
 *
 *   load serve PORT               accepts; a connection that sends an `x` is closed at once, others stay
 *   load flood HOST PORT SECONDS  as many as can be, four at a time, each closed by the server first; says how many
 *   load hold HOST PORT COUNT     keeps this many open, says `held`, until its input ends
 *   load probe HOST PORT FROM     one each second from that address, until its input ends
 *
 * HOST is the first of several addresses, which differ in the last byte: 16 of them, as one has only 28,000 ports.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process may have 20,000 descriptors here and there, so several share what is kept open. */
enum { HOSTS = 16, FLOODERS = 4, EVENTS = 256, SERVERS = 2, MAX_OPEN = 15000, MAX_HELD = 10000 };

static void fail(const char *what) {
  fprintf(stderr, "load: cannot %s: %s\n", what, strerror(errno));
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct sockaddr_in address(const char *host, int offset, int port) {
  struct sockaddr_in it = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, host, &it.sin_addr);
  it.sin_addr.s_addr = htonl(ntohl(it.sin_addr.s_addr) + (uint32_t)offset);
  return it;
}

/* -1 when it is refused. */
static int connect_to(const struct sockaddr_in *to, const char *from) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd == -1) fail("make a socket");
  if (from != NULL) {
    struct sockaddr_in source = address(from, 0, 0);
    if (bind(fd, (struct sockaddr *)&source, sizeof source) == -1) fail("bind");
  }
  if (connect(fd, (const struct sockaddr *)to, sizeof *to) == 0) return fd;
  close(fd);
  return -1;
}

static void serve(int port) {
  int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), epoll, open = 0;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&any, sizeof any) == -1 || listen(listener, 4096) == -1) fail("listen");
  for (int i = 1; i < SERVERS; i++)
    if (fork() == 0) break;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
  puts("ready");
  fflush(stdout);
  for (struct epoll_event events[EVENTS];;) {
    int count = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < count; i++) {
      char byte;
      int fd = events[i].data.fd;
      if (fd != listener) {
        (void)!read(fd, &byte, 1);
        close(fd);
        open--;
        continue;
      }
      while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (read(fd, &byte, 1) == 1) close(fd);
        else if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = fd}) == 0) open++;
        if (open == MAX_OPEN) epoll_ctl(epoll, EPOLL_CTL_DEL, listener, NULL);
        if (open == MAX_OPEN) break;
      }
    }
  }
}

static void flood(const char *host, int port, double length) {
  long *counts = mmap(NULL, sizeof(long) * FLOODERS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), sum = 0;
  if (counts == MAP_FAILED) fail("map memory");
  double end = seconds() + length;
  for (int i = 0; i < FLOODERS; i++) {
    if (fork() != 0) continue;
    while (seconds() < end) {
      struct sockaddr_in to = address(host, (int)(counts[i] % HOSTS), port);
      int fd = connect_to(&to, NULL);
      char byte = 'x';
      if (fd == -1) continue;
      if (write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 0) counts[i]++;
      close(fd);
    }
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
  for (int i = 0; i < FLOODERS; i++) sum += counts[i];
  printf("%ld\n", sum);
}

static void hold(const char *host, int port, int count) {
  char byte;
  int done[2];
  if (pipe(done) == -1) fail("make a pipe");
  for (int first = 0; first < count; first += MAX_HELD) {
    if (fork() == 0) {
      for (int i = first; i < count && i < first + MAX_HELD; i++) {
        struct sockaddr_in to = address(host, i % HOSTS, port);
        if (connect_to(&to, NULL) == -1) fail("connect");
      }
      if (write(done[1], "x", 1) != 1) fail("tell that they are open");
      break;
    }
    if (read(done[0], &byte, 1) != 1) fail("hear that they are open");
    if (first + MAX_HELD >= count) puts("held");
  }
  fflush(stdout);
  /* The children end with the same input. */
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
}

static void probe(const char *host, int port, const char *from) {
  struct sockaddr_in to = address(host, 0, port);
  do close(connect_to(&to, from));
  while (poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, 1000) == 0);
}

int main(int argc, char **argv) {
  struct rlimit most;
  getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
  const char *what = argc > 1 ? argv[1] : "";
  if (argc == 3 && strcmp(what, "serve") == 0) serve(atoi(argv[2]));
  else if (argc == 5 && strcmp(what, "flood") == 0) flood(argv[2], atoi(argv[3]), atof(argv[4]));
  else if (argc == 5 && strcmp(what, "hold") == 0) hold(argv[2], atoi(argv[3]), atoi(argv[4]));
  else if (argc == 5 && strcmp(what, "probe") == 0) probe(argv[2], atoi(argv[3]), argv[4]);
  else return 2;
  return 0;
}
