/* The ends: what init does by itself when no supervisor can be started any more, and how it leaves. */
#ifndef SEXTON_ALONE_H
#define SEXTON_ALONE_H

#include <stdint.h>

struct init;

void go_on_alone(struct init *init);
/* When init leaves although a supervisor may still come, as the platform's KILL is due; NEVER: it waits. */
int64_t leaves_at(const struct init *init);
/* Leaves when the child has ended, and no supervisor is there to record it. To be called last in each turn. */
void leave_without_supervisor(struct init *init);
_Noreturn void leave(struct init *init, int code);

#endif
