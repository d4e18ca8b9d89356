/*
 * A second program in the same file, by the name `sexton-sockets PORT...`: tells which established TCP connections of
 * this network namespace on these local ports have received anything lately. The supervisor starts one during a
 * drain, when it wants to know whether requests still come over connections that are kept, which no counter of
 * connections shows. It needs no privilege: sock_diag(7) answers any process.
 *
 * Asked by a line with a number of milliseconds, W, it answers with one line for each connection that received
 * something within the last W: the remote address in hexadecimal (8 digits, or 32), the remote port, the local port,
 * and how many milliseconds ago; at most MAX_ANSWERS. Then comes `. N`, N being all established connections on these
 * ports, or `! E` with an errno. It ends with its input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "diagnostics.h"
#include "informants.h"

enum {
  MAX_ANSWERS = 256,
  MAX_PORTS = 64,
  MAX_LINE_BYTES = 64,
};

struct look {
  uint16_t ports[MAX_PORTS]; /* big-endian */
  size_t port_count;
  uint32_t window_ms;
  uint32_t established, answered;
  size_t used;
  char text[(MAX_ANSWERS + 1) * MAX_LINE_BYTES];
};

static size_t aligned(size_t length) { return (length + 3) & ~(size_t)3; }

static bool is_wanted(const struct look *look, uint16_t port) {
  for (size_t i = 0; i < look->port_count; i++)
    if (look->ports[i] == port) return true;
  return false;
}

static void add_number(struct look *look, uint32_t number, char before) {
  char digits[10];
  size_t count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  look->text[look->used++] = before;
  while (count > 0) look->text[look->used++] = digits[--count];
}

static void tell(struct look *look, const struct answer *answer, uint32_t age_ms) {
  const unsigned char *bytes = (const unsigned char *)answer->id.remote;
  for (int i = 0; i < (answer->family == AF_INET ? 4 : 16); i++) {
    look->text[look->used++] = "0123456789abcdef"[bytes[i] >> 4];
    look->text[look->used++] = "0123456789abcdef"[bytes[i] & 15];
  }
  add_number(look, ntohs(answer->id.remote_port), ' ');
  add_number(look, ntohs(answer->id.local_port), ' ');
  add_number(look, age_ms, ' ');
  look->text[look->used++] = '\n';
}

static bool write_all(const char *text, size_t length) {
  for (ssize_t written; length > 0; text += written, length -= (size_t)written)
    if ((written = write(STDOUT_FILENO, text, length)) == -1) return false;
  return true;
}

/* The decimal number in the next line of the input; -1 at its end. */
static int64_t read_number(void) {
  int64_t number = 0;
  for (char next; read(STDIN_FILENO, &next, 1) == 1;) {
    if (next == '\n') return number;
    if (next >= '0' && next <= '9' && number < UINT32_MAX / 10) number = number * 10 + next - '0';
  }
  return -1;
}

static uint16_t port_in(const char *word) {
  unsigned port = 0;
  for (; *word >= '0' && *word <= '9' && port < 6554; word++) port = port * 10 + (unsigned)(*word - '0');
  return htons((uint16_t)port);
}

static void take(struct look *look, const unsigned char *message, size_t length) {
  struct answer answer;
  if (length < sizeof answer) return;
  memcpy(&answer, message, sizeof answer);
  if (!is_wanted(look, answer.id.local_port)) return;
  look->established++;
  for (size_t at = sizeof answer; at + sizeof(struct attribute) <= length;) {
    struct attribute attribute;
    memcpy(&attribute, message + at, sizeof attribute);
    if (attribute.length < sizeof attribute || attribute.length > length - at) return;
    if (attribute.type == INET_DIAG_INFO_ && attribute.length >= sizeof attribute + LAST_DATA_RECV_OFFSET + 4) {
      uint32_t age_ms;
      memcpy(&age_ms, message + at + sizeof attribute + LAST_DATA_RECV_OFFSET, sizeof age_ms);
      if (age_ms <= look->window_ms && look->answered < MAX_ANSWERS) {
        look->answered++;
        tell(look, &answer, age_ms);
      }
    }
    at += aligned(attribute.length);
  }
}

/* Returns 0 at the end of the dump, -1 when more follows, or an errno. */
static int take_all(struct look *look, const unsigned char *messages, size_t length) {
  for (size_t at = 0; at + sizeof(struct header) <= length;) {
    struct header header;
    memcpy(&header, messages + at, sizeof header);
    if (header.length < sizeof header || header.length > length - at) return EBADMSG;
    const unsigned char *message = messages + at + sizeof header;
    if (header.type == NLMSG_DONE_) return 0;
    if (header.type == NLMSG_ERROR_) {
      int code = 0;
      if (header.length >= sizeof header + sizeof code) memcpy(&code, message, sizeof code);
      return code < 0 ? -code : EPROTO;
    }
    if (header.type == SOCK_DIAG_BY_FAMILY_) take(look, message, header.length - sizeof header);
    at += aligned(header.length);
  }
  return -1;
}

static int look_at(int netlink, struct look *look, uint8_t family) {
  static unsigned char buffer[32768];
  struct question question = {
      .header = {.length = sizeof question, .type = SOCK_DIAG_BY_FAMILY_, .flags = NLM_F_REQUEST_DUMP},
      .family = family,
      .protocol = IPPROTO_TCP,
      .extensions = 1 << (INET_DIAG_INFO_ - 1),
      .states = 1u << TCP_ESTABLISHED_,
  };
  if (send(netlink, &question, sizeof question, 0) == -1) return errno;
  for (;;) {
    ssize_t length = recv(netlink, buffer, sizeof buffer, 0);
    if (length == -1 && errno == EINTR) continue;
    if (length <= 0) return length == 0 ? EPROTO : errno;
    int end = take_all(look, buffer, (size_t)length);
    if (end != -1) return end;
  }
}

_Noreturn void tell_sockets(int argc, char *const argv[]) {
  static struct look look;
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG_);
  int code = netlink == -1 ? errno : 0;
  for (int i = 1; i < argc && look.port_count < MAX_PORTS; i++) look.ports[look.port_count++] = port_in(argv[i]);
  for (int64_t window; (window = read_number()) >= 0;) {
    look.window_ms = (uint32_t)window;
    look.established = look.answered = 0;
    look.used = 0;
    if (netlink != -1) code = look_at(netlink, &look, AF_INET);
    if (code == 0) code = look_at(netlink, &look, AF_INET6);
    if (code == ENOENT) code = 0; /* a kernel without IPv6 */
    look.text[look.used++] = code == 0 ? '.' : '!';
    add_number(&look, code == 0 ? look.established : (uint32_t)code, ' ');
    look.text[look.used++] = '\n';
    if (!write_all(look.text, look.used)) break;
  }
  _exit(0);
}
