/** Service managers, daemons of a machine, a browser and Erlang. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { waitFor } from '../../helpers/wait.ts';
import type { Program, Row } from '../row.ts';
import { PORT, type Site } from '../site.ts';
import { aboutServers, aboutSign, BASH, PYTHON, SH, server } from './parts.ts';

const ERLANG: Program = { program: '/usr/bin/erl', package: 'erlang-base' };
const SSHD: Program = { program: '/usr/sbin/sshd', package: 'openssh-server' };

/** A directory of services, for managers that look for `run` in each. */
function services(site: Site, names: readonly string[]): string {
  for (const name of names) {
    mkdirSync(site.path(`services/${name}`), { recursive: true });
    chmodSync(site.write(`services/${name}/run`, `#!/bin/sh\nexec ${server(site, name)}\n`), 0o755);
  }
  return site.path('services');
}

const MANAGERS = (
  [
    ['runit', '`runsvdir` with two services', '/usr/bin/runsvdir', 'runit', [0]],
    ['daemontools', '`svscan` with two services', '/usr/bin/svscan', 'daemontools', [143]],
    ['s6', '`s6-svscan` with two services', '/usr/bin/s6-svscan', 's6', [0]],
  ] as const
).map(
  ([kind, title, program, name, codes]): Row => ({
    kind,
    title,
    needs: [PYTHON, { program, package: name }],
    ...aboutServers('one', 'two'),
    prepare: (site) => ({ argv: [program, services(site, ['one', 'two'])] }),
    sexton: { codes },
  }),
);

function sshd(site: Site): string {
  const options = ['PidFile=none', `AuthorizedKeysFile=${site.path('id.pub')}`, 'StrictModes=no', 'UsePAM=no'];
  const more = ['PermitRootLogin=yes', 'PasswordAuthentication=no', `ListenAddress=${site.host}`];
  const list = [...options, ...more].map((it) => `-o ${it}`).join(' ');
  return `${SSHD.program} -f /dev/null -p ${PORT} -h ${site.path('host-key')} ${list}`;
}

function sshRow(title: string, lines: (line: string) => readonly string[], sexton: Row['sexton']): Row {
  return {
    kind: 'sshd',
    title,
    needs: [SSHD, PYTHON],
    isReady: (site) => site.isListening(),
    begin: async (site) => {
      const options = [
        'StrictHostKeyChecking=no',
        'UserKnownHostsFile=/dev/null',
        'IdentitiesOnly=yes',
        'BatchMode=yes',
      ];
      const flags = options.flatMap((it) => ['-o', it]);
      const remote = `SCRATCH=${site.dir} exec ${PYTHON.program} ${site.program('session.py')}`;
      const key = ['-F', '/dev/null', '-i', site.path('id'), '-p', String(PORT)];
      void site.helper('ssh', ...key, ...flags, `root@${site.host}`, remote);
      await waitFor('the session is there', () => site.has('begun'));
    },
    workMs: 1_000,
    ...aboutSign((site) => site.has('clean'), ['session clean', 'session cut']),
    prepare: async (site) => {
      for (const name of ['host-key', 'id'])
        await site.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', site.path(name));
      return {
        argv: site.script(BASH, lines(sshd(site))),
        mounts: ['mount -t tmpfs none /run', 'mkdir /run/sshd'],
      };
    },
    sexton,
  };
}

function chromium(site: Site): readonly string[] {
  const flags = ['--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage'];
  return ['chromium', ...flags, `--user-data-dir=${site.path('profile')}`, '--remote-debugging-port=0', 'about:blank'];
}

const aboutChromium: Pick<Row, 'isReady' | 'judge' | 'workMs'> = {
  isReady: (site) => site.has('profile/DevToolsActivePort'),
  workMs: 2_000,
  judge: (site) => {
    // What a killed X server leaves.
    for (const name of [`.X${site.freePort}-lock`, `.X11-unix/X${site.freePort}`])
      rmSync(`/tmp/${name}`, { force: true });
    const isClean = /"exit_type":"(Normal|SessionEnded)"/.test(site.read('profile/Default/Preferences'));
    return { whole: isClean ? 1 : 0, of: 1, text: isClean ? 'profile clean' : 'profile of a crash' };
  },
};

