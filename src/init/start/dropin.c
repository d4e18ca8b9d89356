/*
 * The command lines of tini, dumb-init and kubexit, which init replaces under their names. Init reads them once, and
 * gives the supervisor sexton's own flags in their place.
 */
#include <sys/prctl.h>

#include "start.h"

static const char programs[][10] = {
    [AS_SEXTON] = "sexton", [AS_TINI] = "tini", [AS_DUMB_INIT] = "dumb-init", [AS_KUBEXIT] = "kubexit"};

static enum called_as name_called(const char *name) {
  const char *slash = strrchr(name, '/');
  if (slash) name = slash + 1;
  /* Both also come as tini-static-amd64 and dumb-init_1.2.5_x86_64. */
  if (strcmp(name, "tini") == 0 || starts_with(name, "tini-")) return AS_TINI;
  if (strcmp(name, "dumb-init") == 0 || starts_with(name, "dumb-init_")) return AS_DUMB_INIT;
  return strcmp(name, "kubexit") == 0 ? AS_KUBEXIT : AS_SEXTON;
}

/* Texts for the supervisor. Each has room for the longest that can be made. */
struct line_texts {
  char called[160]; /* SEXTON_INIT_AS and the defaults */
  char list[2048];  /* signals or exit codes, or why the line is refused */
};

/* As stpcpy(3), which the compiler would unfold at each call. */
static char *add(char *at, const char *text) {
  while (*text) *at++ = *text++;
  *at = 0;
  return at;
}

/* A position in the words, and the value of the last option. */
struct options {
  char *const *argv;
  int argc, at;
  const char *cluster, *value;
  char name[3]; /* the last option by its letter, as `-e` */
  const char *wrong, *wrong_value, *remedy;
};

enum { NO_MORE = 0, WRONG = '?', MAX_SHOWN = 100 };

static int refuse_option(struct options *o, const char *option, const char *value, const char *remedy) {
  o->wrong = option;
  o->wrong_value = value;
  o->remedy = remedy;
  return WRONG;
}

static bool refuse_value(struct options *o, const char *remedy) {
  refuse_option(o, o->name, o->value, remedy);
  return false;
}

static int with_value(struct options *o, int letter, const char *name, const char *joined) {
  o->value = joined ? joined : o->at < o->argc ? o->argv[o->at++] : NULL;
  return o->value ? letter : refuse_option(o, name, NULL, " needs a value");
}

/* A long option of dumb-init, or the beginning of its name, as the letter of its short twin: getopt_long(3). */
static int next_long(struct options *o, const char *word) {
  static const char names[][13] = {"help", "verbose", "version", "single-child", "rewrite"};
  const char *text = word + 2, *end = strchrnul(text, '=');
  size_t length = (size_t)(end - text);
  int found = -1;
  for (int i = 0; i < 5; i++) {
    if (strncmp(names[i], text, length) != 0) continue;
    if (found >= 0) return refuse_option(o, word, NULL, " may be one of several options: write its whole name");
    found = i;
  }
  if (found < 0) return refuse_option(o, word, NULL, " is not an option");
  o->name[1] = "hvVcr"[found];
  if (found == 4) return with_value(o, 'r', word, *end ? end + 1 : NULL);
  return *end ? refuse_option(o, word, NULL, ": this option takes no value") : o->name[1];
}

/* The letter of the next option as getopt(3) finds it, up to the first word that is none. */
static int next_option(struct options *o, const char *letters, bool has_long) {
  if (*o->cluster == 0) {
    const char *word = o->at < o->argc ? o->argv[o->at] : "";
    if (word[0] != '-' || word[1] == 0) return NO_MORE;
    o->at++;
    if (strcmp(word, "--") == 0) return NO_MORE;
    if (word[1] == '-') return has_long ? next_long(o, word) : refuse_option(o, word, NULL, " is not an option");
    o->cluster = word + 1;
  }
  const char *found = *o->cluster == ':' ? NULL : strchr(letters, *o->cluster);
  o->name[1] = *o->cluster++;
  if (!found) return refuse_option(o, o->name, NULL, " is not an option");
  if (found[1] != ':') return *found;
  const char *joined = *o->cluster ? o->cluster : NULL;
  o->cluster = "";
  return with_value(o, *found, o->name, joined);
}

/* Reads a decimal number as scanf(3) does and moves `at` behind it; -1: there is none, or it is not small. */
static int number_at(const char **at) {
  int number = 0;
  *at += strspn(*at, " \t\n\v\f\r");
  if (**at == '+') ++*at;
  size_t digits = strspn(*at, "0123456789");
  if (digits == 0) return -1;
  for (size_t i = 0; i < digits; i++)
    if (number < 1000) number = 10 * number + (*at)[i] - '0';
  *at += digits;
  return number;
}

/* -1: it is none. */
static int exit_code_of(const char *text) {
  if (*text == 0) return 0; /* as tini does */
  int number = number_at(&text);
  return number <= 255 && *text == 0 ? number : -1;
}

