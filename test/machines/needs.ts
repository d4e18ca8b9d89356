/**
 * What sexton needs of a kernel, one system call at a time, and what happens without it. The page
 * docs/internals/kernels.md has the same table, and needs.test.ts makes the runs.
 */

export interface Need {
  /** What is refused, as `refuse.c` takes it. */
  readonly what: string;
  readonly for: string;
  readonly without: string;
  /** What comes of a member that drains: it `serves`, or the container `refuses` to start and says why. */
  readonly outcome: 'serves' | 'refuses';
  /** The errors for which the outcome is the other one. */
  readonly but?: 'EPERM' | 'ENOSYS';
  /** With the other error, musl takes an older call. */
  readonly only?: 'EPERM';
  /** What stands in the log in each run with that outcome. */
  readonly says?: RegExp;
}

export const NO_SUPERVISOR = 'nothing is started: 125. A plain command runs as ever';
const DIES = /cannot start the supervisor: it dies again and again \(.*seccomp.*\); nothing was started/;
const ALONE = /as no supervisor has acted in time|it dies again and again/;
const STAYS_ALONE = 'each supervisor dies: the stop signal is sent by init, drain and hold are cut';
const UNSEEN = /cannot listen at .* peers will not notice at once/;

export const NEEDS: readonly Need[] = [
  {
    what: 'signalfd4',
    for: 'init receives signals',
    without: 'nothing is started: 125',
    outcome: 'refuses',
    only: 'EPERM',
    says: /cannot receive signals: signalfd failed/,
  },
  {
    what: process.arch === 'x64' ? 'poll' : 'ppoll',
    for: 'init waits',
    without: 'nothing is started: 125',
    outcome: 'refuses',
    says: /cannot wait for anything: poll failed/,
  },
  {
    what: 'socketpair',
    for: 'init and supervisor talk',
    without: NO_SUPERVISOR,
    outcome: 'refuses',
    says: /cannot start the supervisor: no socket can be opened; nothing was started/,
  },
  {
    what: 'clone3',
    for: 'threads of Node',
    without: `${NO_SUPERVISOR}. With \`ENOSYS\` glibc takes \`clone\``,
    outcome: 'refuses',
    but: 'ENOSYS',
    says: DIES,
  },
  ...['epoll_create1', 'epoll_pwait', 'eventfd2'].map(
    (what): Need => ({ what, for: "Node's event loop", without: NO_SUPERVISOR, outcome: 'refuses', says: DIES }),
  ),
  { what: 'futex', for: 'threads of Node', without: NO_SUPERVISOR, outcome: 'refuses', says: DIES },
  { what: 'madvise', for: "Node's memory", without: NO_SUPERVISOR, outcome: 'refuses', says: DIES },
  ...['newfstatat', 'pread64'].map(
    (what): Need => ({ what, for: 'the loader of Node', without: NO_SUPERVISOR, outcome: 'refuses', says: DIES }),
  ),
  { what: 'getrandom', for: "Node's random numbers", without: NO_SUPERVISOR, outcome: 'refuses', says: DIES },
  { what: 'recvfrom', for: 'init hears the supervisor', without: NO_SUPERVISOR, outcome: 'refuses', says: DIES },
  { what: 'uname', for: 'the start of Node', without: NO_SUPERVISOR, outcome: 'refuses', says: DIES },
  ...['getsockname', 'getsockopt', 'ioctl'].map(
    (what): Need => ({
      what,
      for: 'Node opens its end of the socket pair',
      without: STAYS_ALONE,
      outcome: 'serves',
      says: ALONE,
    }),
  ),
  {
    what: 'fcntl:1=1026',
    for: 'dnotify: changes in the graveyard',
    without: 'an inotify instance is used',
    outcome: 'serves',
  },
  {
    what: 'socket:2=4',
    for: 'sock_diag: whose the connections are that an adaptive drain sees',
    without: 'each new one counts, requests over kept ones do not, and `inflight` waits until `max`',
    outcome: 'serves',
  },
  {
    what: 'inotify_init1',
    for: 'the same, where there is no dnotify, and `--reload`',
    without: 'nothing; without dnotify as well, a look every 5 s',
    outcome: 'serves',
  },
  {
    what: 'bind',
    for: 'the liveness socket in the graveyard',
    without: 'a KILL is not noticed at once, and the supervisor does not sleep',
    outcome: 'serves',
    says: UNSEEN,
  },
  {
    what: 'getdents64',
    for: 'reading the graveyard',
    without: 'no other member is seen, and the supervisor does not sleep',
    outcome: 'serves',
    says: /cannot read the graveyard/,
  },
  {
    what: 'statfs',
    for: 'whether the graveyard is on a local volume',
    without: 'the supervisor does not sleep',
    outcome: 'serves',
  },
  {
    what: 'prctl',
    for: 'the subreaper, where sexton is not PID 1',
    without: 'orphans are not reaped there',
    outcome: 'serves',
  },
  {
    what: 'statx',
    for: 'looks at files',
    without: 'the older calls are used',
    outcome: 'serves',
  },
  {
    what: 'io_uring_setup',
    for: 'nothing: Node does not use it',
    without: 'nothing changes',
    outcome: 'serves',
  },
];
