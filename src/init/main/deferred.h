/* The deferred supervisor: "What needs no supervisor" in protocol.md. */
#pragma once

struct init;

/* To be called before the command starts. It defers nothing where a later supervisor would know too little. */
void defer_supervisor(struct init *init);
/* Leaves when the command has ended and nothing is left to do, or starts the supervisor when it is needed. */
void attend_without_supervisor(struct init *init);
