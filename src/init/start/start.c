/*
 * Decides whether the application may be started before the supervisor has looked at the command line. Each check
 * accepts only what no configuration could refuse; all else waits for the supervisor, which refuses or starts it.
 */
#include "start.h"

const char *value_of(char *const *env, const char *variable) {
  for (; *env; env++)
    if (starts_with(*env, variable)) return *env + strlen(variable);
  return NULL;
}

bool asks_for_information(const char *word) { return is_among(word, "--help -h --version -V"); }

bool wants_foreground(const struct inherited *in) {
  int first = 1;
  if (in->drop_in.as != AS_SEXTON) return in->drop_in.command == 0;
  if (in->argc > 1 && strcmp(in->argv[1], "run") == 0) first = 2;
  /* Nothing but `run`: help, unless a configuration file may name the command. */
  const char *config = value_of(in->env, "SEXTON_CONFIG=");
  if (first >= in->argc) return !config || *config == 0;
  const char *word = in->argv[first];
  return (first == 1 && word[0] != '-') || asks_for_information(word);
}

static bool all_of(const char *text, const char *set) { return text[strspn(text, set)] == 0; }

static bool is_name(const char *text) {
  size_t length = strlen(text);
  if (length == 0 || length > 63 || text[0] == '-' || text[length - 1] == '-') return false;
  return all_of(text, "-abcdefghijklmnopqrstuvwxyz0123456789");
}

/* In milliseconds, as docs/reference.md describes it; -1: it is none, or longer than a timer of Node can be. */
static int64_t duration_ms(const char *text) {
  static const struct {
    char name[3];
    int32_t ms;
  } units[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
  int64_t sum = 0;
  if (strcmp(text, "0") == 0) return 0;
  if (*text == 0) return -1;
  for (size_t i = 0; *text; i++) {
    size_t digits = strspn(text, "0123456789"), letters = strspn(text + digits, "hms");
    int64_t number = 0;
    if (digits == 0 || digits > 10) return -1;
    for (; digits > 0; digits--) number = 10 * number + (*text++ - '0');
    while (i < 4 && (strlen(units[i].name) != letters || strncmp(text, units[i].name, letters) != 0)) i++;
    if (i == 4) return -1;
    sum += number * units[i].ms;
    text += letters;
  }
  return sum <= INT32_MAX ? sum : -1;
}

static bool is_duration(const char *text) { return duration_ms(text) >= 0; }

/* A duration of more than 0. */
static bool is_grace(const char *text) { return duration_ms(text) > 0; }

/* A liveness socket of the longest name fits into it: 107 bytes less "/.", 63 of name and ".sock". */
enum { MAX_GRAVEYARD = 37 };

/* A directory that the supervisor can make: it makes none above it. */
static bool is_graveyard(const char *text) {
  static const char set[] = "/._-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  char parent[MAX_GRAVEYARD + 1];
  if (text[0] != '/' || strlen(text) > MAX_GRAVEYARD || !all_of(text, set)) return false;
  if (text[strspn(text, "/")] == 0) return false;
  char *end = stpcpy(parent, text);
  while (end[-1] == '/') end--;
  while (end[-1] != '/') end--;
  *end = 0;
  return access(parent, F_OK) == 0;
}

static bool is_session(const char *text) {
  static const char set[] = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  size_t length = strlen(text);
  return length > 0 && length <= 64 && all_of(text, set) && text[0] != '-';
}

bool logs_little(const char *level) { return is_among(level, "warn error"); }

static bool is_quiet_time(const char *text) { return is_among(text, "never") || is_grace(text); }

enum {
  NAME_FLAG = 0,
  GRACE_FLAG = 3,
  DRAIN_FLAG,
  GRAVEYARD_FLAG,
  SESSION_FLAG,
  SLEEP_FLAG,
  LEVEL_FLAG,
  FORMAT_FLAG,
  SIMPLE_FLAGS
};

static const struct {
  char flag[17];
  bool (*is_simple)(const char *);
  const char *values; /* in place of is_simple */
} simple_flags[SIMPLE_FLAGS] = {
    [NAME_FLAG] = {"--name", is_name, NULL},
    {"--role", NULL, "main"},
    {"--restart-policy", NULL, "Never OnFailure Always"},
    [GRACE_FLAG] = {"--grace-period", is_grace, NULL},
    [DRAIN_FLAG] = {"--drain", is_duration, NULL},
    [GRAVEYARD_FLAG] = {"--graveyard", is_graveyard, NULL},
    [SESSION_FLAG] = {"--session", is_session, NULL},
    [SLEEP_FLAG] = {"--sleep-after", is_quiet_time, NULL},
    /* The rest concern the log alone. */
    [LEVEL_FLAG] = {"--log-level", NULL, "debug info warn error"},
    [FORMAT_FLAG] = {"--log-format", NULL, "json text"},
};

static bool accepts(size_t flag, const char *value) {
  const char *values = simple_flags[flag].values;
  return values ? is_among(value, values) : simple_flags[flag].is_simple(value);
}

/* The value of each simple flag, and the flag or variable that gives it; NULL: nothing does. */
struct given {
  const char *values[SIMPLE_FLAGS], *words[SIMPLE_FLAGS];
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
    if ((given->words[i] && given->words[i][0] == '-') || !accepts(i, value)) return false;
    given->values[i] = value;
    given->words[i] = word;
    *at += word[length] == '=' ? 1 : 2;
    return true;
  }
  return false;
}

