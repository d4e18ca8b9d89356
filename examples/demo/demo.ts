/**
 * A pod on this machine without any container engine: one main and two sidecars, each a process under sexton, over one
 * graveyard. The main ends; its sidecars, which alone would run for ever, follow in the reverse order of their start.
 *
 * What is printed is `sexton report` of the tombstones that the members have written, not this program's own watching.
 * With `--picture` the tombstones are kept for the tests, and the picture of README is drawn from them.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE, SEXTON, withoutSettings } from '../stage.ts';

interface Member {
  readonly name: string;
  readonly flags: readonly string[];
  readonly command: readonly string[];
}

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');

const POD: readonly Member[] = [
  { name: 'shipper', flags: ['--role', 'sidecar'], command: [join(HERE, 'shipper.sh')] },
  {
    name: 'proxy',
    flags: ['--role', 'sidecar', '--start-after', 'shipper=started'],
    command: [NODE, join(HERE, 'proxy.mjs')],
  },
  { name: 'job', flags: ['--start-after', 'proxy=started'], command: [NODE, join(HERE, 'job.mjs')] },
];

/** Should a member hang, the demo does not. */
const PATIENCE_MS = 120_000;

const dir = mkdtempSync(join(tmpdir(), 'sexton-demo-'));
const graveyard = join(dir, 'graveyard');
const running = new Map<string, ChildProcess>();
// Ctrl-C reaches the members as well, by the terminal; only what it leaves behind is ours to clear.
process.on('SIGINT', () => {});
try {
  process.exitCode = await demo();
} finally {
  for (const child of running.values()) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
}

async function demo(): Promise<number> {
  mkdirSync(graveyard);
  writeFileSync(join(dir, 'log'), '');
  console.log('A pod of one main (job) and two sidecars (proxy, shipper), restartPolicy Never.\n');
  const statuses = await Promise.all(POD.map(start));
  console.log(report(graveyard));
  printEnd(statuses);
  if (process.argv.includes('--picture')) draw();
  return statuses.every((status) => status === 0) ? 0 : 1;
}

/** Resolves with the exit code, as a platform would see it. */
function start({ name, flags, command }: Member): Promise<number> {
  const declared = ['--name', name, '--graveyard', graveyard, '--restart-policy', 'Never', '--grace-period', '30s'];
  const child = spawn(
    SEXTON,
    ['run', ...declared, '--session', 'demo', '--log-level', 'error', ...flags, '--', ...command],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...withoutSettings(process.env),
        DEMO_LOG: join(dir, 'log'),
        DEMO_SHIPPED: join(dir, 'shipped'),
        DEMO_SOCKET: join(dir, 'proxy.sock'),
      },
    },
  );
  running.set(name, child);
  const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`cannot start ${SEXTON}: run npm run build first`, { cause })));
    child.once('exit', (code) => {
      clearTimeout(patience);
      running.delete(name);
      resolve(code ?? 137);
    });
  });
}

/** As at the shell, but for colours: on a terminal this output may go elsewhere. */
function report(...args: readonly string[]): string {
  return execFileSync(SEXTON, ['report', ...args], { encoding: 'utf8', env: withoutSettings(process.env) });
}

function printEnd(statuses: readonly number[]): void {
  const [written, shipped] = ['log', 'shipped'].map(
    (name) => readFileSync(join(dir, name), 'utf8').split('\n').length - 1,
  );
  console.log(`The containers exited with ${POD.map(({ name }, index) => `${statuses[index]} (${name})`).join(', ')}.`);
  const end = statuses.every((it) => it === 0) ? 'succeeded' : 'failed';
  console.log(`The pod ${end}; ${shipped} of ${written} log lines were shipped.`);
}

function draw(): void {
  const kept = join(ROOT, 'test', 'report', 'demo');
  mkdirSync(kept, { recursive: true });
  // A tombstone is padded with spaces up to its size.
  for (const { name } of POD)
    writeFileSync(join(kept, name), `${readFileSync(join(graveyard, name), 'utf8').trimEnd()}\n`);
  writeFileSync(join(ROOT, 'docs', 'stop.svg'), report('-o', 'svg', kept));
}
