/** Entrypoint scripts: with and without exec, with traps, loops and background processes. */
import type { Row } from '../row.ts';
import type { Site } from '../site.ts';
import { aboutJobs, aboutServers, BASH, countOf, job, PYTHON, SH, server } from './parts.ts';

const ZSH = { program: '/usr/bin/zsh', package: 'zsh' };
const BUSYBOX = { program: '/bin/busybox', package: 'busybox-static' };

interface Script {
  readonly kind: string;
  readonly title: string;
  readonly shell?: string;
  readonly lines: (site: Site) => readonly string[];
  readonly names?: readonly string[];
  readonly needs?: Row['needs'];
  readonly signal?: NodeJS.Signals;
  /** What has to run besides the servers before the stop begins. */
  readonly besides?: string;
  readonly sexton: Row['sexton'];
}

/** A script with servers. */
function script({
  kind,
  title,
  shell = BASH,
  lines,
  names = ['app'],
  needs = [],
  signal = 'SIGTERM',
  besides,
  sexton,
}: Script): Row {
  const about = aboutServers(...names);
  return {
    kind,
    title,
    needs: [PYTHON, ...needs],
    ...about,
    isReady: async (site, runs) => (await about.isReady(site, runs)) && (besides === undefined || runs(besides)),
    signal,
    prepare: (site) => ({ argv: site.script(shell, lines(site)) }),
    sexton,
  };
}

