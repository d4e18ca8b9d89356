/*
 * Decides whether the application may be started before the supervisor has looked at the command line. Each check
 * accepts only what no configuration could refuse; all else waits for the supervisor, which refuses or starts it.
 */
#define _GNU_SOURCE
#include "start.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

static bool has_value(char *const *env, const char *variable) {
  for (; *env; env++)
    if (starts_with(*env, variable) && (*env)[strlen(variable)] != 0) return true;
  return false;
}

bool asks_for_information(const char *word) {
  static const char *const words[] = {"--help", "-h", "--version", "-V"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i]) == 0) return true;
  return false;
}

bool wants_foreground(const struct inherited *in) {
  int first = 1;
  if (in->drop_in.as != AS_SEXTON) return in->drop_in.command == 0;
  if (in->argc > 1 && strcmp(in->argv[1], "run") == 0) first = 2;
  /* Nothing but `run`: help, unless a configuration file may name the command. */
  if (first >= in->argc) return !has_value(in->env, "SEXTON_CONFIG=");
  const char *word = in->argv[first];
  return (first == 1 && word[0] != '-') || asks_for_information(word);
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

/* A duration of more than 0. */
static bool is_grace(const char *text) {
  char first = text[strspn(text, "0")];
  return is_duration(text) && first >= '1' && first <= '9';
}

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

bool logs_little(const char *level) { return strcmp(level, "warn") == 0 || strcmp(level, "error") == 0; }

static bool is_level(const char *text) {
  return strcmp(text, "debug") == 0 || strcmp(text, "info") == 0 || logs_little(text);
}

static bool is_format(const char *text) { return strcmp(text, "json") == 0 || strcmp(text, "text") == 0; }

static bool is_quiet_time(const char *text) { return strcmp(text, "never") == 0 || is_grace(text); }

enum { GRACE_FLAG = 3, DRAIN_FLAG, GRAVEYARD_FLAG, SESSION_FLAG, LEVEL_FLAG, FORMAT_FLAG, SLEEP_FLAG, SIMPLE_FLAGS };

static const struct {
  const char *flag;
  bool (*accepts)(const char *);
} simple_flags[SIMPLE_FLAGS] = {
    {"--name", is_name},
    {"--role", is_main},
    {"--restart-policy", is_policy},
    [GRACE_FLAG] = {"--grace-period", is_grace},
    [DRAIN_FLAG] = {"--drain", is_duration},
    [GRAVEYARD_FLAG] = {"--graveyard", is_directory_name},
    [SESSION_FLAG] = {"--session", is_session},
    [LEVEL_FLAG] = {"--log-level", is_level},
    [FORMAT_FLAG] = {"--log-format", is_format},
    [SLEEP_FLAG] = {"--sleep-after", is_quiet_time},
};

/* The value of each simple flag, as it was given; NULL: it was not. */
struct given {
  const char *values[SIMPLE_FLAGS];
};

/*
 * Takes the flag at *at with its value and moves *at behind both; false when it is not on the list, or was there
 * before.
 */
static bool take_simple_flag(const struct inherited *in, int *at, struct given *given) {
  const char *word = in->argv[*at];
  for (size_t i = 0; i < SIMPLE_FLAGS; i++) {
    size_t length = strlen(simple_flags[i].flag);
    if (strncmp(word, simple_flags[i].flag, length) != 0 || (word[length] != 0 && word[length] != '=')) continue;
    const char *value = word[length] == '=' ? word + length + 1 : *at + 1 < in->argc ? in->argv[*at + 1] : "";
    if (given->values[i] || !simple_flags[i].accepts(value)) return false;
    given->values[i] = value;
    *at += word[length] == '=' ? 1 : 2;
    return true;
  }
  return false;
}

/* Whether `entry` is the variable of that flag, `SEXTON_LOG_LEVEL=` of `--log-level`; its value then, else NULL. */
static const char *value_of_twin(const char *entry, const char *flag) {
  static const char prefix[] = "SEXTON_";
  const char *at = entry + strlen(prefix);
  for (flag += 2; *flag; flag++, at++)
    if (*at != (*flag == '-' ? '_' : *flag - 'a' + 'A')) return NULL;
  return *at == '=' ? at + 1 : NULL;
}

/* Takes a variable SEXTON_* that is the twin of a simple flag, with a value as plain; false when it is another. */
static bool take_simple_variable(const char *entry, struct given *given) {
  static const char pod_uid[] = "SEXTON_POD_UID=";
  if (starts_with(entry, pod_uid)) return is_session(entry + strlen(pod_uid));
  for (size_t i = 0; i < SIMPLE_FLAGS; i++) {
    const char *value = value_of_twin(entry, simple_flags[i].flag);
    if (!value) continue;
    given->values[i] = value;
    return simple_flags[i].accepts(value);
  }
  return false;
}

static bool environment_decides(char *const *env, struct given *given) {
  for (; *env; env++) {
    if (starts_with(*env, "KUBEXIT_") || starts_with(*env, "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT=")) return true;
    if (starts_with(*env, "SEXTON_") && !take_simple_variable(*env, given)) return true;
  }
  return false;
}

bool is_configured(char *const *env) {
  struct given given = {{NULL}};
  for (; *env; env++)
    if (starts_with(*env, "SEXTON_") && !take_simple_variable(*env, &given)) return true;
  for (size_t i = 0; i < SIMPLE_FLAGS; i++)
    if (given.values[i] && i < LEVEL_FLAG) return true;
  return false;
}

/* `text` is one that is_duration accepts. */
static int64_t duration_ms(const char *text) {
  int64_t number = 0;
  for (; *text >= '0' && *text <= '9'; text++) number = 10 * number + (*text - '0');
  return strcmp(text, "ms") == 0 ? number : strcmp(text, "s") == 0 ? number * 1000 : number * 60000;
}

struct plain_form read_plain_form(const struct inherited *in) {
  static const struct plain_form waits = {.grace_ms = NEVER};
  struct given given = {{NULL}}, variables = {{NULL}};
  if (in->drop_in.as != AS_SEXTON)
    return (struct plain_form){.command = in->drop_in.plain ? in->drop_in.command : 0,
                               .unattended = in->drop_in.unattended,
                               .grace_ms = NEVER};
  int at = in->argc > 1 && strcmp(in->argv[1], "run") == 0 ? 2 : 1;
  if (environment_decides(in->env, &variables)) return waits;
  while (at < in->argc && in->argv[at][0] == '-') {
    if (strcmp(in->argv[at], "--") == 0) {
      at++;
      break;
    }
    if (!take_simple_flag(in, &at, &given)) return waits;
  }
  if (at >= in->argc || in->argv[at][0] == 0) return waits;
  for (size_t i = 0; i < SIMPLE_FLAGS; i++)
    if (!given.values[i]) given.values[i] = variables.values[i];
  const char *grace = given.values[GRACE_FLAG], *drain = given.values[DRAIN_FLAG];
  if (grace && drain) return waits;
  const char *level = given.values[LEVEL_FLAG];
  /* Where this directory is there it is the graveyard. */
  bool is_solo = !given.values[GRAVEYARD_FLAG] && access("/graveyard", F_OK) == -1;
  bool forwards_first_stop = is_solo && (!drain || duration_ms(drain) == 0);
  return (struct plain_form){.command = at,
                             .forwards_first_stop = forwards_first_stop,
                             .unattended = forwards_first_stop && (!level || logs_little(level)),
                             .grace_ms = grace ? duration_ms(grace) : NEVER};
}
