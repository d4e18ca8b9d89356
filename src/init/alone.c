/*
 * The ends: what init does by itself when no supervisor can be started any more, and how it leaves.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

void signal_alone(struct init *init, struct event *event) {
  struct child *child = find_child(init, init->last_child);
  int number = event->value;
  if (!child) return;
  bool stops = init->fallback.stops >> (number - 1) & 1;
  if (stops) memset(init->once, 0, sizeof init->once);
  int as = stops ? init->fallback.signal : init->forward[number];
  /* For the supervisor that may come back after all: this one was passed on. */
  event->kind = EV_FORWARDED;
  event->as = (uint8_t)(as ? as : number);
  event->flag = stops;
  signal_child(init, child, event->as);
}

/* The last thing in each turn: while nobody decides, the end of the child is our own. */
void end_alone(struct init *init) {
  if (init->last_child == 0) leave(init, EXIT_OWN_ERROR);
  if (init->last_status >= 0) leave(init, init->last_status);
}

void go_on_alone(struct init *init) {
  init->alone = true;
  end_helpers(init); /* nobody waits for them, nor ends them in time */
  if (init->last_child == 0) refuse(init->in.env, "sexton: cannot start the supervisor: it died five times in a row; nothing was started\n", "", "");
  else say("sexton: cannot start the supervisor: it died five times in a row; the application goes on without it, and it is tried again\n", "", "");
  for (size_t i = 0; i < init->queued; i++)
    if (init->queue[i].kind == EV_SIGNAL) signal_alone(init, &init->queue[i]);
}

static bool kill_child(struct init *init, pid_t pid) {
  (void)init;
  return kill(pid, SIGKILL) == 0;
}

_Noreturn void leave(struct init *init, int code) {
  if (init->pid1) _exit(code); /* the kernel KILLs the rest of the PID namespace: pid_namespaces(7) */
  for (size_t i = 0; i < init->child_count; i++) signal_group(&init->children[i], SIGKILL);
  end_helpers(init);
  if (init->supervisor.pid > 0) kill(init->supervisor.pid, SIGKILL);
  take_terminal(init, init->terminal_owner);
  /* What dies leaves its own children to us, so once is not enough; a second is, unless the kernel itself is stuck. */
  for (int round = 0; round < 200; round++) {
    bool found = each_living_child(init, kill_child) > 0;
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) found = true;
    if (pid == -1 && errno == ECHILD) break;
    if (!found && round > 20) break; /* without /proc there is nobody that we could name */
    poll(NULL, 0, 5);
  }
  _exit(code);
}
