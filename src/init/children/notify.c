/*
 * Notifications: what the command writes to $NOTIFY_SOCKET, as sd_notify(3) does. One message at a time is in the
 * queue. The next is read when the supervisor has acknowledged it, so a sender waits as it would with systemd.
 *
 * A descriptor that comes with a message finds no room, so the kernel closes it: unix(7), MSG_CTRUNC. For BARRIER=1
 * that is when all before it was acknowledged.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "init.h"

static const char variable[] = "NOTIFY_SOCKET=";

/* The inherited environment with the variable at its end; NULL when there is no memory for it. */
static char **make_environment(char *const *inherited, char *entry) {
  size_t count = 0, kept = 0;
  while (inherited[count]) count++;
  size_t size = (count + 2) * sizeof(char *);
  char **env = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (env == MAP_FAILED) return NULL;
  for (size_t i = 0; i < count; i++)
    if (!starts_with(inherited[i], variable)) env[kept++] = inherited[i];
  env[kept] = entry;
  return env;
}

void open_notifications(struct init *init, bool all) {
  struct notifications *notifications = &init->notifications;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char *name = strcpy(address.sun_path + 1, "sexton/"), *end = make_random_id(name + strlen(name));
  int yes = 1;
  notifications->all = all;
  if (notifications->fd != -1) return; /* a supervisor before this one has ordered it */
  int fd = move_high(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  socklen_t size = (socklen_t)(end - (char *)&address);
  strcpy(stpcpy(stpcpy(notifications->entry, variable), "@"), name);
  /* Before bind(2): a message without credentials has no known sender. */
  if (fd != -1 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
      bind(fd, (const struct sockaddr *)&address, size) == 0)
    notifications->env = make_environment(init->in.env, notifications->entry);
  notifications->fd = fd;
  if (!notifications->env) say("sexton: cannot open the socket of --notify: the command is started without it\n", "", "");
}

/*
 * Whether this process descends from the command. Nothing shows that of one that has ended. As PID 1 init takes it,
 * since a process of the container has the variable from the command.
 */
static bool is_commands(const struct init *init, pid_t pid) {
  enum { MAX_DEPTH = 256 };
  for (int depth = 0; depth < MAX_DEPTH && pid > 0; depth++) {
    pid_t parent = parent_of(pid);
    if (parent == -1) return init->self.is_pid1;
    if (parent == init->self.pid) return !is_own(init, pid, getpgid(pid));
    pid = parent;
  }
  return false;
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
      notifications->all ? ", as too long, or of another container\n"
                         : ", as too long, or not of the command; --notify all takes it of all of this container\n");
}

/* Messages that wake no supervisor: a barrier is over when it was read, and there is no watchdog. */
static bool asks_nothing(const char *text, size_t length) {
  static const char *const silent[] = {"", "BARRIER=1", "WATCHDOG=1"};
  for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
    if (length == strlen(silent[i]) && memcmp(text, silent[i], length) == 0) return true;
  return false;
}

int polled_notifications(const struct init *init) {
  return init->notifications.waits && !init->alone ? -1 : init->notifications.fd;
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
  ssize_t length = recvmsg(notifications->fd, &message, MSG_DONTWAIT);
  if (length < 0) return;
  pid_t sender = sender_of(&message);
  bool is_ours = sender > 0 && !(message.msg_flags & MSG_TRUNC) && (notifications->all || is_commands(init, sender));
  if (!is_ours) return drop_notification(notifications, sender);
  for (ssize_t i = 0; i < length; i++)
    if (notifications->text[i] == 0) notifications->text[i] = '?'; /* NUL ends a field */
  if (asks_nothing(notifications->text, (size_t)length)) return;
  notifications->used = (size_t)length;
  notifications->waits = true;
  push(&init->queue, (struct event){.kind = EV_NOTIFIED, .id = init->children.last_id, .value = notifications->dropped});
}
