/* The encoder. It writes without stdio into buffers whose sizes frame.h gives. */
#include "frame.h"

static char *put_bytes(char *out, const char *bytes, size_t length) {
  memcpy(out, bytes, length);
  out[length] = 0;
  return out + length + 1;
}

static char *put_text(char *out, const char *text) { return put_bytes(out, text, strlen(text)); }

static char *put_number(char *out, uint64_t number) { return put_digits(out, number, 1) + 1; }

static size_t finish(char *frame, const char *end) {
  uint32_t length = (uint32_t)(end - frame) - FRAME_HEADER_BYTES;
  for (int i = 0; i < FRAME_HEADER_BYTES; i++) frame[i] = (char)(length >> (8 * i) & 0xff);
  return (size_t)length + FRAME_HEADER_BYTES;
}

static char *put_errno(char *out, int number) {
  static const struct {
    int number;
    char name[13];
  } known[] = {
      {ENOENT, "ENOENT"}, {EACCES, "EACCES"}, {ENOEXEC, "ENOEXEC"}, {ENOTDIR, "ENOTDIR"}, {EPERM, "EPERM"},
      {ENOMEM, "ENOMEM"}, {EAGAIN, "EAGAIN"}, {E2BIG, "E2BIG"}, {ELOOP, "ELOOP"}, {ENAMETOOLONG, "ENAMETOOLONG"},
      {ETXTBSY, "ETXTBSY"}, {ELIBBAD, "ELIBBAD"}, {EIO, "EIO"}, {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"},
      {EISDIR, "EISDIR"}, {EINVAL, "EINVAL"}, {ENOSYS, "ENOSYS"}, {ECANCELED, "ECANCELED"}, {ENOSPC, "ENOSPC"},
      {ECONNREFUSED, "ECONNREFUSED"}, {EPIPE, "EPIPE"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].number == number) return put_text(out, known[i].name);
  return put_number(out, (uint64_t)number);
}

/* The name of each kind's frame, and its fields, a letter each as in put_field(). Pointers would need relocations. */
static const struct {
  char name[13], fields[8];
} forms[] = {
    [EV_SIGNAL] = {"signal", "vpf"},
    [EV_ORDERED] = {"ordered", "irvapnw"},
    [EV_SPAWNED] = {"spawned", "ip"},
    [EV_SPAWN_FAILED] = {"spawn-failed", "ie"},
    [EV_EXITED] = {"exited", "ipv-f"},
    [EV_KILLED] = {"exited", "ip-vf"},
    [EV_END_WRITTEN] = {"end-written", "ipvw"},
    [EV_ROOTS_GONE] = {"roots-gone", "i"},
    [EV_TOLD] = {"told", "ivnpyNO"},
    [EV_HELPER_EXITED] = {"helper-ended", "iv--o"},
    [EV_HELPER_KILLED] = {"helper-ended", "i-v-o"},
    [EV_HELPER_FAILED] = {"helper-ended", "i--eo"},
    [EV_NOTIFIED] = {"notified", "ivo"},
    [EV_SILENT] = {"silent", "i"},
};

static const char reasons[][8] = {"first", "through", "trap", "left", "reader", "late"};

static char *put_field(char *at, char field, const struct event *event) {
  switch (field) {
    case 'a':
      return put_number(at, event->as);
    case 'e':
      return put_errno(at, event->value);
    case 'f':
      return put_text(at, event->flag ? "1" : "0");
    case 'i':
      return put_number(at, event->id);
    case 'n':
      return put_number(at, (uint64_t)event->count);
    case 'p':
      return put_number(at, (uint64_t)event->pid);
    case 'r':
      return put_text(at, name_of_row(event->row));
    case 'v':
      return put_number(at, (uint64_t)event->value);
    case 'y':
      return put_text(at, reasons[event->as]);
    case 'N':
      return put_text(at, event->name);
    case 'O':
      return put_text(at, event->of);
    case 'w':
      return put_number(at, (uint64_t)event->wall);
    default:
      return put_text(at, "");
  }
}

size_t encode_event(char *out, const struct event *event, const char *output, size_t length) {
  char *at = put_text(out + FRAME_HEADER_BYTES, forms[event->kind].name);
  at = put_number(at, event->seq);
  at = put_number(at, (uint64_t)event->at);
  for (const char *field = forms[event->kind].fields; *field; field++)
    at = *field == 'o' ? put_bytes(at, output, length) : put_field(at, *field, event);
  return finish(out, at);
}

size_t encode_hello(char *out, const char *host_id, int64_t started_at, bool pid1, const char *memo, size_t memo_length,
                    const char *why, int64_t oom_kills, const char *plain, const char *ended, int killed) {
  char *at = put_text(out + FRAME_HEADER_BYTES, "hello");
  at = put_text(at, "1");
  at = put_text(at, host_id);
  at = put_number(at, (uint64_t)started_at);
  at = put_text(at, pid1 ? "1" : "0");
  at = put_bytes(at, memo, memo_length);
  at = put_text(at, why);
  at = oom_kills < 0 ? put_text(at, "") : put_number(at, (uint64_t)oom_kills);
  at = put_bytes(at, plain, strnlen(plain, 64));
  at = put_text(at, ended);
  at = put_number(at, (uint64_t)killed);
  return finish(out, at);
}

size_t encode_answer(char *out, const char *name, const char *key, int error) {
  char *at = put_text(out + FRAME_HEADER_BYTES, name);
  at = put_text(at, key);
  at = error ? put_errno(at, error) : put_text(at, "");
  return finish(out, at);
}

size_t encode_changed(char *out, const char *names, size_t length) {
  char *at = put_text(out + FRAME_HEADER_BYTES, "changed");
  memcpy(at, names, length);
  return finish(out, at + length);
}
