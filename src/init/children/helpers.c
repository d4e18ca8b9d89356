/*
 * Helpers: the commands of probes and hooks. Init reads their output while they run, so that they never stall. It keeps
 * the first bytes until the supervisor has acknowledged the end.
 */
#include <sys/wait.h>

#include "init.h"

enum { MAX_HELPER_END_MS = 1000 };

/* Runs in the process of the helper, before exec. Returns an errno, or 0. */
static int prepare_helper(int output) {
  int input = open("/dev/null", O_RDONLY);
  int empty[2];
  if (input == -1 && pipe2(empty, 0) == 0) {
    input = empty[0];
    close(empty[1]);
  }
  if (setsid() == -1 || input == -1) return errno;
  if (input != STDIN_FILENO && dup2(input, STDIN_FILENO) == -1) return errno;
  if (dup2(output, STDOUT_FILENO) == -1 || dup2(output, STDERR_FILENO) == -1) return errno;
  close_from(3, true); /* not now: the pipe that reports an error is open, too */
  return 0;
}

static struct helper *find_helper(struct helpers *helpers, uint64_t id) {
  for (size_t i = 0; i < MAX_HELPERS; i++)
    if (helpers->places[i].id == id) return &helpers->places[i];
  return NULL;
}

size_t count_free_helpers(const struct helpers *helpers) {
  size_t count = 0;
  for (size_t i = 0; i < MAX_HELPERS; i++) count += helpers->places[i].id == 0;
  return count;
}

static char *bytes_of(const struct helpers *helpers, const struct helper *helper) {
  return helpers->outputs[helper - helpers->places];
}

static struct helper *helper_of(struct helpers *helpers, const struct event *event) {
  bool is_end = event->kind == EV_HELPER_EXITED || event->kind == EV_HELPER_KILLED || event->kind == EV_HELPER_FAILED;
  return is_end ? find_helper(helpers, event->id) : NULL;
}

const char *output_of(struct helpers *helpers, const struct event *event, size_t *length) {
  const struct helper *helper = helper_of(helpers, event);
  *length = helper ? helper->used : 0;
  return helper ? bytes_of(helpers, helper) : "";
}

void release_helper(struct helpers *helpers, const struct event *event) {
  struct helper *helper = helper_of(helpers, event);
  if (!helper) return;
  if (helper->used > 0) release_pages(bytes_of(helpers, helper), MAX_OUTPUT_BYTES);
  *helper = (struct helper){.id = 0};
}

/* Returns 0, or the errno. Both ends of the pipe move away from 0 to 2, where the helper puts its own. */
static int start_in_place(struct helper *helper, const struct inherited *in, char *const argv[]) {
  int pair[2];
  if (!argv) return ENOMEM;
  if (pipe2(pair, O_CLOEXEC) == -1) return errno;
  pair[0] = move_high(pair[0]);
  pair[1] = move_high(pair[1]);
  fcntl(pair[0], F_SETFL, O_NONBLOCK); /* only init's end: the helper's behaves like any pipe */
  int error = start_program(in, argv, prepare_helper, pair[1], &helper->pid, &helper->report);
  close(pair[1]);
  if (error) close(pair[0]);
  else helper->output = pair[0];
  if (error) helper->pid = 0;
  return error;
}

void start_helper(struct init *init, uint64_t id, size_t limit, char *const argv[]) {
  struct helpers *helpers = &init->helpers;
  struct helper *helper = find_helper(helpers, 0);
  int error = EAGAIN;
  helpers->last_id = id;
  if (helper) {
    *helper = (struct helper){.id = id, .limit = limit, .output = -1, .stage = HELPER_RUNNING};
    error = start_in_place(helper, &init->in, argv);
    /* A failed helper keeps its place, so that no more events wait than there are places. */
    if (error) helper->stage = HELPER_REPORTED;
  }
  if (error) push(&init->queue, (struct event){.kind = EV_HELPER_FAILED, .id = id, .value = error});
}

void end_helper(struct helpers *helpers, uint64_t id) {
  struct helper *helper = find_helper(helpers, id);
  if (!helper || helper->stage != HELPER_RUNNING) return;
  /* Its process may not have run yet, and leads no group then. */
  if (kill(-helper->pid, SIGKILL) == -1) kill(helper->pid, SIGKILL);
}

