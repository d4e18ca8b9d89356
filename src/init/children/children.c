/* The application's processes, and the terminal that they share with init. */
#include <sys/wait.h>

#include "init.h"

struct child *find_child(struct children *children, uint64_t id) {
  return id > 0 && children->child.id == id ? &children->child : NULL;
}

struct child *find_last_child(struct children *children) { return find_child(children, children->last_id); }

struct child *find_living_child(struct children *children, pid_t pid) {
  struct child *child = &children->child;
  return child->id > 0 && child->pid == pid && !child->exited ? child : NULL;
}

static bool holds_foreground(void) {
  pid_t foreground = tcgetpgrp(STDIN_FILENO); /* fails unless descriptor 0 is init's controlling terminal */
  return foreground != -1 && foreground == getpgrp();
}

void give_terminal(struct children *children, const struct child *child) {
  if (holds_foreground() && tcsetpgrp(STDIN_FILENO, child->pid) == 0) children->foreground = child->id;
}

void take_terminal(struct children *children, uint64_t id) {
  if (id == 0 || children->foreground != id) return;
  tcsetpgrp(STDIN_FILENO, getpgrp()); /* SIGTTOU is blocked, so this works from the background: tcsetpgrp(3) */
  children->foreground = 0;
}

/* An exec may hang with its file system. After this time init takes the program for started. */
enum { EXEC_MS = 1000 };

static int prepare_child(int foreground) {
  int error = setpgid(0, 0) == -1 ? errno : 0;
  if (foreground) tcsetpgrp(STDIN_FILENO, getpid());
  return error;
}

void spawn(struct init *init, uint64_t id, char *const argv[]) {
  struct children *children = &init->children;
  bool foreground = holds_foreground();
  pid_t pid = 0;
  int report;
  struct inherited in = init->in;
  if (init->notifications.env) in.env = init->notifications.env;
  in.pid_text = init->notifications.pid_text;
  int error = !argv                                                            ? ENOMEM
              : children->child.id > 0 && !children->child.exited ? EAGAIN
                                                                  : start_program(&in, argv, prepare_child, foreground,
                                                                                  &pid, &report);
  if (!error) error = read_report(report, EXEC_MS);
  children->last_id = id;
  if (foreground) children->foreground = id;
  if (error) {
    take_terminal(children, id);
    children->last_status = error == ENOENT ? 127 : 126;
    push(&init->queue, (struct event){.kind = EV_SPAWN_FAILED, .id = id, .value = error});
    return;
  }
  setpgid(pid, pid); /* the child may not have run yet; one that has executed its program refuses: setpgid(2) */
  children->last_status = -1;
  /* Init no longer waits for what has survived the KILL of the child before it. */
  children->child = (struct child){.id = id, .pid = pid};
  init->rung.signal = 0;
  init->catcher.caught = 0;
  push(&init->queue, (struct event){.kind = EV_SPAWNED, .id = id, .pid = pid});
}

/*
 * Stops init's group with a foreground child that its terminal has stopped. The shell waits for each process of the job,
 * such as npx or the rest of a pipeline. The lines after `kill` run when the shell has continued it. PID 1 and a
 * session's leader have no such shell.
 */
static void stop_with(struct children *children, const struct child *child, int number) {
  pid_t self = getpid();
  if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) return;
  if (self == 1 || getsid(0) == self || tcgetpgrp(STDIN_FILENO) == -1) return;
  take_terminal(children, child->id);
  kill(0, SIGSTOP);
  if (!child->exited) give_terminal(children, child);
  signal_group(child->pid, SIGCONT);
}

void on_child_changed(struct init *init, struct child *child, int status) {
  if (WIFSTOPPED(status)) return stop_with(&init->children, child, WSTOPSIG(status));
  bool by_signal = WIFSIGNALED(status);
  int value = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  child->exited = true;
  take_terminal(&init->children, child->id);
  if (child->id == init->children.last_id) {
    init->children.last_status = by_signal ? 128 + value : value;
    init->children.ended_at = now_ms();
  }
  struct event event = {.kind = by_signal ? EV_KILLED : EV_EXITED, .id = child->id, .pid = child->pid, .value = value};
  event.flag = by_signal && WCOREDUMP(status);
  push(&init->queue, event);
}
