/*
 * What init writes to the container's termination log, in the supervisor's form (docs/observability.md): why nothing is
 * started, or how the application ended without a supervisor.
 */
#include <sys/stat.h>

#include "start.h"

struct text {
  char bytes[1280];
  size_t used;
};

static void add(struct text *text, const char *part) {
  for (; *part && text->used < sizeof text->bytes; part++) text->bytes[text->used++] = *part;
}

/* A character that JSON would escape becomes a question mark. */
static void add_quoted(struct text *text, const char *part, size_t most) {
  for (; *part && *part != '\n' && most > 0 && text->used < sizeof text->bytes; part++, most--)
    text->bytes[text->used++] = *part == '"' || *part == '\\' || *part < ' ' || *part > '~' ? '?' : *part;
}

static int open_log(char *const *env) {
  static const char variable[] = "SEXTON_TERMINATION_LOG=/";
  int flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
  for (; *env; env++)
    if (starts_with(*env, variable)) return open(*env + strlen(variable) - 1, flags | O_CREAT, 0644);
  return open("/dev/termination-log", flags);
}

static const char OURS[] = "{\"Summary\":\"";

/* The rules of `src/runtime/log/termination-log.ts`: the words of the application come first. */
bool leave_message(int fd, const char *text, size_t length, bool may_grow) {
  char there[8192];
  struct stat about;
  if (fstat(fd, &about) == -1 || !S_ISREG(about.st_mode)) return false;
  ssize_t read = pread(fd, there, sizeof there, 0);
  if (read < 0) return false;
  size_t size = (size_t)read, own = 0;
  bool is_ours = size >= sizeof OURS - 1 && memcmp(there, OURS, sizeof OURS - 1) == 0;
  const char *line_end = memchr(there, '\n', size);
  if (size > 0 && (!is_ours || may_grow)) return true;
  /* The application may have written since: nothing of it is overwritten or cut off. */
  if (may_grow) return write(fd, text, length) == (ssize_t)length;
  if (line_end) own = (size_t)(line_end + 1 - there);
  if (own > 0 && own < size) {
    if (size == sizeof there) return true;
    text = there + own;
    length = size - own;
  }
  return pwrite(fd, text, length, 0) == (ssize_t)length && ftruncate(fd, (off_t)length) == 0;
}

/* `status`: of the command. `code`: of the container. */
static void leave_summary(char *const *env, const char *const parts[4], const char *reason, int status, int code) {
  struct text text = {.used = 0};
  char digits[12], own[12];
  /* Only PID 1 ends the container. */
  int fd = getpid() == 1 ? open_log(env) : -1;
  if (fd == -1) return;
  put_digits(digits, (uint64_t)status, 1);
  put_digits(own, (uint64_t)code, 1);
  add(&text, OURS);
  for (int i = 0; i < 4; i++) add_quoted(&text, parts[i], i == 2 ? 600 : 200);
  const char *const rest[] = {", exit code ", digits, "\",\"Version\":1,", reason, "\"ExitCode\":", digits,
                              ",\"ContainerExitCode\":", own, "}\n"};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) add(&text, rest[i]);
  if (!leave_message(fd, text.bytes, text.used, false))
    say("sexton: cannot write the termination log\n", "", "");
  close(fd);
}

void refuse(char *const *env, const char *first, const char *second, const char *third) {
  say(first, second, third);
  const char *const parts[] = {"never started: ", first + strlen("sexton: "), second, third};
  leave_summary(env, parts, "\"Reason\":\"never-started\",", 125, 125);
}

void leave_end(char *const *env, const char *why, int status, int code) {
  const char *const parts[] = {"ended without a supervisor (", why, ")", ""};
  say("sexton: the application has ended without a supervisor: ", why, "\n");
  leave_summary(env, parts, "", status, code);
}
