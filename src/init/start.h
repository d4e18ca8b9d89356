/*
 * What init decides before anything runs, by looking at its own command line, environment and directory: whether a
 * subcommand is run in the foreground, whether the application can be started at once, and how Node is to be started.
 */
#ifndef SEXTON_START_H
#define SEXTON_START_H

#include <stdbool.h>

enum { EXIT_OWN_ERROR = 125 };

/* What init was started with. Never changed: the application gets exactly this environment. */
struct inherited {
  int argc;
  char **argv, **env;
};

/* How Node is started. Lives in one mapping of its own for as long as init does. */
struct node_command {
  char **argv, **env;
};

/* `sexton status`, `sexton --help` and the like: Node in the place of init, with nothing to supervise. */
bool wants_foreground(const struct inherited *in);
/* Index of the application's first word when it may be started before the supervisor runs; else 0. */
int command_at_once(const struct inherited *in);
/* Finds Node and the bundle; when one of them is missing says so on stderr and returns false. */
bool find_node(struct node_command *node, const struct inherited *in, bool supervised);
/* As execvp(3), but a file without a known format is an error and not a shell script. Returns the errno. */
int exec_in_path(char *const argv[], char *const env[]);
bool starts_with(const char *text, const char *prefix);
/* One line on stderr, from up to three parts; dropped when stderr is stalled, because init never blocks. */
void say(const char *first, const char *second, const char *third);

#endif
