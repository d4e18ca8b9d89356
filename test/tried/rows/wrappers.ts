/** Programs that start another one and wait for it. */
import type { Program, Row } from '../row.ts';
import type { Site } from '../site.ts';
import { aboutServers, BASH, PYTHON, server } from './parts.ts';

interface Wrapper {
  readonly kind: string;
  readonly title: string;
  readonly needs: readonly Program[];
  readonly argv: (site: Site) => readonly string[];
  readonly sexton: Row['sexton'];
}

const UTIL_LINUX = 'util-linux';
const SUDO: Program = { program: '/usr/bin/sudo', package: 'sudo' };
const words = (text: string): readonly string[] => text.split(' ');

const WRAPPERS: readonly Wrapper[] = [
  {
    kind: 'timeout',
    title: '`timeout 1h server`',
    needs: [{ program: '/usr/bin/timeout', package: 'coreutils' }],
    // timeout signals its child and then its own group, in which the child is.
    argv: (site) => words(`timeout 1h ${server(site)} patient`),
    sexton: { codes: [0] },
  },
  {
    kind: 'make',
    title: '`make run`',
    needs: [{ program: '/usr/bin/make', package: 'make' }],
    argv: (site) => {
      site.write('Makefile', `run:\n\t${server(site)}\n\t@echo ended\n`);
      return ['make', '-C', site.dir, 'run'];
    },
    sexton: { codes: [143] },
  },
  {
    kind: 'setsid',
    title: '`setsid -w server`',
    needs: [{ program: '/usr/bin/setsid', package: UTIL_LINUX }],
    // As the leader of a group setsid forks, which is what -w is for. Under unshare(1) PID 1 leads none.
    argv: (site) => words(`setsid -w -f ${server(site)}`),
    sexton: { codes: [143] },
  },
  {
    kind: 'flock',
    title: '`flock FILE server`',
    needs: [{ program: '/usr/bin/flock', package: UTIL_LINUX }],
    argv: (site) => words(`flock ${site.path('lock')} ${server(site)}`),
    sexton: { codes: [143] },
  },
  {
    kind: 'xargs',
    title: '`xargs server`',
    needs: [],
    argv: (site) => site.script(BASH, [`exec xargs -a ${site.write('words', 'app\n')} ${server(site, '').trim()}`]),
    sexton: { codes: [143] },
  },
  {
    kind: 'unshare',
    title: '`unshare --fork --mount server`',
    needs: [{ program: '/usr/bin/unshare', package: UTIL_LINUX }],
    argv: (site) => words(`unshare --fork --mount ${server(site)}`),
    sexton: { codes: [0] },
  },
  {
    kind: 'script',
    title: '`script -qc "exec server"`',
    needs: [{ program: '/usr/bin/script', package: 'bsdutils' }],
    argv: (site) => ['script', '-qc', `exec ${server(site)}`, site.path('typescript')],
    sexton: { codes: [0] },
  },
  {
    kind: 'strace',
    title: '`strace -f server`',
    needs: [{ program: '/usr/bin/strace', package: 'strace' }],
    argv: (site) => words(`strace -f -o ${site.path('trace')} ${server(site)}`),
    sexton: { codes: [0] },
  },
  {
    kind: 'Python parent',
    title: 'Python: `subprocess.run(server)`, no handler',
    needs: [],
    argv: (site) => [
      PYTHON.program,
      '-c',
      `import subprocess\nsubprocess.run(${JSON.stringify(words(server(site)))})\nprint("ended")`,
    ],
    sexton: { codes: [143] },
  },
  {
    kind: 'tini inside',
    title: '`tini -- bash script`, which does not exec the server',
    needs: [{ program: '/usr/bin/tini', package: 'tini' }],
    argv: (site) => ['tini', '--', ...site.script(BASH, [server(site), 'echo ended'])],
    sexton: { codes: [143] },
  },
  {
    kind: 'Perl parent',
    title: 'Perl: `system(server)`',
    needs: [{ program: '/usr/bin/perl', package: 'perl-base' }],
    argv: (site) => ['perl', '-e', `system(qw(${server(site)})); print "ended\\n"`],
    sexton: { codes: [143] },
  },
  {
    kind: 'su',
    title: '`su -s /bin/sh -c server games`',
    needs: [{ program: '/usr/bin/su', package: UTIL_LINUX }],
    argv: (site) => ['su', '-s', '/bin/sh', '-c', server(site), 'games'],
    sexton: { codes: [143] },
  },
  {
    kind: 'runuser',
    title: '`runuser -u games server`',
    needs: [{ program: '/usr/sbin/runuser', package: UTIL_LINUX }],
    argv: (site) => words(`runuser -u games -- ${server(site)}`),
    sexton: { codes: [0] },
  },
  {
    kind: 'sudo',
    title: '`sudo -u games server`',
    needs: [SUDO],
    argv: (site) => words(`sudo -u games ${server(site)}`),
    sexton: { codes: [0] },
  },
  {
    kind: 'setpriv',
    title: '`setpriv --reuid server`',
    needs: [{ program: '/usr/bin/setpriv', package: UTIL_LINUX }],
    argv: (site) => words(`setpriv --reuid 5 --clear-groups ${server(site)}`),
    sexton: { codes: [0] },
  },
  {
    kind: 'nohup',
    title: '`env nice nohup server`',
    needs: [],
    argv: (site) => words(`env nice nohup ${server(site)}`),
    sexton: { codes: [0] },
  },
];

export const WRAPPER_ROWS: readonly Row[] = WRAPPERS.map(({ kind, title, needs, argv, sexton }) => ({
  kind,
  title,
  needs: [PYTHON, ...needs],
  ...aboutServers('app'),
  prepare: (site) => ({ argv: argv(site) }),
  sexton,
}));
