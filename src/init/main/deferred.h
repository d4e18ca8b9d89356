/*
 * The deferred supervisor. Where init alone can do all that is asked of it, as for a plain command without a graveyard
 * and under the names tini and dumb-init, it starts a supervisor only when there is something to decide or to tell.
 * Such a supervisor finds in the queue what has happened so far.
 */
#ifndef SEXTON_DEFERRED_H
#define SEXTON_DEFERRED_H

struct init;

/* Before the command is started. Not where there is Node and would be too little to tell the supervisor later. */
void defer_supervisor(struct init *init);
/* Leaves when the command has ended and nothing is left to do, or starts the supervisor when it is needed. */
void attend_without_supervisor(struct init *init);

#endif
