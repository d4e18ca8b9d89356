/*
 * The command lines of tini, dumb-init and kubexit, which init replaces under their names. Init reads only what
 * must not wait for the supervisor: where the command is, and how each signal is passed on to it. The supervisor reads
 * the whole line: `src/config/dropin/dropin.ts`.
 */
#include <sys/prctl.h>

#include "start.h"

static enum called_as name_called(const char *name) {
  const char *slash = strrchr(name, '/');
  if (slash) name = slash + 1;
  /* Both also come as tini-static-amd64 and dumb-init_1.2.5_x86_64. */
  if (strcmp(name, "tini") == 0 || starts_with(name, "tini-")) return AS_TINI;
  if (strcmp(name, "dumb-init") == 0 || starts_with(name, "dumb-init_")) return AS_DUMB_INIT;
  return strcmp(name, "kubexit") == 0 ? AS_KUBEXIT : AS_SEXTON;
}

/* A position in the words, and the value of the last option. */
struct options {
  char *const *argv;
  int argc, at;
  const char *cluster, *value;
};

enum { NO_MORE = 0, WRONG = '?' };

static int with_value(struct options *o, int letter, bool takes, const char *joined) {
  if (!takes) return joined ? WRONG : letter;
  o->value = joined ? joined : o->at < o->argc ? o->argv[o->at++] : NULL;
  return o->value ? letter : WRONG;
}

/* A long option of dumb-init, or the beginning of its name, as the letter of its short twin: getopt_long(3). */
static int next_long(struct options *o, const char *text) {
  static const char *const names[] = {"help", "verbose", "version", "single-child", "rewrite"};
  const char *end = strchrnul(text, '=');
  size_t length = (size_t)(end - text);
  int found = -1;
  for (int i = 0; i < 5; i++) {
    if (strncmp(names[i], text, length) != 0) continue;
    if (found >= 0) return WRONG;
    found = i;
  }
  if (found < 0) return WRONG;
  return with_value(o, "hvVcr"[found], found == 4, *end ? end + 1 : NULL);
}

/* The letter of the next option as getopt(3) finds it, up to the first word that is none. */
static int next_option(struct options *o, const char *letters, bool has_long) {
  if (*o->cluster == 0) {
    const char *word = o->at < o->argc ? o->argv[o->at] : "";
    if (word[0] != '-' || word[1] == 0) return NO_MORE;
    o->at++;
    if (strcmp(word, "--") == 0) return NO_MORE;
    if (word[1] == '-') return has_long ? next_long(o, word + 2) : WRONG;
    o->cluster = word + 1;
  }
  const char *found = *o->cluster == ':' ? NULL : strchr(letters, *o->cluster);
  o->cluster++;
  if (!found) return WRONG;
  if (found[1] != ':') return *found;
  const char *joined = *o->cluster ? o->cluster : NULL;
  o->cluster = "";
  return with_value(o, *found, true, joined);
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

static bool is_exit_code(const char *text) {
  if (*text == 0) return true; /* tini takes it for 0 */
  int number = number_at(&text);
  return number >= 0 && number <= 255 && *text == 0;
}

static bool is_signal_name(const char *text) {
  return is_among(
      text,
      "SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM"
      " SIGTERM SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH"
      " SIGSYS");
}

/* Takes `15:3`; what follows is not looked at, as dumb-init does. */
static bool rewrite(struct drop_in *line, const char *text) {
  int from = number_at(&text);
  if (from < 1 || from > 31 || *text++ != ':') return false;
  int to = number_at(&text);
  if (to < 0 || to > 31) return false;
  if (from != SIGKILL && from != SIGSTOP && from != SIGCHLD) line->forward[from] = (uint8_t)to;
  return true;
}

static void forward_all(struct drop_in *line) {
  for (int number = 1; number <= MAX_SIGNAL; number++) line->forward[number] = (uint8_t)number;
  line->forward[SIGKILL] = line->forward[SIGSTOP] = line->forward[SIGCHLD] = 0;
}

/* This and the next one return false where there is nothing to start. */
static bool read_tini(struct drop_in *line, struct options *o, char *const *env) {
  line->first_only = !value_of(env, "TINI_KILL_PROCESS_GROUP=");
  int adopts = 0; /* exec keeps the setting of the program before: prctl(2) */
  prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0);
  line->subreaper = adopts || value_of(env, "TINI_SUBREAPER=");
  line->unattended = !value_of(env, "TINI_VERBOSITY=");
  for (int letter; (letter = next_option(o, "p:hvwgle:s", false)) != NO_MORE;) {
    if (letter == 's') line->subreaper = true;
    else if (letter == 'v') line->unattended = false;
    else if (letter == 'g') line->first_only = false;
    else if (letter == 'w') line->reports_reaped = true;
    else if (letter == 'e' && !is_exit_code(o->value)) return false;
    else if (letter == 'p' && !is_signal_name(o->value)) return false;
    else if (letter == 'h' || letter == 'l' || letter == WRONG) return false;
    if (letter == 'e' || letter == 'p') line->unattended = false;
  }
  /* Otherwise the supervisor says that orphans are not reaped. */
  if (!line->subreaper && getpid() != 1) line->unattended = false;
  return true;
}

static bool read_dumb_init(struct drop_in *line, struct options *o, char *const *env) {
  static const int from_terminal[] = {SIGTSTP, SIGTTIN, SIGTTOU};
  const char *session = value_of(env, "DUMB_INIT_SETSID=");
  bool rewritten[MAX_SIGNAL + 1] = {false};
  const char *debug = value_of(env, "DUMB_INIT_DEBUG=");
  line->first_only = session && strcmp(session, "0") == 0;
  line->unattended = !debug || strcmp(debug, "1") != 0;
  for (int letter; (letter = next_option(o, "hvVcr:", true)) != NO_MORE;) {
    if (letter == 'c') line->first_only = true;
    else if (letter == 'r') {
      const char *value = o->value;
      if (!rewrite(line, o->value)) return false;
      rewritten[number_at(&value)] = true;
    } else if (letter == 'v') line->unattended = false;
    else return false;
  }
  /* In a session of its own no shell continues what these stop, and it may not ignore them: they go on as STOP. */
  for (int i = 0; i < 3 && !line->first_only; i++)
    if (!rewritten[from_terminal[i]]) line->forward[from_terminal[i]] = SIGSTOP;
  return true;
}

struct drop_in read_drop_in(const struct inherited *in) {
  struct options o = {.argv = in->argv, .argc = in->argc, .at = 1, .cluster = "", .value = ""};
  struct drop_in line = {.as = in->argc > 0 ? name_called(in->argv[0]) : AS_SEXTON, .subreaper = true};
  bool starts = false;
  forward_all(&line);
  switch (line.as) {
    case AS_SEXTON:
      return line;
    case AS_TINI:
      starts = read_tini(&line, &o, in->env);
      break;
    case AS_DUMB_INIT:
      line.subreaper = false;
      starts = read_dumb_init(&line, &o, in->env);
      break;
    case AS_KUBEXIT:
      starts = in->argc <= 1 || !asks_for_information(in->argv[1]);
      if (in->argc > 1 && strcmp(in->argv[1], "--") == 0) o.at++;
      break;
  }
  line.plain = line.as != AS_KUBEXIT && !is_configured(in->env);
  const char *level = value_of(in->env, "SEXTON_LOG_LEVEL=");
  line.unattended = line.unattended && line.plain && (!level || logs_little(level));
  if (starts && o.at < in->argc) line.command = o.at;
  return line;
}
