/*
 * Fuzz target of what the kernel answers about sockets: `sexton-sockets` reads it from a pair of sockets. The first two
 * bytes of the input are the length of the answer to the question for open connections; reports of closed ones follow.
 */
#include "../../../src/informants/sockets.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  uint16_t length;
  if (size < sizeof length) return 0;
  memcpy(&length, data, sizeof length);
  data += sizeof length;
  size -= sizeof length;
  size_t open = length < size ? length : size;
  memset(listened, 0, sizeof listened);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1) return 0;
  if (open > 0 && send(ends[1], data, open, 0) == -1) abort();
  if (open < size && open > 0 && send(ends[1], data + open, size - open, 0) == -1) abort();
  shutdown(ends[1], SHUT_WR);
  (void)list_open(ends[0], AF_INET, UINT32_MAX);
  (void)list_closed(ends[0]);
  if (text.used > sizeof text.bytes) abort();
  flush();
  close(ends[0]);
  close(ends[1]);
  return 0;
}
