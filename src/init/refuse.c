/*
 * Says why nothing is started, also in the container's termination log, where the platform keeps it: in the form that
 * the supervisor gives it (docs/observability.md).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "start.h"
#include "system.h"

struct text {
  char bytes[1280];
  size_t used;
};

static void add(struct text *text, const char *part) {
  for (; *part && text->used < sizeof text->bytes; part++) text->bytes[text->used++] = *part;
}

/* What would end a JSON string, or may not stand in one, becomes a question mark. */
static void add_quoted(struct text *text, const char *part, size_t most) {
  for (; *part && *part != '\n' && most > 0 && text->used < sizeof text->bytes; part++, most--)
    text->bytes[text->used++] = *part == '"' || *part == '\\' || *part < ' ' || *part > '~' ? '?' : *part;
}

static int open_log(char *const *env) {
  static const char variable[] = "SEXTON_TERMINATION_LOG=/";
  const int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC;
  for (; *env; env++)
    if (starts_with(*env, variable)) return open(*env + strlen(variable) - 1, flags | O_CREAT, 0644);
  return open("/dev/termination-log", flags | O_NOFOLLOW);
}

void refuse(char *const *env, const char *first, const char *second, const char *third) {
  struct text text = {.used = 0};
  struct stat about;
  say(first, second, third);
  /* The end of any other process is not the end of the container. */
  int fd = getpid() == 1 ? open_log(env) : -1;
  if (fd == -1) return;
  add(&text, "{\"Summary\":\"never started: ");
  add_quoted(&text, first + strlen("sexton: "), 200);
  add_quoted(&text, second, 600);
  add_quoted(&text, third, 200);
  add(&text, ", exit code 125\",\"Version\":1,\"Reason\":\"never-started\",");
  add(&text, "\"ExitCode\":125,\"ContainerExitCode\":125}\n");
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0 && write(fd, text.bytes, text.used) == -1)
    say("sexton: cannot write the termination log\n", "", "");
  close(fd);
}
