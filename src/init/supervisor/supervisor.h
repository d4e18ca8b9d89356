/*
 * The supervisor's life: its start, its connection, the watchdog, its sleep, and the directory of the members, which
 * init watches for it. Init trusts a supervisor while that keeps to the protocol.
 */
#pragma once

#include "queue.h"
#include "system.h"

struct init;

struct watch {
  int64_t due;                  /* when the supervisor has promised its next commit */
  int64_t looked_at;            /* the last turn of the watchdog; NEVER: no commit is owed */
  int64_t idle_ms;              /* for so long it has owed one without using the CPU */
  int64_t first_cpu_ns, cpu_ns; /* its CPU time at the first and at the last turn */
  int64_t abandon_at;           /* it was KILLed: another starts then, even if this one is not reaped */
};

struct supervisor {
  pid_t pid;       /* 0: none runs */
  pid_t abandoned; /* one that was KILLed and could not be reaped yet; 0: none */
  bool committed;
  bool hangs;        /* it was KILLed for that */
  bool is_deferred;  /* it is not started before it is needed: deferred.h */
  int64_t oom_kills; /* in this container before the command was started; -1: not counted */
  int64_t started_at, start_at; /* start_at: when to start the next one */
  int64_t heard_at;             /* the last sign of a sound one */
  int64_t gone_at;              /* since when none runs, or none that has committed */
  int64_t delay_ms;
  int failures;    /* since one was sound */
  bool lacks_room; /* the memory of the command left the last one none */
  const char *why; /* why the last one failed */
  char ended[16];  /* how the last one ended, for the log; empty: it went to sleep, or there was none */
  int killed;      /* how many a KILL has ended since the last commit, without those that hung */
  struct watch watch;
};

/* Returns NULL, or what prevents the start. */
const char *start_supervisor(struct init *init);
/* The next start is not delayed by failures before. */
void forgive_failures(struct supervisor *supervisor);
/* To be called for each commit. */
void on_commit(struct supervisor *supervisor);
void kill_supervisor(struct supervisor *supervisor);
/* Whether it is sound: it has committed, does not hang, and has lived for a while. */
bool is_sound(const struct supervisor *supervisor);
/* Since when no supervisor acts; NEVER: one does, or owes nothing. */
int64_t supervisor_gone_at(const struct init *init);
/* The same, but during a series of short lives the time at which a sound supervisor was last heard. */
int64_t supervisor_lost_at(const struct init *init);
/* KILLs a supervisor that hangs; true when one that was KILLed long ago is to be abandoned. */
bool watch_supervisor(struct init *init);
/* When that has to be called next. */
int64_t next_watch(const struct init *init);


/* connection.c */
enum { MAX_IN_BYTES = FRAME_HEADER_BYTES + MAX_FRAME_BYTES };

struct connection {
  int fd; /* -1: there is none */
  size_t in_used, out_at, out_used;
  char *in, *out; /* MAX_IN_BYTES, MAX_HELLO_BYTES */
};

void disconnect(struct connection *connection);
/* Reads once, so that a supervisor that never stops talking delays no signal. False at the end of the connection. */
bool receive_bytes(struct connection *connection);
/* Drops the first of the received bytes. */
void drop_bytes(struct connection *connection, size_t count);
bool has_unsent(const struct connection *connection, const struct queue *queue);
/* Sends what the socket takes now. The reading side finds the end of the connection. */
void send_events(struct init *init);

/* directory.c */
enum { MAX_KNOWN = 512, MAX_NEWS_BYTES = 4096 };

/* A file as the last look has found it. */
struct known {
  uint64_t name, stamp; /* hashes: of the name; of what changes with the file, never 0 */
  uint32_t look;
  bool is_quiet;
};

struct directory {
  int fd;             /* -1: none is watched */
  int inotify;        /* where there is no dnotify; else -1. It is polled unless `has_changed` */
  bool has_changed;   /* there may be changes since the last look */
  int64_t paid_until; /* CLOCK_MONOTONIC in milliseconds: the time that the looks until now may take */
  uint32_t look;
  size_t count; /* how many are known */
  struct known *known;
  char *names;      /* the own name, the quiet ones, and an empty one */
  uint64_t answers; /* the number of a `watch` that is not answered; 0: none */
  int error;        /* the errno with which that has failed, or 0 */
  bool has_all;     /* more has changed than `news` can hold */
  size_t news_length;
  char *news; /* names that are not yet reported to the supervisor, each with its NUL */
};

/* Gets the name of a file that has changed or come; an empty name stands for any change. */
typedef void change_visitor(void *with, const char *name, bool is_quiet);

/* Watches this directory as it is now, in place of the one before. Returns 0 or an errno. */
int watch_directory(struct directory *directory, const char *path);
void forget_directory(struct directory *directory);
/* When to look next: a neighbor that changes files without end must not use up the CPU. */
int64_t next_look(const struct directory *directory);
void look_at_directory(struct directory *directory, change_visitor *report, void *with);
/* Encodes the next frame of news for the supervisor; 0: there is none. */
size_t encode_news(struct directory *directory, char *out);

/* contacts.c */
enum {
  MAX_CONTACTS = MAX_CONNECTIONS + MAX_MAINS, /* a main may be on the list no more */
  NOTICE_BYTES = 40,
};

