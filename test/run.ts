/**
 * `node test/run.ts [--quick|--containers|--cluster|--machines] [--grep PATTERN] [PATH ...]` runs the test files whose path
 * contains one of PATH (all without), two at a time. `--containers` takes those that need a container engine, which are
 * left out otherwise. It then repeats the tests of pods and PID 1, one file at a time, in podman's containers, or in
 * those of Docker with TEST_DOCKER. `--cluster` takes those that need a Kubernetes cluster, and no others. `--machines`
 * takes those that show how a kernel and its cgroups behave, one file at a time. It is for emulated machines, as root
 * and with cgroup v2.
 *
 * It builds what has changed first, except with `--quick` or TEST_SEXTON. A run of all tests gives a file that failed a
 * second attempt: see ./run/attempts.ts.
 *
 * The last line is `N passed, N failed`, with `, N skipped` when there are any. A line before it names each reason of
 * skipping, and each file that passed at its second attempt only. The run fails when a test failed, when nothing ran,
 * or when a test was skipped for a reason that ./run/skips.ts does not expect. It also fails when something made for
 * the run is left: a process, a container, a namespace or an image of the cluster.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { release } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { buildImages, type Images } from '../docker/build.ts';
import { beginSession, type Session } from './cluster/helpers/session.ts';
import { buildFixtures } from './helpers/fixture.ts';
import { DOCKER, removeContainers } from './helpers/podman.ts';
import { runTwice } from './run/attempts.ts';
import { killLeftovers } from './run/leftovers.ts';
import type { Totals } from './run/reports.ts';
import { whyUnexpected } from './run/skips.ts';

const ROOT = join(import.meta.dirname, '..');
/** What needs a container engine. */
const CONTAINERS = /^test\/(pods\/real|docker)\//;
/** What needs a Kubernetes cluster. */
const CLUSTER = /^test\/cluster\//;
/** What needs neither the built program nor a process. THOROUGH is the part that tries many thousands of lives. */
const QUICK = /^test\/(core|docs)\/|^test\/config\/(?!.*blackbox)|^test\/cli\/subcommand/;
const THOROUGH = /^test\/core\/properties\.test/;
/** What depends on the kernel and judges no short times. */
const MACHINES = /^test\/(?:pods\/(?!races)|stops\/|pid1\/(?!image|.*undisturbed))[^/]+$/;
const ON_EITHER_ENGINE = /^test\/(pods|pid1)\/[^/]+$/;
const MARKER = 'TEST_RUN_MARK';

const { values, positionals } = parseArgs({
  options: {
    containers: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    machines: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    grep: { type: 'string' },
  },
  allowPositionals: true,
});

const mark = randomBytes(8).toString('hex');
process.env[MARKER] = mark;
process.chdir(ROOT);
// The tests do not depend on what a person has set for terminals, and other users read what they make.
for (const name of ['COLUMNS', 'FORCE_COLOR', 'NO_COLOR']) delete process.env[name];
process.env.LC_ALL = 'C.UTF-8';
process.umask(0o022);

// An interrupted run must also end what its tests started.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => void clear().then(() => process.exit(code)));
}

// The tests of processes start what is in dist, and a stale one would be tested in silence.
if (!values.quick && process.env.TEST_SEXTON === undefined) {
  const { status } = spawnSync(process.execPath, ['src/delivery/build.ts'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(1);
}

const all = globSync('test/**/*.test.ts')
  .sort()
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .filter((file) => !values.quick || (QUICK.test(file) && !THOROUGH.test(file)));
const totals: Totals = { passed: 0, failed: 0, skipped: 0 };
const skips = new Map<string, number>();
const unexpected: string[] = [];
const unsteady: string[] = [];
/** A person who names tests looks for a failure and wants to see it. An emulated machine stands still more often. */
const retries = values.machines || (positionals.length === 0 && values.grep === undefined);
let images: Images | undefined;
let session: Session | undefined;
if (values.cluster) {
  session = await beginSession(mark.slice(0, 8)).catch((error: Error) => {
    process.stdout.write(`test:cluster: ${error.message}\n0 passed, 1 failed\n`);
    process.exit(1);
  });
  await runFiles(all.filter((file) => CLUSTER.test(file)));
} else if (values.machines) {
  if (process.getuid?.() !== 0 || !existsSync('/sys/fs/cgroup/cgroup.controllers')) {
    process.stdout.write('test:machines: needs root and cgroup v2\n0 passed, 0 failed, 1 skipped\n');
    process.exit(1);
  }
  await runFiles(
    all.filter((file) => MACHINES.test(file)),
    ` on Linux ${release()}, ${process.arch}`,
    1,
  );
} else if (values.containers) {
  images = await buildImages((await buildFixtures()).member);
  process.env.TEST_IMAGE = images.busybox;
  process.env.TEST_IMAGE_BARE = images.bare;
  if (DOCKER === undefined) await runFiles(all.filter((file) => CONTAINERS.test(file)));
  else spawnSync('bash', ['-c', `podman save ${images.busybox} | ${DOCKER} load`], { stdio: 'inherit' });
  process.env.TEST_ENGINE = 'podman';
  await runFiles(
    all.filter((file) => ON_EITHER_ENGINE.test(file)),
    DOCKER === undefined ? ' in podman' : ' in docker',
    1,
  );
} else {
  await runFiles(all.filter((file) => !CONTAINERS.test(file) && !CLUSTER.test(file)));
}

const leftovers = await clear();
const { passed, failed, skipped } = totals;
for (const it of leftovers) process.stdout.write(`left behind: ${it}\n`);
for (const [why, count] of skips) process.stdout.write(`skipped ${count}: ${why}\n`);
for (const it of unsteady) process.stdout.write(`passed at the second attempt only: ${it}\n`);
for (const it of unexpected) process.stdout.write(`not expected to be skipped: ${it}\n`);
if (passed + failed === 0) process.stdout.write('no test ran\n');
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed > 0 || passed === 0 || leftovers.length > 0 || unexpected.length > 0 ? 1 : 0;

async function runFiles(files: readonly string[], where = '', concurrency = 2): Promise<void> {
  if (files.length === 0) return;
  const outcome = await runTwice(
    files.map((file) => join(ROOT, file)),
    { shorten: (file) => `${relative(ROOT, file)}${where}`, concurrency, grep: values.grep, retries },
  );
  for (const key of ['passed', 'failed', 'skipped'] as const) totals[key] += outcome.totals[key];
  unsteady.push(...outcome.unsteady);
  for (const [why, count] of outcome.skips) {
    skips.set(why, (skips.get(why) ?? 0) + count);
    const problem = whyUnexpected(why, process.env.TEST_SKIPS);
    if (problem !== undefined) unexpected.push(`${why} (${problem})`);
  }
}

/** Ends what is left and says what it was. */
async function clear(): Promise<string[]> {
  const left = (await session?.end()) ?? [];
  const processes = await killLeftovers(`${MARKER}=${mark}`);
  const containers = values.containers ? await removeContainers(mark) : [];
  if (DOCKER !== undefined && images !== undefined) spawnSync(DOCKER, ['image', 'rm', images.busybox]);
  await images?.remove();
  return [
    ...left,
    ...processes.map(({ pid, command }) => `${pid} ${command}`),
    ...containers.map((it) => `container ${it}`),
  ];
}