/* Whether `entry` is the variable of that flag, `SEXTON_LOG_LEVEL=` of `--log-level`; its value then, else NULL. */
static const char *value_of_twin(const char *entry, const char *flag) {
  const char *at = entry + strlen("SEXTON_");
  for (flag += 2; *flag; flag++, at++)
    if (*at != (*flag == '-' ? '_' : *flag - 'a' + 'A')) return NULL;
  return *at == '=' ? at + 1 : NULL;
}

/* Takes a variable SEXTON_* that is the twin of a simple flag, with a plain value; false: it is another one. */
static bool take_simple_variable(const char *entry, struct given *given) {
  if (starts_with(entry, "SEXTON_POD_UID=")) return is_session(strchr(entry, '=') + 1);
  for (size_t i = 0; i < SIMPLE_FLAGS; i++) {
    const char *value = value_of_twin(entry, simple_flags[i].flag);
    if (!value) continue;
    given->values[i] = value;
    given->words[i] = entry;
    return accepts(i, value);
  }
  return false;
}

/* The first variable that is not simple; NULL: there is none. */
static const char *take_environment(char *const *env, struct given *given, bool with_kubexit) {
  static const char sidecar[] = "KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT=";
  for (; *env; env++) {
    if (with_kubexit && (starts_with(*env, "KUBEXIT_") || starts_with(*env, sidecar))) return *env;
    if (starts_with(*env, "SEXTON_") && !take_simple_variable(*env, given)) return *env;
  }
  return NULL;
}

bool is_configured(char *const *env) {
  struct given given = {{NULL}, {NULL}};
  if (take_environment(env, &given, false)) return true;
  for (size_t i = 0; i < LEVEL_FLAG; i++)
    if (given.values[i]) return true;
  return false;
}

/* `word` needs a supervisor; a flag stands with its value, which is the next word where it is not joined by `=`. */
static struct plain_form needs_supervisor(const char *word, const char *value) {
  return (struct plain_form){.grace_ms = NEVER, .why = {word, strchr(word, '=') || !value ? "" : value}};
}

struct plain_form read_plain_form(const struct inherited *in) {
  struct given given = {{NULL}, {NULL}};
  struct plain_form form = {.grace_ms = NEVER, .why = {in->drop_in.unattended ? "" : "another program's options", ""}};
  if (in->drop_in.plain) form.command = in->drop_in.command;
  if (in->drop_in.as != AS_SEXTON) return form;
  int at = in->argc > 1 && strcmp(in->argv[1], "run") == 0 ? 2 : 1;
  const char *variable = take_environment(in->env, &given, true);
  if (variable) return needs_supervisor(variable, NULL);
  while (at < in->argc && in->argv[at][0] == '-') {
    if (strcmp(in->argv[at], "--") == 0) {
      at++;
      break;
    }
    if (!take_simple_flag(in, &at, &given)) return needs_supervisor(in->argv[at], in->argv[at + 1]);
  }
  if (at >= in->argc || in->argv[at][0] == 0) return needs_supervisor("no command", NULL);
  const char *grace = given.values[GRACE_FLAG], *drain = given.values[DRAIN_FLAG], *level = given.values[LEVEL_FLAG];
  if (grace && drain) return needs_supervisor(given.words[DRAIN_FLAG], drain);
  bool drains = drain && duration_ms(drain) > 0;
  int flag = drains ? DRAIN_FLAG : given.values[GRAVEYARD_FLAG] ? GRAVEYARD_FLAG : LEVEL_FLAG;
  /* Where this directory is there it is the graveyard. */
  bool is_solo = !given.values[GRAVEYARD_FLAG] && access("/graveyard", F_OK) == -1;
  bool asks = flag != LEVEL_FLAG || (level && !logs_little(level));
  form = asks ? needs_supervisor(given.words[flag], given.values[flag])
              : needs_supervisor(is_solo ? "" : "the graveyard /graveyard", NULL);
  form.command = at;
  form.forwards_first_stop = is_solo && !drains;
  if (grace) form.grace_ms = duration_ms(grace);
  return form;
}

/* As `nameFromCommand` in `src/config/notation/values.ts`. */
static void name_from_command(char name[64], const char *command) {
  const char *slash = strrchr(command, '/');
  size_t length = 0;
  for (const char *at = slash ? slash + 1 : command; *at && length < 63; at++) {
    char letter = *at;
    if (letter >= 'A' && letter <= 'Z') letter = (char)(letter - 'A' + 'a');
    bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    if (!is_plain) letter = '-';
    if (is_plain || length > 0) name[length++] = letter;
  }
  while (length > 0 && name[length - 1] == '-') length--;
  name[length] = 0;
  if (length == 0) strcpy(name, "main");
}

struct plain_words read_plain_words(const struct inherited *in) {
  struct given given = {{NULL}, {NULL}};
  struct plain_words plain = {.grace_ms = in->form.grace_ms, .logs_text = isatty(STDERR_FILENO)};
  int at = in->argc > 1 && strcmp(in->argv[1], "run") == 0 ? 2 : 1;
  take_environment(in->env, &given, false);
  while (in->drop_in.as == AS_SEXTON && at < in->form.command && take_simple_flag(in, &at, &given)) {}
  const char *name = given.values[NAME_FLAG], *format = given.values[FORMAT_FLAG];
  if (name) strcpy(plain.name, name);
  else name_from_command(plain.name, in->argv[in->form.command]);
  plain.session = given.values[SESSION_FLAG] ? given.values[SESSION_FLAG] : value_of(in->env, "SEXTON_POD_UID=");
  if (format) plain.logs_text = format[0] == 't';
  return plain;
}

void tell_why_supervised(const struct inherited *in) {
  struct plain_form form = read_plain_form(in);
  for (int i = 0; i < 2; i++) say(form.why[i], "\n", "");
  _exit(0);
}
