/*
 * Children: the application's processes, each with a process group of its own. A signal to a child goes to its group,
 * also when the first process of that has ended and others are left; `first_only` changes that.
 */
#ifndef SEXTON_CHILDREN_H
#define SEXTON_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "queue.h"
#include "start.h"
#include "terminal.h"

/* A child whose process group is not known to be empty. */
struct child {
  uint64_t id;
  pid_t pid; /* and the number of its group */
  bool exited;
};

struct children {
  size_t count;
  uint64_t last_id;
  int last_status;     /* exit code of the last child; -1 while it lives */
  uint64_t first_only; /* the child of which only the first process is signalled; 0: none */
  int64_t check_at;    /* when to look again for groups that have become empty */
  struct child list[MAX_CHILDREN];
};

struct child *find_child(struct children *children, uint64_t id);
struct child *find_living_child(struct children *children, pid_t pid);
struct child *find_last_child(struct children *children);
/* Whether this process is a child, or in the group of one. */
bool is_childs(const struct children *children, pid_t pid, pid_t group);

void signal_group(const struct child *child, int number);
/* To the first process alone where that is wanted, else to the group. */
void signal_child(const struct children *children, const struct child *child, int number);

/* `argv` NULL: there was no memory for it. */
void spawn(struct children *children, struct terminal *terminal, struct queue *queue, const struct inherited *in,
           uint64_t id, char *const argv[]);
/* It ended or was stopped. */
void on_child_changed(struct children *children, struct terminal *terminal, struct queue *queue, struct child *child,
                      int status);
/*
 * Takes a child whose group has become empty off the list; its id, or 0: there is none. There is no event for that in
 * the kernel, so while a group is left init looks again at `check_at`.
 */
uint64_t take_gone_child(struct children *children);

#endif
