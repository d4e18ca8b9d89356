/*
 * Connections to the liveness sockets of peers: one to each, for the supervisor, for its sleep and for the end with the
 * mains. Init holds them, so they outlive the supervisor. It reads the first bytes only: a talker fills its own buffer.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "init.h"

/* Returns the descriptor, or -1. It follows no link, as connect(2) would. */
static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat st;
  strcpy(address.sun_path, path);
  if (lstat(path, &st) == -1) return -1;
  int fd = move_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  bool connects = S_ISSOCK(st.st_mode) && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
  if (fd == -1 || connects) return fd;
  int error = S_ISSOCK(st.st_mode) ? errno : ENOENT;
  close(fd);
  errno = error;
  return -1;
}

static void lose(struct contact *contact) {
  let_go(contact->fd);
  contact->fd = -1;
  /* EPIPE is the end of what the supervisor was told to be held. */
  contact->error = contact->is_news ? ECONNRESET : EPIPE;
  contact->is_news = contact->is_listed;
  contact->is_left = false;
}

void drop_contacts(struct contacts *contacts) {
  for (size_t i = contacts->count; i-- > 0;) {
    struct contact *contact = &contacts->places[i];
    if (contact->is_listed || contact->is_left || contact->is_main) continue;
    let_go(contact->fd);
    *contact = contacts->places[--contacts->count];
  }
}

void forget_left_contacts(struct contacts *contacts) {
  for (size_t i = 0; i < contacts->count; i++) contacts->places[i].is_left = false;
  drop_contacts(contacts);
}

static void add(struct contacts *contacts, const char *path) {
  if (contacts->count == MAX_CONTACTS) forget_left_contacts(contacts);
  struct contact *contact = &contacts->places[contacts->count++];
  *contact = (struct contact){.is_listed = true, .is_news = true};
  strcpy(contact->path, path);
  contact->fd = connect_to(path);
  if (contact->fd == -1) contact->error = errno;
}

struct contact *find_contact(struct contacts *contacts, const char *path) {
  for (size_t i = 0; i < contacts->count; i++)
    if (strcmp(contacts->places[i].path, path) == 0) return &contacts->places[i];
  return NULL;
}

static bool is_named(const struct operation *op, const char *path) {
  const char *named = op->text;
  for (uint32_t i = 0; i < op->count; i++, named += strlen(named) + 1)
    if (strcmp(named, path) == 0) return true;
  return false;
}

void set_contacts(struct contacts *contacts, const struct operation *op) {
  for (size_t i = 0; i < contacts->count; i++) {
    struct contact *contact = &contacts->places[i];
    bool was_listed = contact->is_listed;
    contact->is_listed = (was_listed || contact->fd != -1) && is_named(op, contact->path);
    if (contact->is_listed) contact->is_left = false;
    if (contact->is_listed != was_listed) contact->is_news = contact->is_listed;
  }
  drop_contacts(contacts);
  const char *path = op->text;
  for (uint32_t i = 0; i < op->count; i++, path += strlen(path) + 1) {
    const struct contact *contact = find_contact(contacts, path);
    if (!contact || !contact->is_listed) add(contacts, path);
  }
}

void leave_contacts(struct contacts *contacts) {
  for (size_t i = 0; i < contacts->count; i++) {
    struct contact *contact = &contacts->places[i];
    /* Where there is no connection, the next supervisor tries again. */
    contact->is_left = (contact->is_left || contact->is_listed) && contact->fd != -1;
    contact->is_listed = contact->is_news = false;
  }
  drop_contacts(contacts);
}

void renew_contact(struct contact *contact) {
  if (!contact->has_spoken || contact->fd == -1) return;
  let_go(contact->fd);
  contact->has_spoken = false;
  contact->fd = connect_to(contact->path);
  if (contact->fd == -1) lose(contact);
}

/* Behind the first bytes only the end matters. */
static struct pollfd polled_contact(const struct contact *contact) {
  return (struct pollfd){.fd = contact->fd, .events = contact->has_spoken ? POLLRDHUP : POLLIN};
}

size_t poll_contacts(const struct contacts *contacts, struct pollfd *polled, size_t at) {
  for (size_t i = 0; i < contacts->count; i++) polled[at++] = polled_contact(&contacts->places[i]);
  return at;
}

static bool take(struct contact *contact, short revents) {
  if (revents == 0) return false;
  if (!contact->has_spoken) {
    memset(contact->notice, 0, NOTICE_BYTES);
    ssize_t length = read_safely(contact->fd, contact->notice, NOTICE_BYTES);
    if (length < 0 && errno == EAGAIN) return false;
    contact->has_spoken = length > 0;
    if (contact->has_spoken) return true;
  }
  lose(contact);
  return true;
}

bool take_polled_contacts(struct contacts *contacts, const struct pollfd *polled) {
  bool has_changed = false;
  for (size_t i = 0; i < contacts->count; i++)
    if (take(&contacts->places[i], polled[i].revents)) has_changed = true;
  return has_changed;
}

bool are_contacts_calm(struct contacts *contacts) {
  for (size_t i = 0; i < contacts->count; i++) {
    struct contact *contact = &contacts->places[i];
    struct pollfd polled = polled_contact(contact);
    if (contact->is_listed && contact->fd == -1) return false;
    if (poll(&polled, 1, 0) == 1 && take(contact, polled.revents)) return false;
  }
  return true;
}

size_t encode_contact(struct contacts *contacts, char *out) {
  for (size_t i = 0; i < contacts->count; i++) {
    struct contact *contact = &contacts->places[i];
    if (!contact->is_news) continue;
    contact->is_news = false;
    return encode_answer(out, "contact", contact->path, contact->error);
  }
  return 0;
}
