/*
 * Notifications: what the command writes to $NOTIFY_SOCKET, as sd_notify(3) does. One message at a time is in the
 * queue. The next is read when the supervisor has acknowledged it, so a sender waits as it would with systemd.
 *
 * A message with a descriptor is left to the closer. For BARRIER=1 that is when all before it was acknowledged.
 *
 * Init keeps the time of the watchdog, so that no WATCHDOG=1 wakes a supervisor. Silence does.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "init.h"

/* The variables of the command, in place of inherited ones. */
static const char variables[][16] = {"NOTIFY_SOCKET=", "WATCHDOG_USEC=", "WATCHDOG_PID="};
enum { VARIABLES = sizeof variables / sizeof *variables };

enum {
  MAX_UNASKED = 100, /* in such a time */
  COUNTED_MS = 100,
  LATE_MS = 1000,    /* more than any load explains: init stood still, and the command most likely, too */
};

/* The inherited environment with the entries at its end; NULL when there is no memory for it. */
static char **make_environment(char *const *inherited, char entries[][64]) {
  size_t count = 0, kept = 0;
  while (inherited[count]) count++;
  size_t size = (count + VARIABLES + 1) * sizeof(char *);
  char **env = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (env == MAP_FAILED) return NULL;
  for (size_t i = 0; i < count; i++) {
    bool is_ours = false;
    for (size_t j = 0; j < VARIABLES; j++) is_ours = is_ours || starts_with(inherited[i], variables[j]);
    if (!is_ours) env[kept++] = inherited[i];
  }
  for (size_t j = 0; j < VARIABLES && entries[j][0]; j++) env[kept++] = entries[j];
  return env;
}

void open_notifications(struct init *init, bool all, int64_t watchdog_ms) {
  struct notifications *notifications = &init->notifications;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char *name = strcpy(address.sun_path + 1, "sexton/"), *end = make_random_id(name + strlen(name));
  int yes = 1;
  notifications->all = all;
  if (notifications->fd != -1) return; /* a supervisor before this one has ordered it */
  int fd = move_high(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  socklen_t size = (socklen_t)(end - (char *)&address);
  char(*entries)[64] = notifications->entries;
  strcpy(stpcpy(stpcpy(entries[0], variables[0]), "@"), name);
  if (watchdog_ms != NEVER) {
    put_digits(stpcpy(entries[1], variables[1]), (uint64_t)watchdog_ms * 1000, 1);
    notifications->pid_text = stpcpy(entries[2], variables[2]);
  }
  /* Before bind(2): a message without credentials has no known sender. */
  if (fd != -1 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
      bind(fd, (const struct sockaddr *)&address, size) == 0)
    notifications->env = make_environment(init->in.env, entries);
  notifications->fd = fd;
  if (!notifications->env) say("sexton: cannot open the socket of --notify: the command is started without it\n", "", "");
}

/* The pid of a sender in another PID namespace is 0: pid_namespaces(7). */
static pid_t sender_of(struct msghdr *message) {
  const struct cmsghdr *header = CMSG_FIRSTHDR(message);
  struct ucred sender = {.pid = 0};
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS)
    memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}

static void drop_notification(struct notifications *notifications, pid_t sender) {
  char digits[12];
  put_digits(digits, (uint64_t)sender, 1);
  if (notifications->dropped < INT32_MAX) notifications->dropped++;
  if (notifications->dropped > 1 || notifications->waits) return;
  say("sexton: dropped a message to NOTIFY_SOCKET from pid ", digits,
      notifications->all ? ": it is too long, or from another container\n"
                         : ": it is too long, or not from the command; --notify all accepts it from any process here\n");
}

/* Beyond this rate nothing is read until the time is over: all senders wait, and a flood costs no CPU. */
static void count_unasked(struct notifications *notifications) {
  int64_t now = now_ms();
  if (now >= notifications->count_ends_at) {
    notifications->count_ends_at = now + COUNTED_MS;
    notifications->unasked = 0;
  }
  if (++notifications->unasked >= MAX_UNASKED) notifications->rests_until = notifications->count_ends_at;
}

static bool is_line(const char *line, size_t length, const char *text) {
  return length == strlen(text) && memcmp(line, text, length) == 0;
}

