/* Signals that init receives: read from a signalfd, passed on to the child, or queued for the supervisor. */
#include <sys/signalfd.h>

#include "init.h"

/* Under the names of other programs no signal is a stop request, but what is left of one does not get TERM twice. */
static void pass_on_signal(struct init *init, struct event *event, bool from_terminal) {
  bool stops = is_stop(&init->orders, event->value) || (init->in.drop_in.plain && event->as == SIGTERM);
  /* The hang-up of a terminal is no reload. */
  if (event->value == SIGHUP && from_terminal) return signal_group(init->children.child.pid, event->as);
  if (!stops) return signal_program(init, event->as);
  begin_own_rung(init, event->as);
  event->count = take_receiver(init);
}

/* Passes the signal on by this row's table, and turns its event into a record of that. */
static bool forward(struct init *init, enum when when, struct event *event) {
  const struct orders *orders = &init->orders;
  uint8_t as = (when == ON_FIRST ? orders->first : orders->each)[event->value];
  if (!find_child(&init->children, orders->child) || !as) return false;
  bool from_terminal = event->flag;
  event->kind = EV_ORDERED;
  event->row = (uint8_t)when;
  event->id = orders->child;
  event->as = as;
  event->flag = false;
  pass_on_signal(init, event, from_terminal);
  return true;
}

static bool has_passed_on_stop(const struct queue *queue) {
  for (size_t i = 0; i < queue->count; i++)
    if (is_passed_on(&queue->events[i]) && queue->events[i].flag) return true;
  return false;
}

/*
 * Without a supervisor a signal that has no row goes on as it came. orders.c sends the first stop request later, timed
 * from its event.
 */
static void forward_alone(struct init *init, struct event *event) {
  const struct child *child = find_last_child(&init->children);
  int number = event->value;
  if (!child) return;
  bool stops = is_stop(&init->orders, number);
  bool first = init->own_stop.child != child->id || !has_unacknowledged_stop(init);
  /* A person means each interrupt. */
  bool from_terminal = event->flag, again = from_terminal && has_passed_on_stop(&init->queue);
  if (stops && first && !again) return;
  /* A supervisor that comes back learns that this one was passed on. */
  event->kind = EV_ORDERED;
  event->row = ON_EACH;
  event->id = child->id;
  event->as = (uint8_t)number;
  event->flag = stops;
  pass_on_signal(init, event, from_terminal);
}

void forward_queued(struct init *init) {
  struct queue *queue = &init->queue;
  for (size_t i = 0; i < queue->count; i++) {
    struct event *event = &queue->events[i];
    if (event->kind != EV_SIGNAL) continue;
    bool stops = is_stop(&init->orders, event->value);
    if (stops && !event->flag) continue;
    if (stops || !forward(init, ON_EACH, event)) forward_alone(init, event);
  }
}

static void on_signal(struct init *init, const struct signalfd_siginfo *info) {
  struct children *children = &init->children;
  int number = (int)info->ssi_signo;
  bool from_terminal = info->ssi_code == SI_KERNEL;
  if (number == SIGCHLD) return; /* the loop reaps, whatever it says */
  if (!from_terminal && (pid_t)info->ssi_pid == init->self.pid) return;
  const struct child *child = find_last_child(children);
  bool runs = child && !child->exited;
  /* The kernel sends it to the child in the foreground. */
  if (from_terminal && number == SIGWINCH && (!runs || children->foreground != 0)) return;
  if (number == SIGCONT && runs && children->foreground == 0) give_terminal(children, child);
  bool stops = is_stop(&init->orders, number);
  struct event event = {.kind = EV_SIGNAL, .value = number, .pid = (int32_t)info->ssi_pid, .flag = from_terminal};
  if (!has_unacknowledged_stop(init) && forward(init, ON_FIRST, &event)) {
    memset(init->orders.first, 0, sizeof init->orders.first);
    event.flag = true; /* this is the only record, so it is never dropped */
  } else if (!(from_terminal && stops) && forward(init, ON_EACH, &event)) {
    event.flag = stops;
  } else if (init->alone) {
    forward_alone(init, &event);
  }
  /* A deferred supervisor has nothing to decide about a signal that was passed on. */
  if (!init->supervisor.is_deferred || event.kind != EV_ORDERED || event.flag) push(&init->queue, event);
  /* As dumb-init does, for the shell that waits for it. The kernel does not stop PID 1. */
  bool stops_job = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
  if (stops_job && init->in.drop_in.as == AS_DUMB_INIT) kill(init->self.pid, SIGSTOP);
}

/* The lowest numbers come first, so that a flood of real-time signals hides no stop request: sigwaitinfo(2). */
void read_signals(struct init *init) {
  struct signalfd_siginfo infos[32];
  ssize_t n = read(init->signals, infos, sizeof infos);
  for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *infos; i++) {
    on_signal(init, &infos[i]);
    if (infos[i].ssi_signo == SIGCHLD) init->has_to_reap = init->directory.has_changed = true;
  }
}
