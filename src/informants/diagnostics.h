/*
 * What the kernel's socket diagnostics are asked by and answer with, sock_diag(7): as in <linux/netlink.h>,
 * <linux/inet_diag.h> and <linux/tcp.h>, written down here because not every C library comes with those headers. They
 * never change.
 */
#ifndef SEXTON_DIAGNOSTICS_H
#define SEXTON_DIAGNOSTICS_H

#include <stdint.h>

enum {
  NETLINK_SOCK_DIAG_ = 4,
  SOCK_DIAG_BY_FAMILY_ = 20,
  NLM_F_REQUEST_DUMP = 0x301,
  NLMSG_ERROR_ = 2,
  NLMSG_DONE_ = 3,
  INET_DIAG_INFO_ = 2,
  TCP_ESTABLISHED_ = 1,
  /* In struct tcp_info: milliseconds since data was received. */
  LAST_DATA_RECV_OFFSET = 52,
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

/* Follows a header, as do attributes behind it. */
struct answer {
  uint8_t family, state, timer, retransmits;
  struct socket_id id;
  uint32_t expires, receive_queue, send_queue, uid, inode;
};

struct attribute {
  uint16_t length, type;
};

_Static_assert(sizeof(struct question) == 72 && sizeof(struct answer) == 72, "as the kernel has them");

#endif
