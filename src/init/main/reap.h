/*
 * Everything that has ended is reaped here: children, helpers, the supervisor, and the orphans that init has adopted.
 */
#ifndef SEXTON_REAP_H
#define SEXTON_REAP_H

struct init;

void reap(struct init *init);
/* Reports each child whose group has become empty. */
void report_gone_children(struct init *init);

#endif
