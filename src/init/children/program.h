/* Starts a program by fork and exec, and says at once why it could not be started. */
#ifndef SEXTON_PROGRAM_H
#define SEXTON_PROGRAM_H

#include <sys/types.h>

#include "start.h"

/*
 * Returns an errno, or 0. In the new process `prepare(with)` is called before all else; it returns an errno or 0 as
 * well. The program is looked up in PATH and gets the environment, the mask and the ignored signals that init was
 * started with.
 */
int start_program(const struct inherited *in, char *const argv[], int (*prepare)(int), int with, pid_t *pid);

#endif
