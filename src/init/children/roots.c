/*
 * Decides which processes get a signal. A parent knows best how to end its children. So a rung goes to the first
 * process, and to others when their parents have ended: "Rungs" in protocol.md.
 */
#include <sys/stat.h>

#include "init.h"

enum { READER_MS = 1000, TRAPPED_MS = 5000, MAX_DEPTH = 256 };

bool is_own(const struct init *init, pid_t pid) {
  const struct supervisor *supervisor = &init->supervisor;
  pid_t group = getpgid(pid);
  if (supervisor->pid > 0 && (pid == supervisor->pid || group == supervisor->pid)) return true;
  if (pid == supervisor->abandoned || pid == closer) return true;
  /* A new helper leads no group before its process has run. */
  return is_helpers_group(&init->helpers, group) || is_helpers_group(&init->helpers, pid);
}

bool is_commands(const struct init *init, pid_t pid) {
  for (int depth = 0; depth < MAX_DEPTH && pid > 0; depth++) {
    pid_t parent = parent_of(pid);
    /* Nothing shows the parents of a process that has ended. As PID 1 init has adopted what it left. */
    if (parent == -1) return init->self.is_pid1;
    if (parent == init->self.pid) return !is_own(init, pid);
    pid = parent;
  }
  return false;
}

/* Whether what loses its parent comes to init, and can be seen. Elsewhere the group of the child stands for its tree. */
static bool sees_roots(const struct init *init) {
  return init->adopts && access("/proc/self/stat", F_OK) == 0;
}

struct roots {
  struct init *init;
  bool are_any;
  bool have_readers, are_others; /* those that read a pipe and are not told, and others */
  bool are_only_readers;
};

static bool see_root(void *with, pid_t pid) {
  struct roots *roots = with;
  roots->are_any = !is_own(roots->init, pid);
  return !roots->are_any;
}

static bool are_roots_gone(struct init *init) {
  struct roots roots = {.init = init};
  if (!sees_roots(init)) return is_group_gone(init->children.child.pid);
  visit_children(init->self.pid, see_root, &roots);
  return !roots.are_any;
}

/* The place of this pid, or the first free one. Neighboring pids share a page. */
static struct told *place_of(const struct rung *rung, pid_t pid) {
  size_t at = (size_t)pid % MAX_TOLD;
  while (rung->told[at].pid != pid && rung->told[at].pid != 0) at = (at + 1) % MAX_TOLD;
  return &rung->told[at];
}

static bool is_told(const struct init *init, pid_t pid) {
  const struct rung *rung = &init->rung;
  struct process process;
  if (rung->signal == 0) return false;
  if (rung->to == TO_GROUP && getpgid(pid) == init->children.child.pid) return true;
  const struct told *told = place_of(rung, pid);
  if (told->pid != pid) return false;
  return told->start == 0 || (read_process(pid, &process) && process.start == told->start);
}

void forget_told(struct rung *rung, pid_t pid) {
  if (rung->signal == 0) return;
  rung->changed_at = now_ms();
  struct told *told = place_of(rung, pid);
  if (told->pid != pid) return;
  told->pid = -1;
  if (told->has_trap) rung->trapped_until = now_ms() + TRAPPED_MS;
}

static void forget_all_told(struct rung *rung) {
  for (size_t i = 0; i < MAX_TOLD && rung->count > 0; i++)
    if (rung->told[i].pid != 0) rung->told[i].pid = 0;
  rung->count = 0;
}

static void report_refusal(struct rung *rung, const struct process *process) {
  char text[80], path[32];
  struct stat owner;
  if (rung->has_refused) return;
  rung->has_refused = true;
  char *end = stpcpy(stpcpy(text, process->name), " (pid ");
  end = stpcpy(put_digits(end, (uint64_t)process->pid, 1), ", of user ");
  strcpy(put_digits(stpcpy(path, "/proc/"), (uint64_t)process->pid, 1), "/stat");
  if (stat(path, &owner) == 0) put_digits(end, owner.st_uid, 1);
  say("sexton: not permitted to signal ", text, "): that needs this user, or CAP_KILL\n");
}

/* 0 for a child of init, whose pid stays taken until init reaps it. */
static uint32_t start_of(const struct init *init, const struct process *process) {
  return process->parent == init->self.pid ? 0 : process->start;
}

