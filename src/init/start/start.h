/* What init decides before anything runs, from its own command line, environment and directory. */
#pragma once

#include "frame.h"

enum { EXIT_OWN_ERROR = 125, MAX_PATH_BYTES = 4096 };

/* The program that init replaces, by the name under which it was started. */
enum called_as { AS_SEXTON, AS_TINI, AS_DUMB_INIT, AS_KUBEXIT };

enum { MAX_DROP_IN_FLAGS = 7 };

/* What that program's own command line and variables ask of init and of the supervisor. */
struct drop_in {
  enum called_as as;
  int command;         /* index of the application's first word; 0: nothing to start, but help to print */
  const char *refusal; /* what is wrong with the line; NULL: nothing */
  bool plain;          /* no variable of sexton's asks for more than that program does: signals are only passed on */
  bool first_only;     /* signals go to the first process of the application, else to its group */
  bool subreaper;
  bool misses_orphans; /* has to say that orphans are not reaped */
  bool reports_reaped; /* says which orphans it reaps */
  bool unattended;     /* nothing is asked for that only a supervisor does */
  int parent_death;    /* the signal that init gets when its parent dies; 0: none */
  uint8_t forward[MAX_SIGNAL + 1]; /* as what each signal is passed on; 0: not at all */
  /* The words for the supervisor: sexton's flags, or what to print, and then those of argv from index `rest` on. */
  const char *flags[MAX_DROP_IN_FLAGS];
  int flag_count, rest;
  const char *called; /* for its environment: SEXTON_INIT_AS with the program's name and flags that others beat */
};

/* What the form of the command line and of the variables decides, before a supervisor looks at them. */
struct plain_form {
  int command;              /* index of the application's first word when it may be started at once; else 0 */
  bool forwards_first_stop; /* at once: there is neither a drain nor a graveyard, so a stop waits for nothing */
  int64_t grace_ms;         /* the declared grace period; NEVER: none */
  const char *why[2];       /* what needs a supervisor, and the value of that flag; else two empty texts */
};

/* What init was started with. The application gets exactly this environment. */
struct inherited {
  int argc;
  char **argv, **env;
  bool ignores_chld; /* and so does the application */
  char *pid_text;    /* in the environment, where the pid of the program has to stand; NULL: nowhere */
  int directory;     /* the working directory of the application; 0: that of init */
  struct drop_in drop_in;
  struct plain_form form;
};

/* How Node is started. Lives in one mapping of its own for as long as init does. */
struct node_command {
  char **argv, **env;
  bool anywhere; /* found by absolute paths, so that the working directory does not matter */
  char **words;  /* the bundle and the words for the supervisor, at the end of argv */
  int count;     /* how many words there are */
  const char *lacks[3]; /* what is missing, as say() takes it; the first is NULL: nothing */
};

/* dropin.c */
struct drop_in read_drop_in(const struct inherited *in);
/*
 * By the name `sexton-line`: prints what the supervisor gets for this command line of another program, each word ended
 * by NUL. It prints nothing for a line of sexton's own or one that starts nothing.
 */
_Noreturn void tell_drop_in(const struct inherited *in);

/* The value of `variable`, which ends with `=`; NULL: it is not set. */
const char *value_of(char *const *env, const char *variable);
/* `sexton status`, `sexton --help` and the like: Node replaces init, as there is nothing to supervise. */
bool wants_foreground(const struct inherited *in);
bool asks_for_information(const char *word);
/* Whether a variable SEXTON_* is set other than those that only say how to log and which pod this is. */
bool is_configured(char *const *env);
/* Whether only warnings and errors are to be logged. */
bool logs_little(const char *level);
struct plain_form read_plain_form(const struct inherited *in);

/* What the evidence of a plain command says of it, and how it would log. */
struct plain_words {
  char name[64];
  const char *session; /* NULL: none */
  int64_t grace_ms;    /* NEVER: none */
  bool logs_text;
};

struct plain_words read_plain_words(const struct inherited *in);
/* By the name `sexton-plain`: prints what needs a supervisor for this command line, as `sexton explain` asks. */
_Noreturn void tell_why_supervised(const struct inherited *in);
/* Finds Node and the bundle, or fills `lacks`. */
void find_node(struct node_command *node, const struct inherited *in, bool supervised);
/*
 * As execvp(3) with the inherited environment, and returns the errno. It runs a file without a known format as a shell
 * script only where init replaces a program that does so.
 */
int exec_in_path(const struct inherited *in, char *const argv[]);
/* The value of PATH; where there is none, the default of execvp(3). */
const char *search_path(char *const *env);
/*
 * The next place in `path` to look for the file, in `out`; false after the last one. Places that are too long are
 * skipped.
 */
bool next_place(const char **path, const char *file, char out[MAX_PATH_BYTES]);
/*
 * Makes this text the content of the termination log. What the application has written there stays, without the line of
 * sexton before it. While its message `may_grow`, the descriptor is one that appends, and an empty file alone is written.
 * False: the file cannot be written.
 */
bool leave_message(int fd, const char *text, size_t length, bool may_grow);
/* Says why nothing will be started, as say() does; where this is PID 1 also in the termination log. */
void refuse(char *const *env, const char *first, const char *second, const char *third);
/* Says that the application has ended and no supervisor has recorded it, and why; in the termination log, too. */
void leave_end(char *const *env, const char *why, int status, int code);
