/*
 * Children: a process group each, the foreground of the terminal while they live, and their end told exactly. Whoever
 * addresses a child addresses its group, also when the first process of it has ended and others are left; `single` changes that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

/* Only from a foreground that is ours may we give: a shell may have started us in the background. */
static bool holds_foreground(void) {
  pid_t foreground = tcgetpgrp(STDIN_FILENO); /* fails unless descriptor 0 is our controlling terminal */
  return foreground != -1 && foreground == getpgrp();
}

void give_terminal(struct init *init, const struct child *child) {
  if (!child->exited && holds_foreground() && tcsetpgrp(STDIN_FILENO, child->pid) == 0) init->terminal_owner = child->id;
}

void take_terminal(struct init *init, uint64_t id) {
  if (init->terminal_owner != id) return;
  tcsetpgrp(STDIN_FILENO, getpgrp()); /* SIGTTOU is blocked, so this works from the background: tcsetpgrp(3) */
  init->terminal_owner = 0;
}

void signal_target(pid_t target, int number) {
  if (target >= -1 && target <= 1) return; /* everybody, our own group, or PID 1: kill(2) */
  kill(target, number);
  if (number == SIGTERM || number == SIGHUP || number == SIGINT || number == SIGQUIT) continue_stopped(target);
}

void signal_group(const struct child *child, int number) { signal_target(-child->pid, number); }

/* What KILL ends cannot tell its workers, which would live on. */
void signal_child(const struct init *init, const struct child *child, int number) {
  bool alone = child->id == init->single && !child->exited && number != SIGKILL;
  signal_target(alone ? child->pid : -child->pid, number);
}

struct child *find_child(struct init *init, uint64_t id) {
  for (size_t i = 0; i < init->child_count; i++)
    if (init->children[i].id == id) return &init->children[i];
  return NULL;
}

struct child *find_living(struct init *init, pid_t pid) {
  for (size_t i = 0; i < init->child_count; i++)
    if (init->children[i].pid == pid && !init->children[i].exited) return &init->children[i];
  return NULL;
}

static int take_childs_place(int foreground) {
  int error = setpgid(0, 0) == -1 ? errno : 0;
  if (foreground) tcsetpgrp(STDIN_FILENO, getpid());
  return error;
}

/* The other side of vfork. It shares our memory: it only makes system calls and uses its own part of the stack. */
static _Noreturn void become(const struct init *init, char *const argv[], int (*take_place)(int), int with, int report) {
  int error = take_place(with);
  if (init->chld_ignored) signal(SIGCHLD, SIG_IGN);
  set_mask(inherited_mask, NULL);
  if (error == 0) error = exec_in_path(&init->in, argv);
  ssize_t written = write(report, &error, sizeof error);
  _exit(written == sizeof error ? EXIT_OWN_ERROR : EXIT_OWN_ERROR + 1);
}

/*
 * The errno comes through a pipe, which the exec closes, and not through the memory that vfork shares: where vfork is emulated as
 * fork (qemu's user mode) nothing is shared.
 */
int start_program(const struct init *init, char *const argv[], int (*take_place)(int), int with, pid_t *pid) {
  int report[2];
  int error = 0;
  if (pipe2(report, O_CLOEXEC) == -1) return errno;
  report[1] = move_high(report[1]); /* out of the way of what take_place puts on 0 to 2 */
  *pid = vfork();
  if (*pid == 0) become(init, argv, take_place, with, report[1]);
  int fork_error = errno;
  close(report[1]);
  if (*pid == -1) {
    error = fork_error;
  } else if (read(report[0], &error, sizeof error) == sizeof error) {
    waitpid(*pid, NULL, 0);
  } else {
    error = 0;
  }
  close(report[0]);
  return error;
}

void spawn(struct init *init, uint64_t id, char *const argv[]) {
  bool foreground = holds_foreground();
  pid_t pid = 0;
  int error = !argv ? ENOMEM : init->child_count == CHILDREN_MAX ? EAGAIN : start_program(init, argv, take_childs_place, foreground, &pid);
  init->last_child = id;
  if (foreground) init->terminal_owner = id;
  if (error) {
    take_terminal(init, id);
    init->last_status = error == ENOENT ? 127 : 126;
    push(init, (struct event){.kind = EV_SPAWN_FAILED, .id = id, .value = error});
    return;
  }
  init->last_status = -1;
  init->children[init->child_count++] = (struct child){.id = id, .pid = pid};
  push(init, (struct event){.kind = EV_SPAWNED, .id = id, .pid = pid});
}

void check_groups(struct init *init) {
  size_t kept = 0;
  init->check_groups_at = NEVER;
  for (size_t i = 0; i < init->child_count; i++) {
    struct child child = init->children[i];
    if (child.exited && kill(-child.pid, 0) == -1 && errno == ESRCH) {
      push(init, (struct event){.kind = EV_GONE, .id = child.id, .value = (int32_t)count_strays(init)});
      continue;
    }
    if (child.exited) init->check_groups_at = now_ms() + GROUP_CHECK_MS;
    init->children[kept++] = child;
  }
  init->child_count = kept;
}

/*
 * The foreground child was stopped from its terminal. The shell that started us waits for us and not for the child, so we stop
 * too; the lines after `kill` run when the shell has continued us. PID 1 and a session's leader have no such shell.
 */
static void stop_with(struct init *init, const struct child *child, int number) {
  if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) return;
  if (init->pid1 || getsid(0) == init->pid || tcgetpgrp(STDIN_FILENO) == -1) return;
  take_terminal(init, child->id);
  kill(init->pid, SIGSTOP);
  give_terminal(init, child);
  signal_group(child, SIGCONT);
}

void child_changed(struct init *init, struct child *child, int status) {
  if (WIFSTOPPED(status)) {
    stop_with(init, child, WSTOPSIG(status));
    return;
  }
  bool by_signal = WIFSIGNALED(status);
  int value = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  child->exited = true;
  take_terminal(init, child->id);
  if (child->id == init->last_child) init->last_status = by_signal ? 128 + value : value;
  push(init, (struct event){.kind = by_signal ? EV_KILLED : EV_EXITED,
                            .id = child->id,
                            .pid = child->pid,
                            .value = value,
                            .flag = by_signal && WCOREDUMP(status)});
}
