/* The terminal: a child is in its foreground while it lives, if init was. */
#ifndef SEXTON_TERMINAL_H
#define SEXTON_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct terminal {
  uint64_t owner; /* id of the child that init has put into the foreground; 0: none */
};

/*
 * Whether init is in the foreground itself, so that it may give that away: a shell may have started it in the
 * background.
 */
bool holds_foreground(void);
void give_terminal(struct terminal *terminal, uint64_t id, pid_t group);
/* Takes it back from this child, if that has it. */
void take_terminal(struct terminal *terminal, uint64_t id);

#endif