const DAEMONS: readonly Row[] = [
  sshRow('sshd with a session', (line) => [`exec ${line} -D -e`], { codes: [0, 143] }),
  sshRow('sshd as a daemon with a session, then `exec tail -f`', (line) => [line, 'exec tail -f /dev/null'], {
    codes: [143],
  }),
  {
    kind: 'cron',
    title: '`cron -f` with a job under way',
    needs: [{ program: '/usr/sbin/cron', package: 'cron' }, PYTHON],
    isReady: (site) => site.has('begun'),
    workMs: 1_000,
    ...aboutSign((site) => site.has('clean'), ['job clean', 'job cut']),
    prepare: (site) => {
      mkdirSync(site.path('cron.d'));
      const job = `SCRATCH=${site.dir} exec ${PYTHON.program} ${site.program('session.py')}`;
      site.write('cron.d/job', `@reboot root ${job}\n`);
      return {
        argv: ['cron', '-f'],
        // Nothing of this machine's own is due.
        mounts: [
          'mount -t tmpfs none /run',
          'mount -t tmpfs none /var/spool/cron',
          `mount --bind ${site.write('crontab', '')} /etc/crontab`,
          `mount --bind ${site.path('cron.d')} /etc/cron.d`,
        ],
      };
    },
    sexton: { codes: [143] },
  },
  {
    kind: 'Xvfb and a browser',
    title: '`Xvfb &`, then `exec chromium`',
    needs: [
      { program: '/usr/bin/Xvfb', package: 'xvfb' },
      { program: '/usr/bin/chromium', package: 'chromium' },
    ],
    ...aboutChromium,
    prepare: (site) => {
      return {
        argv: site.script(BASH, [
          `Xvfb :${site.freePort} &`,
          `until [ -e /tmp/.X11-unix/X${site.freePort} ]; do sleep 0.1; done`,
          `exec ${chromium(site).join(' ')}`,
        ]),
        env: { DISPLAY: `:${site.freePort}` },
      };
    },
    sexton: { codes: [0] },
  },
  {
    kind: 'Xvfb and a browser',
    title: '`xvfb-run chromium`, its script does not exec it',
    needs: [
      { program: '/usr/bin/xvfb-run', package: 'xvfb xauth' },
      { program: '/usr/bin/chromium', package: 'chromium' },
    ],
    ...aboutChromium,
    prepare: (site) => ({
      argv: site.script(BASH, [`xvfb-run -n ${site.freePort} ${chromium(site).join(' ')}`, 'echo ended']),
    }),
    sexton: { codes: [143] },
  },
  ...(
    [
      ['erlang, its script execs it', ['exec '], [0]],
      ['erlang, its script does not exec it', [''], [143]],
    ] as const
  ).map(
    ([title, [before], codes]): Row => ({
      kind: 'erlang',
      title,
      needs: [ERLANG],
      isReady: (site) => site.has('ready'),
      workMs: 4_000,
      ...aboutSign((site) => site.has('clean')),
      prepare: async (site) => {
        await site.run('erlc', '-o', site.dir, site.program('work.erl'));
        site.write(
          'work.app',
          '{application, work, [{vsn, "1"}, {applications, [kernel, stdlib]}, {mod, {work, []}}]}.\n',
        );
        const start = "-eval 'ok = application:start(work, permanent).'";
        return { argv: site.script(SH, [`${before}erl -noshell -pa ${site.dir} ${start}`, 'echo ended']) };
      },
      sexton: { codes },
    }),
  ),
];

export const SERVICE_ROWS: readonly Row[] = [...MANAGERS, ...DAEMONS];
