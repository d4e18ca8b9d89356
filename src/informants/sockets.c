/*
 * The program `sexton-sockets`: lists the TCP connections that this network namespace has accepted. It needs no
 * privilege, as sock_diag(7) answers any process.
 *
 * A question is a line with a number of milliseconds, W. The answer is one line for each connection:
 *
 *   +COOKIE REMOTE-ADDRESS PORT REMOTE-PORT STATE AGE  an open one that began or received data within the last W; AGE
 *                                                      is the time since, in milliseconds; W 0 asks for none
 *   -COOKIE REMOTE-ADDRESS PORT REMOTE-PORT            one that has closed since the question before
 *
 * COOKIE is the kernel's hexadecimal number of the socket, STATE the one of include/net/tcp_states.h. The last line is
 * `.`, or `!` when the kernel has dropped reports of closed connections. `! ERRNO` means that the kernel refuses to
 * answer; the program then ends, as it does with its input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "informants.h"

/* From <linux/netlink.h>, <linux/inet_diag.h> and <linux/tcp.h>, which not every C library comes with. */
enum {
  NETLINK_SOCK_DIAG_ = 4,
  SOCK_DIAG_BY_FAMILY_ = 20,
  NLM_F_REQUEST_DUMP = 0x301,
  NLMSG_ERROR_ = 2,
  NLMSG_DONE_ = 3,
  /* The largest errno of the kernel. */
  MAX_ERRNO = 4095,
  INET_DIAG_INFO_ = 2,
  /* tcpi_last_data_recv: milliseconds since the connection began or received data. */
  LAST_DATA_RECV_OFFSET = 52,
  /* SKNLGRP_INET_TCP_DESTROY and SKNLGRP_INET6_TCP_DESTROY, since Linux 4.4; group N is bit N - 1. */
  TCP_DESTROY_GROUPS = 1 << 0 | 1 << 2,
  TCP_LISTEN_ = 10,
  /* ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, LISTEN and CLOSING. */
  STATES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << TCP_LISTEN_ | 1 << 11,
};

struct address {
  uint16_t family, padding;
  uint32_t port, groups;
};

struct header {
  uint32_t length;
  uint16_t type, flags;
  uint32_t sequence, sender;
};

struct socket_id {
  uint16_t local_port, remote_port; /* big-endian, as are the addresses */
  uint32_t local[4], remote[4];
  uint32_t interface, cookie[2];
};

struct question {
  struct header header;
  uint8_t family, protocol, extensions, padding;
  uint32_t states;
  struct socket_id id;
};

struct answer {
  uint8_t family, state, timer, retransmits;
  struct socket_id id;
  uint32_t expires, receive_queue, send_queue, uid, inode;
};

struct attribute {
  uint16_t length, type;
};

_Static_assert(sizeof(struct question) == 72 && sizeof(struct answer) == 72, "as the kernel has them");

/* MAX_CLOSED are listed in one answer: a flood would never end it. */
enum { MAX_LINE_BYTES = 128, MAX_CLOSED = 1024 };

static struct {
  size_t used;
  char bytes[16384];
} text;

static void flush(void) {
  const char *at = text.bytes;
  for (ssize_t written; text.used > 0; at += written, text.used -= (size_t)written)
    if ((written = write(STDOUT_FILENO, at, text.used)) == -1) _exit(0);
}

static void add(char byte) { text.bytes[text.used++] = byte; }

static void add_number(char before, uint64_t number, unsigned base) {
  char digits[20];
  size_t count = 0;
  add(before);
  do digits[count++] = "0123456789abcdef"[number % base];
  while ((number /= base) > 0);
  while (count > 0) add(digits[--count]);
}

/* An IPv4 address that is mapped into IPv6 is written as IPv4. */
static void add_address(const struct answer *answer) {
  static const unsigned char mapped[12] = {[10] = 0xff, 0xff};
  const unsigned char *bytes = (const unsigned char *)answer->id.remote;
  bool is_mapped = answer->family == AF_INET6 && memcmp(bytes, mapped, sizeof mapped) == 0;
  bool is_v4 = answer->family == AF_INET || is_mapped;
  if (is_mapped) bytes += sizeof mapped;
  for (int i = 0; i < 4 && is_v4; i++) add_number(i == 0 ? ' ' : '.', bytes[i], 10);
  for (int i = 0; i < 16 && !is_v4; i += 2) add_number(i == 0 ? ' ' : ':', (unsigned)bytes[i] << 8 | bytes[i + 1], 16);
}

static void add_connection(char sign, const struct answer *answer) {
  if (sizeof text.bytes - text.used < MAX_LINE_BYTES) flush();
  add_number(sign, (uint64_t)answer->id.cookie[1] << 32 | answer->id.cookie[0], 16);
  add_address(answer);
  add_number(' ', ntohs(answer->id.local_port), 10);
  add_number(' ', ntohs(answer->id.remote_port), 10);
}

/* The ports that were listened on at any time: an accepted connection has one of them on this side. */
static bool listened[UINT16_MAX + 1];

static bool was_accepted(const struct answer *answer) {
  return answer->id.remote_port != 0 && listened[ntohs(answer->id.local_port)];
}

