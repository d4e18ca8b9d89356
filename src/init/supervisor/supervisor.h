/* The supervisor: started, believed while it keeps to the protocol, watched, and started again when it dies. */
#ifndef SEXTON_SUPERVISOR_H
#define SEXTON_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct init;

struct watch {
  int64_t due;                  /* when its next commit is to come, by its own word */
  int64_t looked_at;            /* the last look while it owes a commit; NEVER: it owes none */
  int64_t idle_ms;              /* it has owed one for so long without using the CPU */
  int64_t first_cpu_ns, cpu_ns; /* the CPU time that it had used at the first and at the last of these looks */
  int64_t abandon_at;           /* it was KILLed: then another is started, whether this one is reaped or not */
};

struct supervisor {
  pid_t pid;       /* 0: none runs */
  pid_t abandoned; /* one that was KILLed and could not be reaped yet; 0: none */
  bool committed;
  bool hangs; /* it was KILLed for that */
  bool is_deferred; /* it is not started before it is needed: deferred.h */
  int64_t oom_kills; /* in this container before the command was started; -1: not counted */
  int64_t started_at, start_at; /* start_at: when to start the next one */
  int64_t heard_at; /* the last sign of one that has proven to be sound */
  int64_t gone_at;  /* since when none runs, or none that has committed */
  int64_t delay_ms;
  int failures; /* since one was sound: see FAILED_START */
  const char *why;   /* what stood in the way of the last one */
  struct watch watch;
};

void start_supervisor(struct init *init);
/* To be called for each commit. */
void on_commit(struct supervisor *supervisor);
void kill_supervisor(struct supervisor *supervisor);
/* Applies what it has sent; false at the end of the connection, and when a frame is wrong. */
bool read_commits(struct init *init);
/* `why`: of its death, or what has stood against its start. */
void on_supervisor_died(struct init *init, const char *why);
/* Forgets one that was KILLed and is not reaped, and has another started in its place. */
void abandon_supervisor(struct init *init);

/* Since when none acts; NEVER: one does, or owes nothing. */
int64_t supervisor_gone_at(const struct init *init);
/* The same, but while lives are short the time at which the last sound one was heard. */
int64_t supervisor_lost_at(const struct init *init);

/* watchdog.c */
/* Since when it owes a commit; NEVER: it owes none. */
int64_t owes_since(const struct init *init);
/* Ends and replaces a supervisor that hangs. */
void watch_supervisor(struct init *init);
/* When that has to be called next. */
int64_t next_watch(const struct supervisor *supervisor);

#endif
