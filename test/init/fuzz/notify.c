/*
 * Fuzz target of the messages of sd_notify(3): init reads the input from a socket. What it passes on is as long as the
 * message and has no NUL, which ends a field.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "init.h"

static struct init init;
static int sender = -1;

static void require(bool holds) {
  if (!holds) abort();
}

static void open_pair(void) {
  int ends[2], yes = 1;
  require(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
  require(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0);
  sender = ends[1];
  init.notifications.fd = ends[0];
  init.notifications.text = init.storage.notification;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct notifications *notifications = &init.notifications;
  if (sender == -1) open_pair();
  if (send(sender, data, size, 0) == -1) return 0;
  notifications->all = true;
  init.queue = (struct queue){.events = init.storage.events};
  set_watchdog(&notifications->watchdog, 1, size % 2 ? 1000 : NEVER);
  read_notification(&init);
  require(!notifications->waits || (notifications->used == size && size <= MAX_OUTPUT_BYTES));
  require(!notifications->waits || !memchr(notifications->text, 0, size));
  require(init.queue.count == notifications->waits);
  notifications->waits = false;
  return 0;
}