/* Sends the signal of the rung, once to each process. */
static void tell(struct init *init, pid_t pid, enum why why, const char *of) {
  struct rung *rung = &init->rung;
  struct tally *tally = &rung->tallies[why];
  struct process process = {.pid = pid, .parent = init->self.pid};
  if (!read_process(pid, &process) && pid != init->children.child.pid) return;
  if (rung->count == MAX_TOLD - 1) return; /* the rest waits for KILL */
  uint32_t start = start_of(init, &process);
  *place_of(rung, pid) = (struct told){pid, start, false};
  rung->count++;
  rung->changed_at = now_ms();
  if (strcmp(process.name, "MainThread") == 0) read_program(pid, process.name); /* Node names its thread so */
  int error = signal_process(pid, start, rung->signal);
  if (error == EPERM) report_refusal(rung, &process);
  if (error) return;
  if (tally->count++ > 0) return;
  tally->pid = pid;
  strcpy(tally->name, process.name);
  strcpy(tally->of, of);
}

/* They pass no signal on, or KILL what they have started 2 s later. */
static const char WRAPPERS[] = "su runuser sudo sudo-rs doas unshare nsenter script";
static const char SHELLS[] = "sh bash dash ash ksh mksh zsh", IDLERS[] = "sleep tail cat";

static bool has(uint64_t mask, int number) { return mask >> (number - 1) & 1; }

/* Also by default: signal(7). */
static bool ignores(const struct dispositions *dispositions, int number) {
  bool by_default = number == SIGWINCH || number == SIGURG || number == SIGCHLD || number == SIGCONT;
  return has(dispositions->ignored, number) || (by_default && !has(dispositions->caught | dispositions->blocked, number));
}

/*
 * Whether this command line waits, and has nothing to lose: a long sleep, `tail -f`, `cat` without a file. A short sleep
 * ends by itself, and its exit code may matter to the shell.
 */
static bool is_idle(const char *program, const char *words, const char *end) {
  bool follows = false, sleeps_long = false, has_file = false;
  for (const char *word = words + strlen(words) + 1; word < end; word += strlen(word) + 1) {
    size_t digits = strspn(word, "0123456789");
    bool is_flag = word[0] == '-' && word[1] != 0;
    follows = follows || (is_flag && (starts_with(word, "--follow") || (word[1] != '-' && strpbrk(word, "fF"))));
    sleeps_long = sleeps_long || digits > 1 || word[0] > '5' || is_among(word + digits, "m h d");
    has_file = has_file || (!is_flag && word[0] != '-');
  }
  if (!is_among(program, IDLERS)) return false;
  return program[0] == 's' ? sleeps_long : program[0] == 't' ? follows : !has_file;
}

/* The children that are told together with their shell. */
struct waited {
  bool for_all, all_ignore_int;
  size_t count;
  pid_t pids[16];
};

/*
 * A shell that catches a signal runs its trap when its child in the foreground has ended. It starts those in the
 * background with INT ignored, and does not wait for them.
 */
static bool list_waited(void *with, pid_t pid) {
  struct waited *waited = with;
  struct dispositions dispositions = {0, 0, 0};
  char program[MAX_PROGRAM_BYTES], words[256];
  bool has_writer;
  read_program(pid, program);
  size_t length = read_words(pid, words, sizeof words);
  if (!waited->for_all && (length == 0 || !is_idle(program, words, words + length))) return true;
  if (has_pipe_as_input(pid, &has_writer)) return true;
  if (!read_dispositions(pid, &dispositions)) return true;
  if (has(dispositions.ignored, SIGINT) && !waited->all_ignore_int) return true;
  waited->pids[waited->count++] = pid;
  return waited->count < sizeof waited->pids / sizeof *waited->pids;
}

struct family {
  struct init *init;
  const char *parent;
  int depth, number;
  size_t count, signalled;
};

static void visit(struct init *init, pid_t pid, enum why why, const char *of, int depth);

static bool visit_member(void *with, pid_t pid) {
  struct family *family = with;
  family->count++;
  visit(family->init, pid, WHY_THROUGH, family->parent, family->depth - 1);
  return true;
}