const SERVERS: readonly Script[] = [
  {
    kind: 'shell with exec',
    title: 'bash: `exec server`',
    lines: (site) => [`exec ${server(site)}`],
    sexton: { codes: [0] },
  },
  {
    kind: 'shell without exec',
    title: 'bash: `server; echo ended`',
    lines: (site) => [server(site), 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'shell without exec',
    title: 'sh: `server; echo ended`',
    shell: SH,
    lines: (site) => [server(site), 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'shell without exec',
    title: 'zsh: `server; echo ended`',
    shell: ZSH.program,
    needs: [ZSH],
    lines: (site) => [server(site), 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'shell without exec',
    title: 'busybox sh: `server; echo ended`',
    shell: `${BUSYBOX.program} sh`,
    needs: [BUSYBOX],
    lines: (site) => [server(site), 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'shell without exec',
    title: 'bash that runs a bash that runs the server',
    lines: (site) => {
      site.write('inner', `${server(site)}\necho ended\n`);
      return ['bash inner', 'echo ended'].map((line) => line.replace('inner', site.path('inner')));
    },
    sexton: { codes: [143] },
  },
  {
    kind: 'shell without exec',
    title: 'bash: `server; echo ended`, stopped by INT',
    lines: (site) => [server(site), 'echo ended'],
    signal: 'SIGINT',
    sexton: { codes: [0] },
  },
  {
    kind: 'shell without exec',
    title: 'sh: `server; echo ended`, stopped by INT',
    shell: SH,
    lines: (site) => [server(site), 'echo ended'],
    signal: 'SIGINT',
    sexton: { codes: [130] },
  },
  {
    kind: 'background',
    title: 'bash: `server & wait`',
    lines: (site) => [`${server(site)} &`, 'wait'],
    sexton: { codes: [143] },
  },
  {
    kind: 'background',
    title: 'bash: two servers, `wait -n`',
    lines: (site) => [`${server(site, 'one')} &`, `${server(site, 'two')} &`, 'wait -n'],
    names: ['one', 'two'],
    sexton: { codes: [143] },
  },
  {
    kind: 'background',
    title: 'bash: `worker & exec server`',
    lines: (site) => [`${server(site, 'worker')} &`, `exec ${server(site)}`],
    names: ['worker', 'app'],
    sexton: { codes: [0] },
  },
  {
    kind: 'background',
    title: 'bash: `setsid server & sleep infinity`',
    lines: (site) => [`setsid ${server(site)} &`, 'sleep infinity'],
    besides: 'sleep',
    sexton: { codes: [143] },
  },
  {
    kind: 'background',
    title: 'bash: `server & exec sleep infinity`',
    lines: (site) => [`${server(site)} &`, 'exec sleep infinity'],
    besides: 'sleep',
    sexton: { codes: [143] },
  },
  {
    kind: 'background',
    title: 'bash: a daemon, then `tail -f /dev/null`',
    lines: (site) => [`( setsid ${server(site)} & )`, 'tail -f /dev/null'],
    besides: 'tail',
    sexton: { codes: [143] },
  },
  {
    kind: 'trap',
    title: 'bash: a trap that kills its background server and waits',
    lines: (site) => [
      `${server(site)} &`,
      'child=$!',
      'trap \'kill "$child"; wait "$child"; exit\' TERM',
      'wait "$child"',
    ],
    sexton: { codes: [0] },
  },
  {
    kind: 'trap',
    title: 'sh: the same',
    shell: SH,
    lines: (site) => [
      `${server(site)} &`,
      'child=$!',
      'trap \'kill "$child"; wait "$child"; exit\' TERM',
      'wait "$child"',
    ],
    sexton: { codes: [143] },
  },
  {
    kind: 'trap',
    title: 'bash: `trap "kill %1" TERM; server & wait; trap - TERM; wait`',
    lines: (site) => [`${server(site)} &`, "trap 'kill %1' TERM", 'wait %1', 'trap - TERM', 'wait %1'],
    sexton: { codes: [0] },
  },
  {
    kind: 'trap',
    title: 'bash: `trap "kill %1" TERM; server & wait`, which does not wait again',
    lines: (site) => ["trap 'kill %1' TERM", `${server(site)} &`, 'wait'],
    // The trap tells the server, and ends bash at once. Two signals may also come as one.
    sexton: { ranks: ['lost', 'clean'], codes: [143] },
  },
  {
    kind: 'trap',
    title: 'bash: `trap "kill $(jobs -p)" EXIT; server & wait`',
    lines: (site) => ["trap 'kill $(jobs -p)' EXIT", `${server(site)} &`, 'wait'],
    // The trap tells the server, and ends bash at once. Two signals may also come as one.
    sexton: { ranks: ['lost', 'clean'], codes: [143] },
  },
  {
    kind: 'trap',
    title: 'bash: `trap "exit 0" TERM; server & wait`, which does not pass it on',
    lines: (site) => ['trap "exit 0" TERM', `${server(site)} &`, 'wait'],
    sexton: { codes: [0] },
  },
  {
    kind: 'trap',
    title: 'bash: a trap for its daemon, `sleep infinity` in front',
    lines: (site) => [
      `trap 'pkill -F ${site.path('ready-app')}; while kill -0 $(cat ${site.path('ready-app')}) 2>/dev/null; do sleep 0.1; done; exit 0' TERM`,
      `( setsid ${server(site)} & )`,
      'sleep infinity',
    ],
    besides: 'sleep',
    sexton: { codes: [0] },
  },
  {
    kind: 'trap',
    title: 'bash: a trap, the server in front',
    lines: (site) => ["trap 'echo cleaning up; exit 0' TERM", server(site)],
    sexton: { ranks: ['lost'], codes: [137] },
  },
  {
    kind: 'trap',
    title: 'bash: `trap "" TERM`, then the server',
    lines: (site) => ['trap "" TERM', server(site)],
    sexton: { codes: [0] },
  },
  {
    kind: 'loop',
    title: 'bash: a supervisor loop, `while :; do server; done`',
    lines: (site) => ['while :; do', server(site), 'done'],
    sexton: { codes: [143] },
  },
];

/** What shells do with work that does not look at signals. */
const OTHERS: readonly Row[] = [
  {
    kind: 'loop',
    title: 'bash: `while :; do sleep 1; done`',
    needs: [],
    prepare: (site) => ({ argv: site.script(BASH, ['while :; do sleep 1; done']) }),
    isReady: (_site, runs) => runs('sleep'),
    workMs: 0,
    judge: () => ({ whole: 0, of: 0, text: 'nothing to lose' }),
    sexton: { codes: [143] },
  },
  {
    kind: 'no handler',
    title: 'a job without a handler',
    needs: [PYTHON],
    ...aboutJobs(['job']),
    prepare: (site) => ({ argv: job(site).split(' ') }),
    // An init passes TERM on, and a program without a handler dies of it, unless it is PID 1 itself.
    sexton: { ranks: ['lost'], codes: [143] },
  },
  {
    kind: 'no handler',
    title: 'bash: `job; echo ended`, no trap',
    needs: [PYTHON],
    ...aboutJobs(['job']),
    prepare: (site) => ({ argv: site.script(BASH, [job(site), 'echo ended']) }),
    sexton: { ranks: ['lost'], codes: [143] },
  },
  {
    kind: 'loop',
    title: 'bash: `while :; do job; done`, with a trap that ends the loop',
    needs: [PYTHON],
    ...aboutJobs(['job']),
    prepare: (site) => ({
      argv: site.script(BASH, ["trap 'stop=1' TERM", 'while [ -z "$stop" ]; do', job(site), 'done']),
    }),
    sexton: { codes: [0] },
  },
  {
    kind: 'loop',
    title: 'bash: `set -e`, a loop with `sleep 2`, a trap that ends it, then the job',
    needs: [PYTHON],
    ...aboutJobs(['job']),
    isReady: (_site, runs) => runs('sleep'),
    workMs: 5_000,
    prepare: (site) => ({
      argv: site.script(BASH, ['set -e', "trap 'stop=1' TERM", 'while [ -z "$stop" ]; do sleep 2; done', job(site)]),
    }),
    sexton: { codes: [0] },
  },
  {
    kind: 'trap',
    title: 'bash: `trap "exit 0" TERM; sleep infinity`',
    needs: [],
    prepare: (site) => ({
      argv: site.script(BASH, ['trap "exit 0" TERM', 'sleep infinity']),
    }),
    isReady: (_site, runs) => runs('sleep'),
    workMs: 0,
    judge: () => ({ whole: 0, of: 0, text: 'nothing to lose' }),
    sexton: { codes: [0] },
  },
  {
    kind: 'backup with a trap',
    title: 'bash: the dump in front, `trap "stop=1" TERM`',
    needs: [PYTHON],
    ...aboutJobs(['job'], 'dumps'),
    prepare: (site) => ({
      argv: site.script(BASH, ["trap 'stop=1' TERM", `${job(site)} > ${site.path('dump')}`, 'echo "dumped, $?"']),
    }),
    sexton: { codes: [0] },
  },
  {
    kind: 'backup with a trap',
    title: 'bash: `dump | gzip`, and a trap that waits',
    needs: [PYTHON],
    ...aboutJobs(['job'], 'dumps'),
    prepare: (site) => ({
      argv: site.script(BASH, [
        'set -o pipefail',
        "trap 'stop=1' TERM",
        `${job(site)} | gzip > ${site.path('dump.gz')}`,
        `gzip -t ${site.path('dump.gz')} && touch ${site.path('good')}`,
      ]),
    }),
    judge: (site) => countOf(site.has('good') ? 1 : 0, 1, 'dumps'),
    sexton: { codes: [0] },
  },
  {
    kind: 'backup with a trap',
    title: 'bash: `cat` copies the dump in front, `trap "stop=1" TERM`',
    needs: [PYTHON],
    ...aboutJobs(['job'], 'dumps'),
    prepare: (site) => ({
      argv: site.script(BASH, [
        "trap 'stop=1' TERM",
        `mkfifo ${site.path('fifo')}`,
        `${job(site)} > ${site.path('fifo')} &`,
        `cat ${site.path('fifo')} > ${site.path('dump')} && touch ${site.path('good')}`,
      ]),
    }),
    judge: (site) => countOf(site.has('good') ? 1 : 0, 1, 'dumps'),
    sexton: { codes: [0] },
  },
  {
    kind: 'backup with a trap',
    title: 'sh: the dump in the background, a trap that waits for it',
    needs: [PYTHON],
    ...aboutJobs(['job'], 'dumps'),
    prepare: (site) => ({
      argv: site.script(SH, [
        `${job(site)} > ${site.path('dump')} &`,
        'child=$!',
        'trap \'wait "$child"; exit 0\' TERM',
        'wait "$child"',
      ]),
    }),
    sexton: { codes: [0] },
  },
];

export const SHELL_ROWS: readonly Row[] = [...SERVERS.map(script), ...OTHERS];
