/* Reaping: what has ended, and who has to know. */
#include <sys/wait.h>

#include "init.h"

static void on_orphan_changed(const struct init *init, pid_t pid, int status) {
  char digits[12];
  if (!init->in.drop_in.reports_reaped || WIFSTOPPED(status)) return;
  put_digits(digits, (uint64_t)pid, 1);
  say("sexton: reaped an orphan, pid ", digits, "\n");
}

/* Returns how a supervisor that dies again and again has ended. */
static const char *note_end(struct supervisor *supervisor, int status) {
  bool by_signal = WIFSIGNALED(status);
  int value = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  put_digits(stpcpy(supervisor->ended, by_signal ? "signal " : "code "), (uint64_t)value, 1);
  if (supervisor->hangs) strcpy(supervisor->ended, "hung");
  bool was_killed = by_signal && value == SIGKILL && !supervisor->hangs;
  supervisor->killed = (supervisor->committed ? 0 : supervisor->killed) + was_killed;
  static char why[96];
  strcpy(stpcpy(stpcpy(why, "it dies again and again ("), supervisor->ended), "; a seccomp profile may be too strict)");
  return why;
}

void settle_end(struct init *init) {
  if (!has_left_nothing(init)) return;
  end_by_row(init);
  if (init->children.child.id > 0) report_gone_roots(init);
}

void reap(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  struct children *children = &init->children;
  bool is_tree_smaller = false;
  int status;
  init->has_to_reap = false;
  report_told(init); /* before the ends that follow from it */
  /* What a process says last is there before its end. */
  if (polled_notifications(init) != -1) read_notification(init);
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (pid == supervisor->pid) {
      if (WIFSTOPPED(status)) continue;
      on_supervisor_died(init, note_end(supervisor, status));
      continue;
    }
    if (pid == supervisor->abandoned) {
      if (!WIFSTOPPED(status)) supervisor->abandoned = 0;
      continue;
    }
    if (pid == closer) {
      if (!WIFSTOPPED(status)) closer = 0;
      continue;
    }
    if (!WIFSTOPPED(status)) forget_told(&init->rung, pid);
    is_tree_smaller = true;
    struct child *child = find_living_child(children, pid);
    if (child) on_child_changed(init, child, status);
    else if (!on_helper_changed(&init->helpers, pid, status)) on_orphan_changed(init, pid, status);
  }
  report_ended_helpers(&init->helpers, &init->queue);
  settle_end(init);
  if (is_tree_smaller) walk(init);
}