/* Tells a process, or its children in its place where it would pass nothing on. */
static void visit(struct init *init, pid_t pid, enum why why, const char *of, int depth) {
  int number = init->rung.signal;
  struct dispositions dispositions = {0, 0, 0};
  struct waited waited = {.count = 0};
  struct process process;
  char program[MAX_PROGRAM_BYTES];
  if (depth == 0 || is_told(init, pid)) return;
  read_program(pid, program);
  read_dispositions(pid, &dispositions);
  if (is_among(program, WRAPPERS) || ignores(&dispositions, number)) {
    struct family family = {.init = init, .parent = program, .depth = depth};
    visit_children(pid, visit_member, &family);
    if (family.count > 0) return;
  }
  /* While it waits a shell catches INT without a trap, too: it dies of it if its child does, as at a terminal. */
  waited.all_ignore_int = has(dispositions.ignored, SIGINT); /* as in a script that was itself started with & */
  waited.for_all = number == SIGINT && !has(dispositions.caught, SIGTERM);
  bool has_trap = is_among(program, SHELLS) && has(dispositions.caught, number);
  /* A shell that has ended runs no trap, even if it is not reaped yet. */
  if (has_trap) has_trap = read_process(pid, &process) && !has_ended(&process);
  if (has_trap) visit_children(pid, list_waited, &waited);
  tell(init, pid, why, of);
  struct told *told = place_of(&init->rung, pid);
  if (told->pid == pid) told->has_trap = has_trap && !waited.for_all;
  for (size_t i = 0; i < waited.count; i++)
    if (!is_told(init, waited.pids[i])) tell(init, waited.pids[i], WHY_TRAP, program);
}

static bool visit_root(void *with, pid_t pid) {
  struct roots *roots = with;
  struct init *init = roots->init;
  bool has_writer, is_killed = init->rung.signal == SIGKILL;
  char program[MAX_PROGRAM_BYTES];
  if (is_own(init, pid)) return true;
  if (!is_killed && !is_told(init, pid) && has_pipe_as_input(pid, &has_writer)) {
    roots->have_readers = true;
    bool is_due = init->rung.changed_at + READER_MS <= now_ms() && (!has_writer || roots->are_only_readers);
    if (is_due) visit(init, pid, WHY_READER, "", MAX_DEPTH);
    return true;
  }
  roots->are_others = true;
  read_program(pid, program);
  if (!is_killed && init->rung.trapped_until > now_ms() && !is_among(program, IDLERS)) return true;
  if (is_killed) signal_process(pid, 0, SIGKILL);
  else visit(init, pid, WHY_LEFT, "", MAX_DEPTH);
  return true;
}

static void visit_roots(struct init *init) {
  struct roots roots = {.init = init};
  visit_children(init->self.pid, visit_root, &roots);
  if (!roots.have_readers || roots.are_others) return;
  roots.are_only_readers = true;
  visit_children(init->self.pid, visit_root, &roots);
}

/* Whether an ancestor is still to end this process: one that was told, is no shell, and lives. */
static bool is_left_to_parent(const struct init *init, pid_t parent) {
  for (int depth = 0; depth < MAX_DEPTH && parent > 1 && parent != init->self.pid; depth++) {
    char program[MAX_PROGRAM_BYTES];
    read_program(parent, program);
    if (is_told(init, parent)) return !is_among(program, SHELLS);
    if (!is_among(program, WRAPPERS)) return true; /* it is left to its own */
    parent = parent_of(parent);
  }
  return false;
}

static bool find_one(void *found, pid_t pid) {
  (void)pid;
  *(bool *)found = true;
  return false;
}

/* Tells a process that has not been told, and its parents before it. */
static void tell_late(struct init *init, pid_t pid, int depth) {
  struct process process;
  char program[MAX_PROGRAM_BYTES];
  bool has_writer = false, is_last = init->rung.last_at <= now_ms(), has_children = false;
  if (depth == 0 || pid <= 1 || pid == init->self.pid || is_own(init, pid) || is_told(init, pid)) return;
  if (!read_process(pid, &process) || process.state == 'Z') return;
  tell_late(init, process.parent, depth - 1);
  if (!is_last && is_left_to_parent(init, process.parent)) return;
  if (!is_last && has_pipe_as_input(pid, &has_writer) && has_writer) return;
  read_program(pid, program);
  if (is_among(program, WRAPPERS)) visit_children(pid, find_one, &has_children);
  if (!has_children) tell(init, pid, WHY_LATE, "");
}