/* Finds the age among the attributes. TIME_WAIT, which the kernel also lists as FIN_WAIT2, has none. */
static bool find_age(const unsigned char *attributes, size_t length, uint32_t *age_ms) {
  struct attribute attribute;
  for (size_t at = 0; at + sizeof attribute <= length; at += (attribute.length + 3u) & ~3u) {
    memcpy(&attribute, attributes + at, sizeof attribute);
    if (attribute.length < sizeof attribute || attribute.length > length - at) return false;
    if (attribute.type != INET_DIAG_INFO_) continue;
    if (attribute.length < sizeof attribute + LAST_DATA_RECV_OFFSET + sizeof *age_ms) return false;
    memcpy(age_ms, attributes + at + sizeof attribute + LAST_DATA_RECV_OFFSET, sizeof *age_ms);
    return true;
  }
  return false;
}

static void take_open(const unsigned char *message, size_t length, uint32_t window_ms) {
  struct answer answer;
  uint32_t age_ms;
  if (length < sizeof answer) return;
  memcpy(&answer, message, sizeof answer);
  if (answer.state == TCP_LISTEN_) listened[ntohs(answer.id.local_port)] = true;
  bool has_age = find_age(message + sizeof answer, length - sizeof answer, &age_ms);
  if (!has_age || age_ms > window_ms || !was_accepted(&answer)) return;
  add_connection('+', &answer);
  add_number(' ', answer.state, 10);
  add_number(' ', age_ms, 10);
  add('\n');
}

/* Returns 0 at the end of the dump, -1 when more follows, or an errno. */
static int take_messages(const unsigned char *messages, size_t length, uint32_t window_ms) {
  struct header header;
  for (size_t at = 0; at + sizeof header <= length; at += (header.length + 3u) & ~3u) {
    memcpy(&header, messages + at, sizeof header);
    if (header.length < sizeof header || header.length > length - at) return EBADMSG;
    const unsigned char *message = messages + at + sizeof header;
    int code = 0;
    if (header.length >= sizeof header + sizeof code) memcpy(&code, message, sizeof code);
    /* A dump that fails on its way ends with its errno: netlink(7), and netlink_dump_done in the kernel. */
    bool has_failed = code < 0 && code >= -MAX_ERRNO;
    if (header.type == NLMSG_DONE_) return has_failed ? -code : 0;
    if (header.type == NLMSG_ERROR_) return has_failed ? -code : EPROTO;
    if (header.type == SOCK_DIAG_BY_FAMILY_) take_open(message, header.length - sizeof header, window_ms);
  }
  return -1;
}

/* Returns 0 or an errno. The kernel lists listening sockets first. */
static int list_open(int netlink, uint8_t family, uint32_t window_ms) {
  static unsigned char buffer[32768];
  struct question question = {
      .header = {.length = sizeof question, .type = SOCK_DIAG_BY_FAMILY_, .flags = NLM_F_REQUEST_DUMP},
      .family = family,
      .protocol = IPPROTO_TCP,
      .extensions = 1 << (INET_DIAG_INFO_ - 1),
      .states = STATES,
  };
  if (send(netlink, &question, sizeof question, 0) == -1) return errno;
  for (;;) {
    ssize_t length = recv(netlink, buffer, sizeof buffer, 0);
    if (length == -1 && errno == EINTR) continue;
    if (length <= 0) return length == 0 ? EPROTO : errno;
    int end = take_messages(buffer, (size_t)length, window_ms);
    if (end != -1) return end;
  }
}

/* Each report is a message of its own. Returns false when the kernel has dropped some, or more are there. */
static bool list_closed(int netlink) {
  static unsigned char buffer[8192];
  struct header header;
  struct answer closed;
  bool is_whole = true;
  for (int count = 0; count < MAX_CLOSED; count++) {
    ssize_t length = recv(netlink, buffer, sizeof buffer, MSG_DONTWAIT);
    if (length == -1 && errno == ENOBUFS) is_whole = false;
    else if (length == 0 || (length == -1 && errno != EINTR)) return is_whole;
    if (length < (ssize_t)(sizeof header + sizeof closed)) continue;
    memcpy(&header, buffer, sizeof header);
    memcpy(&closed, buffer + sizeof header, sizeof closed);
    if (header.type != SOCK_DIAG_BY_FAMILY_ || !was_accepted(&closed)) continue;
    add_connection('-', &closed);
    add('\n');
  }
  return false;
}

/* Returns the descriptor, or a negated errno. */
static int open_netlink(uint32_t groups) {
  struct address address = {.family = AF_NETLINK, .groups = groups};
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG_);
  if (netlink == -1) return -errno;
  return bind(netlink, (struct sockaddr *)&address, sizeof address) == 0 ? netlink : -errno;
}

/* Returns the decimal number in the next line of the input, at most UINT32_MAX, or -1 at the end of the input. */
static int64_t read_number(void) {
  int64_t number = 0;
  for (char next; read(STDIN_FILENO, &next, 1) == 1;) {
    if (next == '\n') return number;
    if (next >= '0' && next <= '9') number = number * 10 + next - '0';
    if (number > UINT32_MAX) number = UINT32_MAX;
  }
  return -1;
}

_Noreturn void tell_sockets(void) {
  int dump = open_netlink(0), group = open_netlink(TCP_DESTROY_GROUPS);
  int code = dump < 0 ? -dump : group < 0 ? -group : 0;
  for (int64_t window; code == 0 && (window = read_number()) >= 0;) {
    if (window > 0) code = list_open(dump, AF_INET, (uint32_t)window);
    int code_v6 = window > 0 && code == 0 ? list_open(dump, AF_INET6, (uint32_t)window) : code;
    if (code_v6 != ENOENT) code = code_v6; /* a kernel without IPv6 answers so */
    if (code == 0) add(list_closed(group) ? '.' : '!'), add('\n'), flush();
  }
  if (code != 0) add('!'), add_number(' ', (uint64_t)code, 10), add('\n'), flush();
  _exit(0);
}