/* The number of a signal that tini knows by this name; 0: there is none. */
static int parent_signal_of(const char *name) {
  char known[SIGNAL_NAME_BYTES];
  if (is_among(name, "SIGSTKFLT SIGIO SIGPWR")) return 0;
  for (int number = 1; number <= SIGSYS; number++) {
    name_signal(known, number);
    if (strcmp(name, known) == 0) return number;
  }
  return 0;
}

/* Takes `15:3`; what follows is not looked at, as dumb-init does. */
static bool rewrite(struct drop_in *line, bool rewritten[MAX_SIGNAL + 1], const char *text) {
  int from = number_at(&text);
  if (from < 1 || from > 31 || *text++ != ':') return false;
  int to = number_at(&text);
  if (to < 0 || to > 31) return false;
  if (from != SIGKILL && from != SIGSTOP && from != SIGCHLD) {
    line->forward[from] = (uint8_t)to;
    rewritten[from] = true;
  }
  return true;
}

static void forward_all(struct drop_in *line) {
  for (int number = 1; number <= MAX_SIGNAL; number++) line->forward[number] = (uint8_t)number;
  line->forward[SIGKILL] = line->forward[SIGSTOP] = line->forward[SIGCHLD] = 0;
}

/* Gives the supervisor a flag of sexton's. Any other setting beats it unless it stands `on_line`. */
static void give(struct drop_in *line, struct line_texts *texts, bool on_line, const char *flag, const char *value) {
  if (on_line) {
    line->flags[line->flag_count++] = flag;
    line->flags[line->flag_count++] = value;
  } else {
    char *end = add(add(texts->called + strlen(texts->called), " "), flag);
    add(add(end, " "), value);
  }
}

static bool answer(struct drop_in *line, const char *what) {
  line->flags[line->flag_count++] = what;
  return false;
}

/* This and the next two return false where there is nothing to start. */
static bool read_tini(struct drop_in *line, struct options *o, char *const *env, struct line_texts *texts) {
  static const char levels[][6] = {"error", "warn", "info", "debug"};
  bool to_group = value_of(env, "TINI_KILL_PROCESS_GROUP="), group_flag = false;
  bool made_zero[256] = {false};
  const char *verbosity = value_of(env, "TINI_VERBOSITY=");
  int adopts = 0; /* exec keeps the setting of the program before: prctl(2) */
  prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0);
  line->subreaper = adopts || value_of(env, "TINI_SUBREAPER=");
  int level = verbosity ? number_at(&verbosity) : 1, louder = 0;
  if (level < 0) level = 0;
  if (o->argc == 2 && strcmp(o->argv[1], "--version") == 0) return answer(line, "version");
  for (int letter; (letter = next_option(o, "p:hvwgle:s", false)) != NO_MORE;) {
    if (letter == 's') line->subreaper = true;
    else if (letter == 'v') louder++;
    else if (letter == 'g') group_flag = true;
    else if (letter == 'w') line->reports_reaped = true;
    else if (letter == 'e') {
      int code = exit_code_of(o->value);
      if (code < 0) return refuse_value(o, ": write an exit code from 0 to 255");
      made_zero[code] = true;
    } else if (letter == 'p') {
      line->parent_death = parent_signal_of(o->value);
      if (line->parent_death == 0) return refuse_value(o, ": write a signal such as SIGTERM");
    } else if (letter == 'h') return answer(line, "help");
    else if (letter == 'l') return answer(line, "license");
    else return false;
  }
  level = level + louder < 3 ? level + louder : 3;
  line->first_only = !to_group && !group_flag;
  line->misses_orphans = level > 0 && !line->subreaper && getpid() != 1;
  give(line, texts, group_flag, "--signal-to", line->first_only ? "first" : "group");
  give(line, texts, louder > 0, "--log-level", levels[level]);
  char *end = texts->list;
  for (int code = 0; code <= 255; code++)
    if (made_zero[code]) end = add(put_digits(end, (uint64_t)code, 1), "=0,");
  line->unattended = level <= 1 && end == texts->list;
  if (end == texts->list) return true;
  end[-1] = 0;
  give(line, texts, true, "--exit-code", texts->list);
  return true;
}

