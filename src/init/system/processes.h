/*
 * Processes as the kernel shows them: signals to them, and which of them are init's children, from /proc and wait(2).
 */
#ifndef SEXTON_PROCESSES_H
#define SEXTON_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Signals a pid, or the group of a negative one. Where the signal asks for an end, what is stopped is continued. */
void signal_target(pid_t target, int number);
/* Visits each child of init that is no zombie, and returns for how many `visit` returned true. None without /proc. */
size_t visit_living_children(bool (*visit)(void *with, pid_t pid), void *with);

#endif
