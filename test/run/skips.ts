/**
 * The reasons for which a test may be skipped, each with its condition. A skip for another reason, or without its
 * condition, fails the run. `TEST_SKIPS` narrows the list to the names in it, separated by commas, where it is known
 * what a machine has.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { type Controller, canMakeCgroup } from '../helpers/cgroup.ts';
import { FIXTURES } from '../helpers/paths.ts';
import { RELOAD_ROWS, ROWS } from '../tried/rows/index.ts';

export interface ExpectedSkip {
  readonly name: string;
  readonly reason: RegExp;
  /** Whether the reason holds on this machine. `word`: what the pattern has in parentheses. */
  readonly isTrueHere: (word: string) => boolean;
}

/** Programs whose tests are skipped where they are not installed. */
const PROGRAMS = new Set([
  // Those of test/tried.
  ...[...ROWS, ...RELOAD_ROWS].flatMap(({ needs }) => needs.map(({ program }) => basename(program))),
  ...['aarch64-linux-gnu-gcc', 'chromium', 'clang', 'dumb-init', 'faketime', 'fish', 'haproxy', 'man', 'mkfs.ext4'],
  ...['musl-gcc', 'nginx', 'qemu-aarch64-static', 'shfmt', 'spin', 'strace', 'tini', 'valgrind', 'zsh'],
  // Those of test/servers.
  ...['apache2', 'caddy', 'celery', 'etcd', 'gunicorn', 'lighttpd', 'memcached', 'mosquitto', 'mosquitto_pub'],
  ...['nats-server', 'php-fpm8.2', 'postgres', 'puma', 'redis-server', 'python3', 'squid', 'systemd-notify'],
  'uwsgi-core',
]);

const IS_ROOT = process.getuid?.() === 0;

export const EXPECTED_SKIPS: readonly ExpectedSkip[] = [
  { name: 'linux', reason: /^needs Linux$/, isTrueHere: () => process.platform !== 'linux' },
  { name: 'root', reason: /^needs root$/, isTrueHere: () => !IS_ROOT },
  {
    name: 'mount',
    reason: /^needs the right to mount$/,
    isTrueHere: () => !IS_ROOT || !canRun('unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'),
  },
  {
    name: 'pid-namespace',
    reason: /^needs PID namespaces$/,
    isTrueHere: () => !canRun('unshare', '--pid', '--fork', '--mount-proc', 'true'),
  },
  {
    name: 'user-namespace',
    reason: /^needs user namespaces$/,
    isTrueHere: () => !canRun('unshare', '--user', '--map-root-user', 'true'),
  },
  {
    name: 'network-namespace',
    reason: /^needs network namespaces, IPv6 and iproute2$/,
    isTrueHere: () =>
      !existsSync('/proc/net/if_inet6') ||
      !canRun('unshare', '--net', '--', 'ip', 'link', 'add', 'sx0', 'type', 'veth'),
  },
  {
    name: 'cgroup',
    reason: /^needs a cgroup of its own with the controller (memory|pids|cpu|cpuacct|freezer)$/,
    isTrueHere: (controller) => !canMakeCgroup(controller as Controller),
  },
  { name: 'fuse', reason: /^needs \/dev\/fuse$/, isTrueHere: () => !canOpen('/dev/fuse') },
  {
    name: 'fanotify',
    reason: /^needs permission events of fanotify$/,
    isTrueHere: () => !canRun(join(FIXTURES, 'holder'), process.execPath),
  },
  {
    name: 'core-file',
    reason: /^needs core files in the working directory$/,
    isTrueHere: () => readFileSync('/proc/sys/kernel/core_pattern', 'latin1').trim() !== 'core',
  },
  ...[...PROGRAMS].map((name) => ({
    name,
    reason: new RegExp(`^((?:/\\S+/)?${name.replaceAll('.', '[.]')}) is not installed`),
    isTrueHere: (program: string) => !isInstalled(program),
  })),
  ...['systemd.daemon', 'sdnotify'].map((name) => ({
    name,
    reason: new RegExp(`^(${name}) is not installed`),
    isTrueHere: (module: string) => !canRun('/usr/bin/python3', '-c', `import ${module}`),
  })),
  // Each test says what podman or the cluster cannot do.
  { name: 'podman', reason: /^not in podman: ./, isTrueHere: () => process.env.TEST_ENGINE === 'podman' },
  { name: 'cluster', reason: /^not on this cluster: ./, isTrueHere: () => process.env.TEST_CLUSTER_RUN !== undefined },
];

/** Why a skip is not expected here; undefined: it is. `allowed`: the value of TEST_SKIPS. */
export function whyUnexpected(
  reason: string,
  allowed: string | undefined,
  expected: readonly ExpectedSkip[] = EXPECTED_SKIPS,
): string | undefined {
  for (const { name, reason: pattern, isTrueHere } of expected) {
    const match = pattern.exec(reason);
    if (match === null) continue;
    if (allowed !== undefined && !allowed.split(',').includes(name)) return `TEST_SKIPS does not name ${name}`;
    return isTrueHere(match[1] ?? '') ? undefined : 'this is not so on this machine';
  }
  return 'test/run/skips.ts has no such reason';
}

function canRun(file: string, ...args: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

function canOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isInstalled(program: string): boolean {
  if (program.includes('/')) return existsSync(program);
  return (process.env.PATH ?? '').split(delimiter).some((dir) => existsSync(join(dir, program)));
}