void end_all_helpers(struct helpers *helpers) {
  for (size_t i = 0; i < MAX_HELPERS; i++)
    if (helpers->places[i].id) end_helper(helpers, helpers->places[i].id);
}

static void close_output(struct helper *helper) {
  if (helper->output != -1) close(helper->output);
  helper->output = -1;
}

/* Reads once, so that a helper that never stops writing delays no signal. False when nothing more is there now. */
static bool read_output(const struct helpers *helpers, struct helper *helper) {
  char dropped[MAX_OUTPUT_BYTES];
  size_t room = helper->limit - helper->used;
  char *to = room > 0 ? bytes_of(helpers, helper) + helper->used : dropped;
  ssize_t n = read(helper->output, to, room > 0 ? room : sizeof dropped);
  if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) close_output(helper);
  if (n <= 0) return false;
  for (ssize_t i = 0; i < n; i++)
    if (to[i] == 0) to[i] = '?'; /* NUL ends a field */
  if (room > 0) helper->used += (size_t)n;
  return true;
}

void read_helpers(struct helpers *helpers, const struct pollfd *polled) {
  for (size_t i = 0; i < MAX_HELPERS; i++) {
    struct helper *helper = &helpers->places[i];
    if (helper->polled && helper->output != -1 && polled[helper->polled].revents) read_output(helpers, helper);
  }
}

size_t poll_helpers(struct helpers *helpers, struct pollfd *polled, size_t at) {
  for (size_t i = 0; i < MAX_HELPERS; i++) {
    struct helper *helper = &helpers->places[i];
    bool open = helper->id && helper->output != -1;
    helper->polled = open ? at : 0;
    if (open) polled[at++] = (struct pollfd){.fd = helper->output, .events = POLLIN};
  }
  return at;
}

/* The bytes in the pipe belong to the output. An escaped process may hold the pipe open for ever. */
static void report_end(const struct helpers *helpers, struct helper *helper, struct queue *queue) {
  while (helper->output != -1 && helper->used < helper->limit && read_output(helpers, helper)) continue;
  close_output(helper);
  helper->stage = HELPER_REPORTED;
  bool by_signal = WIFSIGNALED(helper->status);
  struct event event = {.kind = by_signal ? EV_HELPER_KILLED : EV_HELPER_EXITED, .id = helper->id};
  event.value = by_signal ? WTERMSIG(helper->status) : WEXITSTATUS(helper->status);
  if (helper->error) {
    event.kind = EV_HELPER_FAILED;
    event.value = helper->error;
  }
  push(queue, event);
}

void report_ended_helpers(struct helpers *helpers, struct queue *queue) {
  helpers->check_at = NEVER;
  for (size_t i = 0; i < MAX_HELPERS; i++) {
    struct helper *helper = &helpers->places[i];
    if (helper->stage != HELPER_ENDING) continue;
    /*
     * A process that changed its user is out of reach, and one that is stuck in the kernel must not hold up the
     * report.
     */
    if (kill(-helper->pid, 0) == -1 || now_ms() >= helper->report_at) report_end(helpers, helper, queue);
    else helpers->check_at = now_ms() + CHECK_MS;
  }
}

bool on_helper_changed(struct helpers *helpers, pid_t pid, int status) {
  for (size_t i = 0; i < MAX_HELPERS; i++) {
    struct helper *helper = &helpers->places[i];
    if (helper->stage != HELPER_RUNNING || helper->pid != pid) continue;
    if (WIFSTOPPED(status)) return true; /* the probe or hook has a time limit */
    kill(-pid, SIGKILL);
    helper->stage = HELPER_ENDING;
    helper->status = status;
    helper->error = read_report(helper->report, 0);
    helper->report_at = now_ms() + MAX_HELPER_END_MS;
    return true;
  }
  return false;
}

bool is_helpers_group(const struct helpers *helpers, pid_t group) {
  for (size_t i = 0; i < MAX_HELPERS; i++) {
    enum helper_stage stage = helpers->places[i].stage;
    if ((stage == HELPER_RUNNING || stage == HELPER_ENDING) && helpers->places[i].pid == group) return true;
  }
  return false;
}
