/* How init goes on when no supervisor can be started, and how it leaves. */
#include <sys/wait.h>

#include "init.h"

/*
 * A supervisor's time to record an end. Init leaves AHEAD_MS or a part of the grace period before the platform's KILL, for
 * its exit code. On a busy node init itself may get little CPU.
 */
enum { RECORD_MS = 2000, AHEAD_MS = 300, AHEAD_PART = 4, REST_MS = 30000 };

void go_on_alone(struct init *init) {
  init->alone = true;
  end_all_helpers(&init->helpers); /* no supervisor ends them in time */
  static const char cannot[] = "sexton: cannot start the supervisor: ";
  if (init->children.last_id == 0) refuse(init->in.env, cannot, init->supervisor.why, "; nothing was started\n");
  else say(cannot, init->supervisor.why, "; the application goes on without it, and it is tried again\n");
  forward_queued(init);
}

int64_t leaves_at(const struct init *init) {
  if (init->children.last_status < 0 || init->supervisor.is_deferred) return NEVER;
  if (init->alone && init->own_stop.rest_at != NEVER) return init->own_stop.rest_at;
  /* One that dies soon after each start records nothing. */
  int64_t gone_at = init->supervisor.failures > 0 ? supervisor_lost_at(init) : supervisor_gone_at(init);
  int64_t ends_at = platform_ends_at(init);
  if (ends_at == NEVER || gone_at == NEVER) return NEVER;
  /* After a late end, a supervisor whose predecessor failed gets half of the time left. */
  int64_t half = (ends_at - init->children.ended_at) / 2;
  /* Processes that the command has left behind may use all of the grace period. */
  int64_t grace = init->children.child.id > 0 ? NEVER : grace_ms(&init->orders);
  int64_t ahead = grace == NEVER || grace / AHEAD_PART < AHEAD_MS ? AHEAD_MS : grace / AHEAD_PART;
  ends_at -= half < 0 ? 0 : half < ahead ? half : ahead;
  return ends_at > gone_at + RECORD_MS ? ends_at : gone_at + RECORD_MS;
}

/* Sends TERM to what the command has left behind, unless a stop signal was sent. False: its time is over. */
static bool stop_rest(struct init *init) {
  if (init->own_stop.rest_at == NEVER) {
    init->own_stop.rest_at = now_ms() + REST_MS;
    continue_rung(init, init->rung.signal > 0 ? init->rung.signal : SIGTERM, NEVER, NEVER);
  }
  return is_ahead(init->own_stop.rest_at);
}

void leave_without_supervisor(struct init *init) {
  const struct children *children = &init->children;
  if (init->alone && children->last_id == 0) leave(init, EXIT_OWN_ERROR);
  const struct child *rest = find_last_child(&init->children);
  bool late = leaves_at(init) <= now_ms();
  if (children->last_status < 0 || (!init->alone && !late)) return;
  if (init->supervisor.lacks_room && !late) {
    /* Without the memory of the command a supervisor can record the end, and restart the command by its policy. */
    if (rest) return begin_rung(init, SIGKILL, NEVER, NEVER);
    init->alone = init->supervisor.lacks_room = false;
    forgive_failures(&init->supervisor);
    init->supervisor.start_at = now_ms();
    return;
  }
  if (rest && !late && stop_rest(init)) return;
  if (!init->node.lacks[0]) leave_end(init->in.env, init->supervisor.why, children->last_status, exit_code(init));
  announce_end(&init->liveness, init->self.host_id, ENDS);
  leave(init, exit_code(init));
}

static bool kill_process(void *found, pid_t pid) {
  if (kill(pid, SIGKILL) == 0) *(bool *)found = true;
  return true;
}

_Noreturn void leave(struct init *init, int code) {
  if (init->self.is_pid1) _exit(code); /* the kernel KILLs the rest: pid_namespaces(7) */
  if (init->children.child.id > 0) signal_group(init->children.child.pid, SIGKILL);
  end_all_helpers(&init->helpers);
  if (init->supervisor.pid > 0) kill(init->supervisor.pid, SIGKILL);
  take_terminal(&init->children, init->children.foreground);
  /* A dead process leaves its children to init, so init repeats this for a second, unless all are gone sooner. */
  for (int round = 0; round < 200; round++) {
    bool found = false;
    pid_t pid;
    visit_children(init->self.pid, kill_process, &found);
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) found = true;
    if (pid == -1 && errno == ECHILD) break;
    if (!found && round > 20) break; /* without /proc init cannot see what is left */
    poll(NULL, 0, 5);
  }
  _exit(code);
}
