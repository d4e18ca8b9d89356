/*
 * Connections to peers that init holds for its supervisor. The supervisor cannot hold them: Node reads what comes, and
 * would sleep at the close of a descriptor that lingers (closer.c). Init reads nothing, so a talker fills its own buffer.
 */
#include "init.h"

void connect_contact(struct contacts *contacts, uint64_t number, const char *path) {
  struct contact *contact = find_contact(contacts, 0);
  if (!contact) return; /* the supervisor counts its own */
  int fd = connect_to(path);
  *contact = (struct contact){.number = number, .fd = fd, .error = fd == -1 ? errno : 0, .is_news = true};
}

struct contact *find_contact(struct contacts *contacts, uint64_t number) {
  for (size_t i = 0; i < MAX_CONTACTS; i++)
    if (contacts->places[i].number == number) return &contacts->places[i];
  return NULL;
}

void hang_up(struct contact *contact) {
  if (!contact) return;
  let_go(contact->fd);
  *contact = (struct contact){.number = 0};
}

void hang_up_all(struct contacts *contacts) {
  for (size_t i = 0; i < MAX_CONTACTS; i++)
    if (contacts->places[i].number) hang_up(&contacts->places[i]);
}

size_t poll_contacts(struct contacts *contacts, struct pollfd *polled, size_t at) {
  for (size_t i = 0; i < MAX_CONTACTS; i++) {
    struct contact *contact = &contacts->places[i];
    if (!contact->number) continue; /* its page is not touched */
    contact->polled = contact->fd != -1 ? at : 0;
    /* Only the end of a connection matters, and poll(2) always reports that. */
    if (contact->polled) polled[at++] = (struct pollfd){.fd = contact->fd};
  }
  return at;
}

void take_polled_contacts(struct contacts *contacts, const struct pollfd *polled) {
  for (size_t i = 0; i < MAX_CONTACTS; i++) {
    struct contact *contact = &contacts->places[i];
    if (!contact->polled || polled[contact->polled].revents == 0) continue;
    let_go(contact->fd);
    contact->fd = -1;
    contact->error = EPIPE;
    contact->is_news = true;
  }
}

size_t encode_contact(struct contacts *contacts, char *out) {
  for (size_t i = 0; i < MAX_CONTACTS; i++) {
    struct contact *contact = &contacts->places[i];
    if (!contact->is_news) continue;
    size_t length = encode_answer(out, "contact", contact->number, contact->error);
    contact->is_news = false;
    if (contact->error) *contact = (struct contact){.number = 0};
    return length;
  }
  return 0;
}