static bool visit_late(void *with, const struct process *process) {
  struct init *init = with;
  /* An exec'd process shares init's mounts. A process of another container in this PID namespace does not. */
  bool is_ours = is_commands(init, process->pid) || (init->self.is_pid1 && shares_mounts(process->pid));
  if (is_ours) tell_late(init, process->pid, MAX_DEPTH);
  return true;
}

static void tell_late_in_time(struct init *init) {
  struct rung *rung = &init->rung;
  bool is_last = rung->last_at <= now_ms();
  if (!is_last && rung->late_at > now_ms()) return;
  visit_processes(visit_late, init);
  rung->late_at = NEVER;
  if (is_last) rung->last_at = NEVER;
}

static void visit_tree(struct init *init) {
  struct rung *rung = &init->rung;
  struct child *child = &init->children.child;
  if (!child->exited && rung->signal == SIGKILL) {
    /* If KILL is refused, init reports the child as killed. It then leaves, and as PID 1 it takes all others along. */
    if (signal_process(child->pid, 0, SIGKILL) == EPERM) on_child_changed(init, child, SIGKILL);
  } else if (!child->exited && rung->to == TO_TREE && !rung->is_groups) {
    visit(init, child->pid, WHY_FIRST, "", MAX_DEPTH);
  } else if (child->exited && sees_roots(init)) {
    visit_roots(init);
  } else if (child->exited && !rung->is_groups) {
    rung->is_groups = true;
    signal_group(child->pid, rung->signal);
  }
}

void walk(struct init *init) {
  struct rung *rung = &init->rung;
  const struct child *child = &init->children.child;
  int64_t began_at = now_ms();
  rung->walk_at = NEVER;
  if (rung->signal == 0 || child->id == 0) return;
  if (rung->rest_until > began_at) {
    rung->walk_at = rung->rest_until;
    return;
  }
  visit_tree(init);
  tell_late_in_time(init);
  int64_t now = now_ms();
  /* Thousands of processes take longer: four fifths of the time are for what they do at their end. */
  rung->rest_until = now > began_at + 1 ? now + 4 * (now - began_at) : 0;
  rung->walk_at = child->exited ? now + CHECK_MS : NEVER; /* orphans may come unnoticed */
  if (rung->late_at < rung->walk_at) rung->walk_at = rung->late_at;
  if (rung->last_at < rung->walk_at) rung->walk_at = rung->last_at;
}

void begin_rung(struct init *init, int number, int64_t late_at, int64_t last_at) {
  struct rung *rung = &init->rung;
  const struct child *child = &init->children.child;
  bool is_further = rung->signal != 0, is_groups = rung->to == TO_GROUP || !sees_roots(init);
  if (child->id == 0 || (rung->signal == SIGKILL && number != SIGKILL)) return;
  if (!is_further) forget_all_told(rung);
  rung->signal = number;
  rung->late_at = late_at;
  rung->last_at = last_at;
  rung->changed_at = now_ms();
  rung->rest_until = rung->trapped_until = 0;
  rung->is_groups = is_groups && (rung->to != TO_FIRST || child->exited);
  if (number == SIGKILL || rung->is_groups) signal_group(child->pid, number);
  else if (rung->to == TO_FIRST && !child->exited && !is_further) tell(init, child->pid, WHY_FIRST, "");
  for (size_t i = 0; i < MAX_TOLD && is_further && rung->count > 0 && number != SIGKILL; i++)
    if (rung->told[i].pid > 0) signal_process(rung->told[i].pid, rung->told[i].start, number);
  /* A KILL that is refused is to be heard after the event that goes with it. */
  if (number == SIGKILL) rung->walk_at = now_ms();
  else walk(init);
}

void continue_rung(struct init *init, int number, int64_t late_at, int64_t last_at) {
  struct rung *rung = &init->rung;
  if (rung->signal != number) return begin_rung(init, number, late_at, last_at);
  rung->late_at = late_at;
  rung->last_at = last_at;
  rung->walk_at = now_ms();
}

pid_t take_receiver(struct init *init) {
  struct tally *tallies = init->rung.tallies;
  bool is_alone = tallies[WHY_FIRST].count == 1;
  for (int why = WHY_FIRST + 1; why < WHYS; why++) is_alone = is_alone && tallies[why].count == 0;
  if (is_alone) tallies[WHY_FIRST].count = 0;
  return is_alone ? tallies[WHY_FIRST].pid : 0;
}