/* Takes the signs of life in a message, and returns whether it says more: else it need not wake a supervisor. */
static bool take_signs(struct watchdog *watchdog, const char *text, size_t length) {
  bool says_more = false;
  for (const char *end = text + length, *line = text; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    size_t size = (size_t)((next ? next : end) - line);
    if (!is_line(line, size, "WATCHDOG=1")) says_more = says_more || (size > 0 && !is_line(line, size, "BARRIER=1"));
    else if (watchdog->ms != NEVER) watchdog->due = now_ms() + watchdog->ms;
    line += size + 1;
  }
  return says_more;
}

int polled_notifications(const struct init *init) {
  const struct notifications *notifications = &init->notifications;
  bool may_read = (!notifications->waits || init->alone) && closer == 0 && notifications->rests_until <= now_ms();
  return may_read ? notifications->fd : -1;
}

static void push_notification(struct init *init, size_t length) {
  struct notifications *notifications = &init->notifications;
  notifications->used = length;
  notifications->waits = true;
  push(&init->queue, (struct event){.kind = EV_NOTIFIED, .id = init->children.last_id, .value = notifications->dropped});
}

void read_notification(struct init *init) {
  struct notifications *notifications = &init->notifications;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
  } control;
  /* While no supervisor can be started no sender may wait, or the command would hang. */
  struct iovec part = {.iov_base = notifications->text, .iov_len = notifications->waits ? 0 : MAX_OUTPUT_BYTES};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t length = recvmsg(notifications->fd, &message, MSG_DONTWAIT | MSG_PEEK);
  if (length < 0) return;
  /* A descriptor finds no room: unix(7), MSG_CTRUNC. */
  if (!(message.msg_flags & MSG_CTRUNC)) {
    recv(notifications->fd, NULL, 0, MSG_DONTWAIT);
  } else if (!take_message(notifications->fd)) {
    notifications->rests_until = now_ms() + COUNTED_MS;
    return;
  }
  pid_t sender = sender_of(&message);
  bool is_foreign = sender <= 0 || (!notifications->all && !is_commands(init, sender));
  bool is_dropped = is_foreign || message.msg_flags & MSG_TRUNC;
  notifications->lost = notifications->lost || (notifications->waits && !is_foreign);
  for (ssize_t i = 0; i < length && !is_dropped; i++)
    if (notifications->text[i] == 0) notifications->text[i] = '?'; /* NUL ends a field */
  if (is_dropped) drop_notification(notifications, sender);
  else if (take_signs(&notifications->watchdog, notifications->text, (size_t)length))
    return push_notification(init, (size_t)length);
  count_unasked(notifications);
}

void release_notification(struct init *init) {
  struct notifications *notifications = &init->notifications;
  notifications->waits = false;
  if (!notifications->lost) return;
  /* The lost message may have said X_SEXTON_IDLE=0 or WATCHDOG=1: assume both. */
  notifications->lost = false;
  set_watchdog(&notifications->watchdog, notifications->watchdog.child, notifications->watchdog.ms);
  push_notification(init, strlen(strcpy(notifications->text, "X_SEXTON_IDLE=0")));
}

void set_watchdog(struct watchdog *watchdog, uint64_t child, int64_t ms) {
  *watchdog = (struct watchdog){.child = child, .ms = ms, .due = ms == NEVER ? NEVER : now_ms() + ms};
}

int64_t next_notification(const struct init *init) {
  const struct notifications *notifications = &init->notifications;
  if (notifications->rests_until > now_ms()) return notifications->rests_until;
  return notifications->waits || closer > 0 ? NEVER : notifications->watchdog.due;
}

void notice_silence(struct init *init) {
  struct watchdog *watchdog = &init->notifications.watchdog;
  if (next_notification(init) > now_ms()) return;
  if (now_ms() - watchdog->due > LATE_MS) return set_watchdog(watchdog, watchdog->child, watchdog->ms);
  /* What is there to be read may be a sign of life. */
  if (poll(&(struct pollfd){.fd = init->notifications.fd, .events = POLLIN}, 1, 0) != 0) return;
  const struct child *child = find_child(&init->children, watchdog->child);
  if (child && !child->exited) push(&init->queue, (struct event){.kind = EV_SILENT, .id = child->id});
  set_watchdog(watchdog, 0, NEVER);
}
