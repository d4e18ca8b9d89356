/* The encoder: numbers and names into frames, without stdio, into buffers whose sizes frame.h gives. */
#include <errno.h>
#include <string.h>

#include "frame.h"

static char *put_bytes(char *out, const char *bytes, size_t length) {
  memcpy(out, bytes, length);
  out[length] = 0;
  return out + length + 1;
}

static char *put_text(char *out, const char *text) { return put_bytes(out, text, strlen(text)); }

char *put_digits(char *out, uint64_t number, int width) {
  char digits[20];
  int count = 0;
  for (; number > 0 || count < width; number /= 10) digits[count++] = (char)('0' + number % 10);
  while (count > 0) *out++ = digits[--count];
  *out = 0;
  return out;
}

static char *put_number(char *out, uint64_t number) { return put_digits(out, number, 1) + 1; }

static size_t finish(char *frame, const char *end) {
  uint32_t length = (uint32_t)(end - frame) - FRAME_HEADER_BYTES;
  for (int i = 0; i < FRAME_HEADER_BYTES; i++) frame[i] = (char)(length >> (8 * i) & 0xff);
  return (size_t)length + FRAME_HEADER_BYTES;
}

static char *put_errno(char *out, int number) {
  static const struct {
    int number;
    const char *name;
  } known[] = {
      {ENOENT, "ENOENT"}, {EACCES, "EACCES"}, {ENOEXEC, "ENOEXEC"}, {ENOTDIR, "ENOTDIR"}, {EPERM, "EPERM"},
      {ENOMEM, "ENOMEM"}, {EAGAIN, "EAGAIN"}, {E2BIG, "E2BIG"}, {ELOOP, "ELOOP"}, {ENAMETOOLONG, "ENAMETOOLONG"},
      {ETXTBSY, "ETXTBSY"}, {ELIBBAD, "ELIBBAD"}, {EIO, "EIO"}, {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"},
      {EISDIR, "EISDIR"}, {EINVAL, "EINVAL"}, {ENOSYS, "ENOSYS"}, {ECANCELED, "ECANCELED"}, {ENOSPC, "ENOSPC"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].number == number) return put_text(out, known[i].name);
  return put_number(out, (uint64_t)number);
}

size_t encode_event(char *out, const struct event *event, const char *output, size_t length) {
  static const char *const names[] = {
      [EV_SIGNAL] = "signal",
      [EV_FORWARDED] = "forwarded",
      [EV_SPAWNED] = "spawned",
      [EV_SPAWN_FAILED] = "spawn-failed",
      [EV_OVERDUE] = "overdue",
      [EV_EXITED] = "exited",
      [EV_KILLED] = "exited",
      [EV_WORDED] = "worded",
      [EV_MAINS_ENDED] = "mains-ended",
      [EV_GROUP_GONE] = "group-gone",
      [EV_STRAYS_GONE] = "strays-gone",
      [EV_HELPER_EXITED] = "helper-ended",
      [EV_HELPER_KILLED] = "helper-ended",
      [EV_HELPER_FAILED] = "helper-ended",
  };
  char *at = put_text(out + FRAME_HEADER_BYTES, names[event->kind]);
  at = put_number(at, event->seq);
  at = put_number(at, (uint64_t)event->at);
  switch ((enum event_kind)event->kind) {
    case EV_SIGNAL:
      at = put_number(at, (uint64_t)event->value);
      at = put_number(at, (uint64_t)event->pid);
      at = put_text(at, event->flag ? "1" : "0");
      break;
    case EV_FORWARDED:
      at = put_number(at, (uint64_t)event->value);
      at = put_number(at, event->as);
      at = put_number(at, (uint64_t)event->pid);
      break;
    case EV_SPAWNED:
      at = put_number(at, event->id);
      at = put_number(at, (uint64_t)event->pid);
      break;
    case EV_SPAWN_FAILED:
      at = put_number(at, event->id);
      at = put_errno(at, event->value);
      break;
    case EV_EXITED:
    case EV_KILLED:
      at = put_number(at, event->id);
      at = put_number(at, (uint64_t)event->pid);
      at = put_text(at, event->kind == EV_EXITED ? "code" : "signal");
      at = put_number(at, (uint64_t)event->value);
      at = put_text(at, event->flag ? "1" : "0");
      break;
    case EV_WORDED:
      at = put_number(at, event->id);
      at = put_number(at, (uint64_t)event->pid);
      at = put_number(at, (uint64_t)event->value);
      at = put_number(at, (uint64_t)event->wall);
      break;
    case EV_MAINS_ENDED:
      at = put_number(at, event->id);
      at = put_number(at, (uint64_t)event->value);
      at = put_number(at, (uint64_t)event->wall);
      break;
    case EV_GROUP_GONE:
      at = put_number(at, event->id);
      at = put_number(at, (uint64_t)event->value);
      break;
    case EV_OVERDUE:
      at = put_number(at, event->id);
      break;
    case EV_STRAYS_GONE:
      break;
    case EV_HELPER_EXITED:
    case EV_HELPER_KILLED:
      at = put_number(at, event->id);
      at = put_text(at, event->kind == EV_HELPER_EXITED ? "code" : "signal");
      at = put_number(at, (uint64_t)event->value);
      at = put_bytes(at, output, length);
      break;
    case EV_HELPER_FAILED:
      at = put_number(at, event->id);
      at = put_text(at, "errno");
      at = put_errno(at, event->value);
      at = put_bytes(at, output, length);
      break;
  }
  return finish(out, at);
}

size_t encode_hello(char *out, const char *host_id, int64_t started_at, bool pid1, const char *memo, size_t memo_length,
                    bool has_memo, const char *why, int64_t oom_kills) {
  char *at = put_text(out + FRAME_HEADER_BYTES, "hello");
  at = put_text(at, "1");
  at = put_text(at, host_id);
  at = put_number(at, (uint64_t)started_at);
  at = put_text(at, pid1 ? "1" : "0");
  at = put_text(at, has_memo ? "1" : "0");
  at = put_bytes(at, memo, memo_length);
  at = put_text(at, why);
  at = oom_kills < 0 ? put_text(at, "") : put_number(at, (uint64_t)oom_kills);
  return finish(out, at);
}

size_t encode_watching(char *out, uint64_t number, int error) {
  char *at = put_text(out + FRAME_HEADER_BYTES, "watching");
  at = put_number(at, number);
  at = error ? put_errno(at, error) : put_text(at, "");
  return finish(out, at);
}

size_t encode_changed(char *out, const char *names, size_t length) {
  char *at = put_text(out + FRAME_HEADER_BYTES, "changed");
  memcpy(at, names, length);
  return finish(out, at + length);
}