/* A connection to the liveness socket of a peer. It goes when none of the first three is true. */
struct contact {
  bool is_listed;  /* by this supervisor */
  bool is_left;    /* listed by one before it */
  bool is_main;    /* the row `mains` waits for its notice or end */
  bool is_news;    /* this supervisor does not know its state yet */
  bool has_spoken; /* `notice` has its first bytes, and the others stay unread */
  int fd;          /* -1: it is over, or never was */
  int error;       /* why, an errno */
  char notice[NOTICE_BYTES];
  char host_id[HOST_ID_BYTES]; /* where it is a main */
  char path[MAX_SOCKET_PATH_BYTES + 1];
};

struct contacts {
  size_t count;
  struct contact *places; /* MAX_CONTACTS */
};

/* Connects to these sockets, keeps the connections that there are, and lets go of those that this supervisor drops. */
void set_contacts(struct contacts *contacts, const struct operation *op);
/* NULL: there is none. */
struct contact *find_contact(struct contacts *contacts, const char *path);
/* To be called when the supervisor is gone: the next one finds its connections. */
void leave_contacts(struct contacts *contacts);
/* Lets go of the connections that supervisors before this one have left. */
void forget_left_contacts(struct contacts *contacts);
/* Lets go of the connections that are of no more use. */
void drop_contacts(struct contacts *contacts);
/* Connects again where bytes were read, so that the next ones count. */
void renew_contact(struct contact *contact);
/* Puts the connections into `polled` from `at` on, and returns where these end. */
size_t poll_contacts(const struct contacts *contacts, struct pollfd *polled, size_t at);
/* To be called before anything else changes the connections; true: one has spoken or ended. */
bool take_polled_contacts(struct contacts *contacts, const struct pollfd *polled);
/* Whether this supervisor knows of each end, and nothing has come since the last poll. */
bool are_contacts_calm(struct contacts *contacts);
/* Encodes the next frame of news; 0: there is none. */
size_t encode_contact(struct contacts *contacts, char *out);

/* sleep.c */
struct sleep {
  bool has_fired;  /* something that is watched has changed, or cannot be watched */
  int64_t fired_at;
  bool is_asked; /* a hidden file has changed: a socket, or a request for this member */
  bool is_asleep;  /* no supervisor runs until something happens */
  bool is_parting; /* the supervisor was KILLed for its sleep, and is not reaped yet */
  bool makes_room; /* it was ended for its memory, which the command may need to stop */
  int shown; /* the file whose lock shows the sleep; -1: there is none */
  char why[MAX_WHY_BYTES + 1]; /* what has fired first, for the log of the next supervisor */
};

/* Watches this directory in place of the one before, and the contacts from now on. What cannot be watched has fired. */
void watch(struct init *init, const struct operation *op);
/* Looks at the directory if that is due. */
void look_when_changed(struct init *init);
/* Locks this file until the supervisor wakes or its sleep is refused: readers of /proc/locks see the sleep. */
void show_asleep(struct sleep *sleep, const char *path);
/* Ends the supervisor if nothing has happened that it does not know; else forgets what is watched. */
void go_to_sleep(struct init *init);
/* When a sleeping supervisor has to be started; NEVER: it is awake, or has set no time. */
int64_t wakes_at(const struct init *init);
/*
 * Call this before a stop signal. Where memory is short it ends the supervisor, so that the command can use its memory.
 * The next supervisor starts when the command has ended, shortly before the last one would have been due, or at
 * `back_at`, whichever comes first.
 */
void make_room(struct init *init, int64_t back_at);
/* Starts a supervisor when something has happened. A row `end` covers the events in the queue until `until`. */
void wake_when_needed(struct init *init, int64_t until);
void wake(struct init *init, const char *why);
/* To be called when the supervisor is gone; true: it sleeps. */
bool has_gone_to_sleep(struct init *init);
/* Takes what the poll has found of the contacts, before a commit can change them. */
void take_contacts(struct init *init, const struct pollfd *polled);

/* liveness.c */
enum { MAX_PEERS = 512 };

struct liveness {
  int listener; /* -1: there is none */
  size_t count, limit;
  int64_t accept_at; /* out of descriptors until then; NEVER: not so */
  int *peers;        /* their connections */
};

/* Listens at this path, and follows no link in the place of its directory. */
void listen_at(struct liveness *liveness, const char *path);
/* Puts the listener at `polled[at]` and the connections behind it, and returns where these end. */
size_t poll_peers(const struct liveness *liveness, struct pollfd *polled, size_t at);
/* Takes this many connections behind `polled[at]`, and then the listener. */
void take_polled_peers(struct liveness *liveness, const struct pollfd *polled, size_t at, size_t count);
/* A notice on a liveness socket is `dead`, the host id, how the command has ended, and a line end. */
enum { ENDS = '0', ENDS_FOR_GOOD = '1', ENDS_AS_ASKED = '2' };

void make_notice(char notice[NOTICE_BYTES], const char *host_id, int how);
/* Sends the notice to every connection that takes it at once. Peers heed the first one only. */
void announce_end(const struct liveness *liveness, const char *host_id, int how);
