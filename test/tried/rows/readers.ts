/** Servers whose output goes through another program. Their last lines show whether it reads to the end. */
import type { Program, Row } from '../row.ts';
import type { Site } from '../site.ts';
import { aboutLines, BASH, PYTHON, SH, server } from './parts.ts';

const MULTILOG: Program = { program: '/usr/bin/multilog', package: 'daemontools' };
const fromLog = (site: Site): string => site.read('logs/current');

interface Reader {
  readonly kind: string;
  readonly title: string;
  readonly shell?: string;
  readonly lines: (site: Site) => readonly string[];
  readonly needs?: readonly Program[];
  readonly where?: (site: Site) => string;
  readonly sexton: Row['sexton'];
}

const READERS: readonly Reader[] = [
  {
    kind: 'tee',
    title: '`exec > >(tee log) 2>&1; exec server`',
    lines: (site) => [`exec > >(tee ${site.path('log')}) 2>&1`, `exec ${server(site)}`],
    sexton: { codes: [0] },
  },
  {
    kind: 'tee',
    title: '`exec > >(tee log) 2>&1; server`',
    lines: (site) => [`exec > >(tee ${site.path('log')}) 2>&1`, server(site), 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'tee',
    title: 'sh: `server | tee log`',
    shell: SH,
    lines: (site) => [`${server(site)} 2>&1 | tee ${site.path('log')}`],
    sexton: { codes: [143] },
  },
  {
    kind: 'sed',
    title: '`exec > >(sed -u s/^/app:/); exec server`',
    lines: (site) => ['exec > >(sed -u s/^/app:/) 2>&1', `exec ${server(site)}`],
    sexton: { codes: [0] },
  },
  {
    kind: 'sed',
    title: 'bash: `server | sed -u s/^/app:/`',
    lines: (site) => ['set -o pipefail', `${server(site)} 2>&1 | sed -u s/^/app:/`],
    sexton: { codes: [143] },
  },
  {
    kind: 'sed',
    title: 'bash: `server | grep | sed`',
    lines: (site) => [`${server(site)} 2>&1 | grep --line-buffered . | sed -u s/^/app:/`, 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'multilog',
    title: '`exec > >(multilog logs); exec server`',
    needs: [MULTILOG],
    lines: (site) => [`exec > >(multilog ${site.path('logs')}) 2>&1`, `exec ${server(site)}`],
    where: fromLog,
    sexton: { codes: [0] },
  },
  {
    kind: 'multilog',
    title: 'bash: `server | multilog logs`',
    needs: [MULTILOG],
    lines: (site) => [`${server(site)} 2>&1 | multilog ${site.path('logs')}`],
    where: fromLog,
    sexton: { codes: [143] },
  },
  {
    kind: 'fifo',
    title: 'sh: `cat < fifo & exec server > fifo`',
    shell: SH,
    lines: (site) => [
      `mkfifo ${site.path('fifo')}`,
      `cat < ${site.path('fifo')} &`,
      `exec ${server(site)} > ${site.path('fifo')} 2>&1`,
    ],
    sexton: { codes: [0] },
  },
  {
    kind: 'configuration by a pipe',
    title: 'bash: `echo configuration | server`',
    lines: (site) => [`echo configuration | ${server(site)}`, 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'configuration by a pipe',
    title: 'bash: `tail -f log | server`',
    lines: (site) => [`tail -f ${site.write('input', '')} | ${server(site)}`, 'echo ended'],
    sexton: { codes: [143] },
  },
  {
    kind: 'Python parent',
    title: 'Python: a parent without a handler that reads the output of its server',
    lines: (site) => {
      const words = JSON.stringify(server(site).split(' '));
      const parent = [
        'import subprocess',
        `child = subprocess.Popen(${words}, stdout=subprocess.PIPE, text=True)`,
        'for line in child.stdout:',
        '    print(line, end="", flush=True)',
        '',
      ];
      return [`exec ${PYTHON.program} ${site.write('parent.py', parent.join('\n'))}`];
    },
    // The parent dies of TERM, and with it goes the only reader.
    sexton: { ranks: ['lost'], codes: [143] },
  },
  {
    kind: 'awk',
    title: '`exec > >(awk ..); server & wait`',
    lines: (site) => ["exec > >(awk '{ print; fflush() }') 2>&1", `${server(site)} &`, 'wait'],
    sexton: { codes: [143] },
  },
];

export const READER_ROWS: readonly Row[] = READERS.map(
  ({ kind, title, shell = BASH, lines, needs = [], where, sexton }) => ({
    kind,
    title,
    needs: [PYTHON, ...needs],
    ...aboutLines(where),
    prepare: (site) => ({ argv: site.script(shell, lines(site)) }),
    sexton,
  }),
);
