/* The ends: what init does by itself when no supervisor can be started any more, and how it leaves. */
#ifndef SEXTON_ALONE_H
#define SEXTON_ALONE_H

struct init;

void go_on_alone(struct init *init);
/* Leaves when the child has ended: without a supervisor nothing else is waited for. To be called last in each turn. */
void leave_when_ended(struct init *init);
_Noreturn void leave(struct init *init, int code);

#endif
