/*
 * A program in the same file, by the name `sexton-departures`: tells which TCP connections of this network namespace
 * have gone. The supervisor starts one with an adaptive drain, because most connections are too short to be seen in
 * /proc/net/tcp. It needs no privilege: any process may listen to what sock_diag(7) tells of sockets that are destroyed
 * (SKNLGRP_INET_TCP_DESTROY, since Linux 4.4).
 *
 * Asked by a line, it answers with one line for each that has gone since the line before, written as in
 * /proc/net/tcp: `: LOCAL:PORT REMOTE:PORT 07`. Then comes `.`, or `!` when these are not all. The line `-` lets go
 * of it: what goes from then on is not told, and the next answer is `!`. Where the kernel does not tell, `! ERRNO` is
 * its last word. It ends with its input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "diagnostics.h"
#include "informants.h"

enum {
  /* Of IPv4 and of IPv6; group N is bit N - 1. */
  TCP_DESTROY_GROUPS = 1 << 0 | 1 << 2,
  MAX_LINE_BYTES = 96,
  /* In one answer: in a flood there would be no end of them. */
  MAX_GONE = 1024,
};

struct address {
  uint16_t family, padding;
  uint32_t port, groups;
};

struct text {
  size_t used;
  char bytes[16384];
};

static void flush(struct text *text) {
  const char *at = text->bytes;
  for (ssize_t written; text->used > 0; at += written, text->used -= (size_t)written)
    if ((written = write(STDOUT_FILENO, at, text->used)) == -1) _exit(0);
}

static void add(struct text *text, char byte) { text->bytes[text->used++] = byte; }

static void add_hex(struct text *text, uint32_t word, int digits) {
  while (digits-- > 0) add(text, "0123456789ABCDEF"[word >> 4 * digits & 15]);
}

static void add_end(struct text *text, const uint32_t address[4], int words, uint16_t port) {
  for (int i = 0; i < words; i++) add_hex(text, address[i], 8);
  add(text, ':');
  add_hex(text, ntohs(port), 4);
}

static void add_gone(struct text *text, const unsigned char *message, size_t length) {
  struct header header;
  struct answer gone;
  if (length < sizeof header + sizeof gone) return;
  memcpy(&header, message, sizeof header);
  memcpy(&gone, message + sizeof header, sizeof gone);
  if (header.type != SOCK_DIAG_BY_FAMILY_) return;
  if (sizeof text->bytes - text->used < MAX_LINE_BYTES) flush(text);
  int words = gone.family == AF_INET ? 1 : 4;
  add(text, ':');
  add(text, ' ');
  add_end(text, gone.id.local, words, gone.id.local_port);
  add(text, ' ');
  add_end(text, gone.id.remote, words, gone.id.remote_port);
  for (const char *rest = " 07\n"; *rest != '\0'; rest++) add(text, *rest);
}

/* Each comes as a message of its own. Returns whether these are all. */
static bool tell_gone(int netlink, struct text *text) {
  static unsigned char buffer[8192];
  bool is_whole = true;
  for (int count = 0; count < MAX_GONE; count++) {
    ssize_t length = recv(netlink, buffer, sizeof buffer, MSG_DONTWAIT);
    if (length > 0) add_gone(text, buffer, (size_t)length);
    else if (length == -1 && errno == ENOBUFS) is_whole = false;
    else if (length == 0 || errno != EINTR) return is_whole;
  }
  return false;
}

/* The descriptor, or a negated errno. */
static int listen_to_kernel(void) {
  struct address address = {.family = AF_NETLINK, .groups = TCP_DESTROY_GROUPS};
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG_);
  if (netlink == -1) return -errno;
  return bind(netlink, (struct sockaddr *)&address, sizeof address) == 0 ? netlink : -errno;
}

/* The first byte of the next line; 0 at the end of the input. */
static char read_line(void) {
  char first = 0;
  for (char next; read(STDIN_FILENO, &next, 1) == 1;) {
    if (first == 0) first = next;
    if (next == '\n') return first;
  }
  return 0;
}

_Noreturn void tell_departures(void) {
  static struct text text;
  int netlink = -1;
  for (char line; (line = read_line()) != 0;) {
    bool is_whole = false;
    if (line == '-') {
      if (netlink >= 0) close(netlink);
      netlink = -1;
      continue;
    }
    if (netlink >= 0) is_whole = tell_gone(netlink, &text);
    else netlink = listen_to_kernel();
    add(&text, is_whole ? '.' : '!');
    if (netlink < 0) {
      add(&text, ' ');
      add_hex(&text, (uint32_t)-netlink, 2);
    }
    add(&text, '\n');
    flush(&text);
    if (netlink < 0) break;
  }
  _exit(0);
}