static bool read_dumb_init(struct drop_in *line, struct options *o, char *const *env, struct line_texts *texts) {
  static const int from_terminal[] = {SIGTSTP, SIGTTIN, SIGTTOU};
  const char *session = value_of(env, "DUMB_INIT_SETSID="), *debug = value_of(env, "DUMB_INIT_DEBUG=");
  bool rewritten[MAX_SIGNAL + 1] = {false}, rewrites = false, single_flag = false, verbose = false;
  for (int letter; (letter = next_option(o, "hvVcr:", true)) != NO_MORE;) {
    if (letter == 'c') single_flag = true;
    else if (letter == 'v') verbose = true;
    else if (letter == 'r') {
      rewrites = true;
      if (!rewrite(line, rewritten, o->value))
        return refuse_value(o, ": write FROM:TO, two signal numbers up to 31, TO 0 to drop");
    } else if (letter == 'h') return answer(line, "help");
    else if (letter == 'V') return answer(line, "version");
    else return false;
  }
  line->first_only = single_flag || (session && strcmp(session, "0") == 0);
  line->unattended = !verbose && (!debug || strcmp(debug, "1") != 0);
  /* In a session of its own no shell continues what these stop, and it may not ignore them: they go on as STOP. */
  for (int i = 0; i < 3 && !line->first_only; i++) {
    if (!rewritten[from_terminal[i]]) line->forward[from_terminal[i]] = SIGSTOP;
    rewritten[from_terminal[i]] = true;
  }
  if (line->first_only) give(line, texts, single_flag, "--signal-to", "first");
  give(line, texts, verbose, "--log-level", line->unattended ? "warn" : "debug");
  char *end = texts->list;
  for (int from = 1; from <= 31; from++) {
    if (!rewritten[from]) continue;
    end = add(put_digits(end, (uint64_t)from, 1), ":");
    end = add(put_digits(end, line->forward[from], 1), ",");
  }
  if (end == texts->list) return true;
  end[-1] = 0;
  give(line, texts, rewrites, "--signals", texts->list);
  return true;
}

/* kubexit has no flags. */
static bool read_kubexit(struct drop_in *line, struct options *o, struct line_texts *texts) {
  const char *first = o->argc > 1 ? o->argv[1] : "";
  if (is_among(first, "--help -h")) return answer(line, "help");
  if (is_among(first, "--version -V")) return answer(line, "version");
  if (strcmp(first, "--") == 0) o->at++;
  give(line, texts, false, "--graveyard", "/graveyard");
  return true;
}

/* Cuts the user's words. A question mark stands for what a terminal may not show. */
static const char *refusal_of(const struct options *o, const char *program, char *text) {
  const char *quote = o->wrong_value ? "\"" : "", *value = o->wrong_value ? o->wrong_value : "";
  const char *const parts[] = {"cannot start as ", program, ": ", o->wrong, o->wrong_value ? " " : "", quote, value,
                               quote, o->remedy, "; ", program, " -h names what it takes"};
  char *at = text;
  for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
    for (int i = 0; i < MAX_SHOWN && parts[part][i]; i++, at++) {
      *at = parts[part][i];
      if (*at < ' ' || *at > '~') *at = '?';
    }
  *at = 0;
  return text;
}

struct drop_in read_drop_in(const struct inherited *in) {
  static struct line_texts texts;
  struct options o = {.argv = in->argv, .argc = in->argc, .at = 1, .cluster = "", .name = "-"};
  struct drop_in line = {.as = in->argc > 0 ? name_called(in->argv[0]) : AS_SEXTON, .subreaper = true, .rest = 1};
  bool starts = false;
  forward_all(&line);
  if (line.as == AS_SEXTON) return line;
  add(add(texts.called, "SEXTON_INIT_AS="), programs[line.as]);
  line.called = texts.called;
  if (line.as == AS_TINI) starts = read_tini(&line, &o, in->env, &texts);
  else if (line.as == AS_DUMB_INIT) starts = read_dumb_init(&line, &o, in->env, &texts);
  else starts = read_kubexit(&line, &o, &texts);
  if (line.as == AS_DUMB_INIT) line.subreaper = false;
  if (line.as != AS_KUBEXIT) give(&line, &texts, false, "--log-format", "text");
  line.plain = line.as != AS_KUBEXIT && !is_configured(in->env);
  const char *level = value_of(in->env, "SEXTON_LOG_LEVEL=");
  line.unattended = line.unattended && line.plain && (!level || logs_little(level));
  line.misses_orphans = line.misses_orphans && (!level || !is_among(level, "error silent"));
  if (starts && o.at >= in->argc) refuse_option(&o, "no command is given", NULL, "");
  if (o.wrong) line.refusal = refusal_of(&o, programs[line.as], texts.list);
  line.rest = in->argc;
  if (!starts || o.wrong) return line;
  line.command = line.rest = o.at;
  line.flags[line.flag_count++] = "--";
  return line;
}

static void tell_word(const char *word) {
  if (write(STDOUT_FILENO, word, strlen(word) + 1) == -1) _exit(EXIT_OWN_ERROR);
}

void tell_drop_in(const struct inherited *in) {
  struct drop_in line = read_drop_in(in);
  if (line.command == 0) _exit(0);
  tell_word(line.called + strlen("SEXTON_INIT_AS="));
  for (int i = 0; i < line.flag_count; i++) tell_word(line.flags[i]);
  for (int i = line.rest; i < in->argc; i++) tell_word(in->argv[i]);
  _exit(0);
}
