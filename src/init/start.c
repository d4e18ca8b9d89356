/*
 * Whether the application may be started before the supervisor has looked at the command line. Each check accepts only
 * what no configuration could refuse; whatever is not accepted here waits for the supervisor, which refuses or starts it.
 */
#define _GNU_SOURCE
#include "start.h"

#include <stddef.h>
#include <string.h>

static bool has_value(char *const *env, const char *variable) {
  for (; *env; env++)
    if (starts_with(*env, variable) && (*env)[strlen(variable)] != 0) return true;
  return false;
}

bool wants_foreground(const struct inherited *in) {
  static const char *const informative[] = {"--help", "-h", "--version", "-V"};
  int first = 1;
  if (in->drop_in.as != AS_SEXTON) return in->drop_in.command == 0;
  if (in->argc > 1 && strcmp(in->argv[1], "run") == 0) first = 2;
  /* Nothing but `run`: help, unless a configuration file may name the command. */
  if (first >= in->argc) return !has_value(in->env, "SEXTON_CONFIG=");
  const char *word = in->argv[first];
  if (first == 1 && word[0] != '-') return true;
  for (size_t i = 0; i < sizeof informative / sizeof *informative; i++)
    if (strcmp(word, informative[i]) == 0) return true;
  return false;
}

static bool all_of(const char *text, const char *set) { return text[strspn(text, set)] == 0; }

static bool is_name(const char *text) {
  static const char inner[] = "-abcdefghijklmnopqrstuvwxyz0123456789";
  size_t length = strlen(text);
  return length > 0 && length <= 63 && all_of(text, inner) && text[0] != '-' && text[length - 1] != '-';
}

static bool is_main(const char *text) { return strcmp(text, "main") == 0; }

static bool is_policy(const char *text) {
  return strcmp(text, "Never") == 0 || strcmp(text, "OnFailure") == 0 || strcmp(text, "Always") == 0;
}

static bool is_duration(const char *text) {
  size_t digits = strspn(text, "0123456789");
  const char *unit = text + digits;
  if (strcmp(unit, "m") == 0) return digits >= 1 && digits <= 4; /* the longest duration is 2^31 - 1 ms */
  return digits >= 1 && digits <= 6 && (strcmp(unit, "ms") == 0 || strcmp(unit, "s") == 0);
}

static bool is_grace(const char *text) { return is_duration(text) && text[strspn(text, "0")] >= '1' && text[strspn(text, "0")] <= '9'; }

/* Short enough for a liveness socket of the longest name in it: 107 bytes less "/.", 63 of name and ".sock". */
static bool is_directory_name(const char *text) {
  static const char set[] = "/._-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return text[0] == '/' && strlen(text) <= 37 && all_of(text, set) && text[strspn(text, "/")] != 0;
}

static bool is_session(const char *text) {
  static const char set[] = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  size_t length = strlen(text);
  return length > 0 && length <= 64 && all_of(text, set) && text[0] != '-';
}

static bool is_level(const char *text) {
  return strcmp(text, "debug") == 0 || strcmp(text, "info") == 0 || strcmp(text, "warn") == 0 || strcmp(text, "error") == 0;
}

static bool is_format(const char *text) { return strcmp(text, "json") == 0 || strcmp(text, "text") == 0; }

enum { GRACE_FLAG = 3, DRAIN_FLAG = 4, LEVEL_FLAG = 7, FORMAT_FLAG = 8 };

static const struct {
  const char *flag;
  bool (*accepts)(const char *);
} simple_flags[] = {
    {"--name", is_name},
    {"--role", is_main},
    {"--restart-policy", is_policy},
    [GRACE_FLAG] = {"--grace-period", is_grace},
    [DRAIN_FLAG] = {"--drain", is_duration},
    {"--graveyard", is_directory_name},
    {"--session", is_session},
    [LEVEL_FLAG] = {"--log-level", is_level},
    [FORMAT_FLAG] = {"--log-format", is_format},
};

/* Takes the flag at *at with its value, moves *at behind both and returns its number in the list; -1: not on the list. */
static int take_simple_flag(const struct inherited *in, int *at) {
  const char *word = in->argv[*at];
  for (size_t i = 0; i < sizeof simple_flags / sizeof *simple_flags; i++) {
    size_t length = strlen(simple_flags[i].flag);
    if (strncmp(word, simple_flags[i].flag, length) != 0 || (word[length] != 0 && word[length] != '=')) continue;
    const char *value = word[length] == '=' ? word + length + 1 : *at + 1 < in->argc ? in->argv[*at + 1] : "";
    if (!simple_flags[i].accepts(value)) return -1;
    *at += word[length] == '=' ? 1 : 2;
    return (int)i;
  }
  return -1;
}

/* Whether `entry` is the variable of that flag, `SEXTON_LOG_LEVEL=` of `--log-level`; its value then, else NULL. */
static const char *value_of_twin(const char *entry, const char *flag) {
  static const char prefix[] = "SEXTON_";
  const char *at = entry + strlen(prefix);
  for (flag += 2; *flag; flag++, at++)
    if (*at != (*flag == '-' ? '_' : *flag - 'a' + 'A')) return NULL;
  return *at == '=' ? at + 1 : NULL;
}

/* Takes a variable of sexton's whose value is as plain as that of a simple flag. */
static bool take_simple_variable(const char *entry, unsigned *seen) {
  static const char pod_uid[] = "SEXTON_POD_UID=";
  if (starts_with(entry, pod_uid)) return is_session(entry + strlen(pod_uid));
  for (size_t i = 0; i < sizeof simple_flags / sizeof *simple_flags; i++) {
    const char *value = value_of_twin(entry, simple_flags[i].flag);
    if (!value) continue;
    *seen |= 1U << i;
    return simple_flags[i].accepts(value);
  }
  return false;
}

static bool environment_decides(char *const *env, unsigned *seen) {
  for (; *env; env++) {
    if (starts_with(*env, "KUBEXIT_") || starts_with(*env, "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT=")) return true;
    if (starts_with(*env, "SEXTON_") && !take_simple_variable(*env, seen)) return true;
  }
  return false;
}

bool is_configured(char *const *env) {
  unsigned seen = 0;
  for (; *env; env++)
    if (starts_with(*env, "SEXTON_") && !take_simple_variable(*env, &seen)) return true;
  return seen & ~(1U << LEVEL_FLAG | 1U << FORMAT_FLAG);
}

int command_at_once(const struct inherited *in) {
  unsigned seen = 0, in_environment = 0;
  if (in->drop_in.as != AS_SEXTON) return in->drop_in.plain ? in->drop_in.command : 0;
  int at = in->argc > 1 && strcmp(in->argv[1], "run") == 0 ? 2 : 1;
  if (environment_decides(in->env, &in_environment)) return 0;
  while (at < in->argc && in->argv[at][0] == '-') {
    if (strcmp(in->argv[at], "--") == 0) {
      at++;
      break;
    }
    int flag = take_simple_flag(in, &at);
    if (flag < 0 || seen & 1U << flag) return 0;
    seen |= 1U << flag;
  }
  if (at >= in->argc || in->argv[at][0] == 0) return 0;
  seen |= in_environment;
  if (seen & 1U << GRACE_FLAG && seen & 1U << DRAIN_FLAG) return 0;
  return at;
}