void report_told(struct init *init) {
  for (int why = 0; why < WHYS; why++) {
    struct tally *tally = &init->rung.tallies[why];
    if (tally->count == 0) continue;
    struct event event = {.kind = EV_TOLD, .id = init->children.last_id, .value = init->rung.signal, .pid = tally->pid};
    event.count = tally->count;
    event.as = (uint8_t)why;
    strcpy(event.name, tally->name);
    strcpy(event.of, tally->of);
    push(&init->queue, event);
    tally->count = 0;
  }
}

bool has_left_nothing(struct init *init) {
  const struct child *child = &init->children.child;
  init->children.check_at = NEVER;
  if (child->id == 0 || !child->exited) return false;
  if (are_roots_gone(init)) return true;
  init->children.check_at = now_ms() + CHECK_MS;
  return false;
}

void report_gone_roots(struct init *init) {
  struct child *child = &init->children.child;
  report_told(init);
  push(&init->queue, (struct event){.kind = EV_ROOTS_GONE, .id = child->id});
  child->id = 0;
  init->rung.walk_at = NEVER;
}

static bool asks_for_reload(int number) { return number == SIGHUP || number == SIGUSR1 || number == SIGUSR2; }

static bool pass_on(struct init *init, pid_t pid, int number, bool is_first, int depth);

static bool pass_on_to_member(void *with, pid_t pid) {
  struct family *family = with;
  family->count++;
  family->signalled += pass_on(family->init, pid, family->number, false, family->depth - 1);
  return true;
}

/*
 * A signal that is no stop goes to what catches it. Where the first process does not, that is a child. HUP, USR1 and USR2
 * ask for a reload or a report: a PID 1 without a handler survives them, and so does the command. False: there is none.
 */
static bool pass_on(struct init *init, pid_t pid, int number, bool is_first, int depth) {
  struct dispositions dispositions = {0, 0, 0};
  struct process process = {.pid = pid, .parent = init->self.pid};
  struct family family = {.init = init, .depth = depth, .number = number};
  char program[MAX_PROGRAM_BYTES];
  if (depth == 0) return false;
  read_program(pid, program);
  if (is_first && strcmp(program, init->catcher.program) == 0 && has(init->catcher.caught, number))
    return signal_process(pid, 0, number) == 0;
  bool is_seen = read_process(pid, &process) && read_dispositions(pid, &dispositions);
  bool catches = !is_seen || has(dispositions.caught | dispositions.blocked, number), is_reload = asks_for_reload(number);
  bool passes_nothing_on = is_among(program, WRAPPERS);
  if (passes_nothing_on || (!catches && (is_reload || is_among(program, SHELLS)))) {
    visit_children(pid, pass_on_to_member, &family);
    if (family.count > 0 && (passes_nothing_on || family.signalled > 0)) return family.signalled > 0;
  }
  if (is_first && is_seen && !passes_nothing_on && !is_among(program, SHELLS)) {
    init->catcher.caught = dispositions.caught | dispositions.blocked;
    strcpy(init->catcher.program, program);
  }
  bool would_die = !catches && !ignores(&dispositions, number);
  if (would_die && (is_reload || !is_first || is_among(program, SHELLS))) return false;
  return signal_process(pid, start_of(init, &process), number) == 0 && (catches || is_first);
}

static void report_unheard(struct init *init, int number) {
  char digits[12];
  if (has(init->unheard, number)) return;
  init->unheard |= UINT64_C(1) << (number - 1);
  put_digits(digits, (uint64_t)number, 1);
  say("sexton: nothing in the command handles signal ", digits, ": it is not passed on\n");
}

void signal_program(struct init *init, int number) {
  const struct child *child = &init->children.child;
  bool is_for_job = number == SIGSTOP || number == SIGCONT || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
  bool is_groups = init->rung.to == TO_GROUP || child->exited || !sees_roots(init);
  if (child->id == 0) return;
  if (init->rung.to == TO_FIRST && !child->exited) signal_process(child->pid, 0, number);
  else if (is_groups || is_for_job) signal_group(child->pid, number);
  else if (!pass_on(init, child->pid, number, true, MAX_DEPTH)) report_unheard(init, number);
}
