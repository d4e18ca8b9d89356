/* Starts the supervisor when that is due, reads its commits, and replaces it when it dies or hangs. */
#include "init.h"

enum {
  /* A short life may be a coincidence, and a hang takes long: each has its own weight until init goes on alone. */
  FAILED_START = 2,
  SHORT_LIFE = 1,
  HANG = 8,
  MAX_FAILURES = 10,
  FIRST_DELAY_MS = 50,
  MAX_DELAY_MS = 5000,
  MAX_PAUSE_MS = 60000,
};

bool read_commits(struct init *init) {
  enum outcome outcome;
  size_t at = 0;
  int code = 0;
  if (!receive_bytes(&init->connection)) return false;
  while ((outcome = apply_frame(init, &at, &code)) > BAD_FRAME) {
    if (outcome == EXIT) {
      announce_end(&init->liveness, init->self.host_id, ENDS);
      leave(init, code);
    }
    if (outcome != SLEEP) continue;
    read_signals(init);
    go_to_sleep(init);
  }
  if (outcome == NO_FRAME) drop_bytes(&init->connection, at);
  else say("sexton: the supervisor sent a frame that is not in the protocol; starting it again\n", "", "");
  return outcome == NO_FRAME;
}

/* A whole frame that it sent before its death is applied; a part of one is not. */
void on_supervisor_died(struct init *init, const char *why) {
  struct supervisor *supervisor = &init->supervisor;
  supervisor->pid = 0;
  /* One read takes all that a socket can hold. A leftover process may hold the socket open, so reads are bounded. */
  for (int reads = 0; reads < 4 && read_commits(init); reads++) continue;
  disconnect(&init->connection);
  leave_contacts(&init->contacts);
  if (has_gone_to_sleep(init)) return;
  int64_t now = now_ms();
  if (supervisor->committed) supervisor->gone_at = now;
  if (is_sound(supervisor)) {
    forgive_failures(supervisor);
    supervisor->heard_at = now;
  } else {
    int weight = supervisor->hangs ? HANG : supervisor->committed ? SHORT_LIFE : FAILED_START;
    supervisor->failures += init->alone ? 1 : weight;
    supervisor->why = supervisor->hangs ? "it hangs" : why;
  }
  if (supervisor->failures >= MAX_FAILURES) {
    if (!init->alone) {
      supervisor->failures = MAX_FAILURES;
      go_on_alone(init);
    }
    /* A lack of CPU may pass; a broken installation may not, and each start costs. */
    int pauses = supervisor->failures - MAX_FAILURES;
    supervisor->start_at = now + (pauses < 4 ? (int64_t)MAX_DELAY_MS << pauses : MAX_PAUSE_MS);
    return;
  }
  supervisor->start_at = now + supervisor->delay_ms;
  supervisor->delay_ms = supervisor->delay_ms == 0 ? FIRST_DELAY_MS : 2 * supervisor->delay_ms;
  if (supervisor->delay_ms > MAX_DELAY_MS) supervisor->delay_ms = MAX_DELAY_MS;
}

void start_due_supervisor(struct init *init) {
  if (init->supervisor.start_at > now_ms()) return;
  const char *why = start_supervisor(init);
  if (why) on_supervisor_died(init, why);
}

void end_hanging_supervisor(struct init *init) {
  if (!watch_supervisor(init)) return;
  say("sexton: the supervisor cannot be ended; starting another\n", "", "");
  init->supervisor.abandoned = init->supervisor.pid;
  on_supervisor_died(init, init->supervisor.why);
}
