/**
 * A pod on this machine without any container engine: one main and two sidecars, each a process under sexton, over one
 * graveyard. The main ends; its sidecars, which alone would run for ever, follow in the reverse order of their start.
 *
 * What is printed comes from the tombstones that the members have carved, not from this program's own watching.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HistoryEntry, Tombstone } from '../../src/core/tombstone.ts';
import { NODE, SEXTON, withoutSettings } from '../stage.ts';

interface Member {
  readonly name: string;
  readonly flags: readonly string[];
  readonly command: readonly string[];
}

const HERE = dirname(fileURLToPath(import.meta.url));

const POD: readonly Member[] = [
  { name: 'shipper', flags: ['--role', 'sidecar'], command: [join(HERE, 'shipper.sh')] },
  {
    name: 'proxy',
    flags: ['--role', 'sidecar', '--start-after', 'shipper=started'],
    command: [NODE, join(HERE, 'proxy.mjs')],
  },
  { name: 'report', flags: ['--start-after', 'proxy=started'], command: [NODE, join(HERE, 'report.mjs')] },
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
  console.log('A pod of one main (report) and two sidecars (proxy, shipper), restartPolicy Never.\n');
  const statuses = await Promise.all(POD.map(start));
  const tombstones = POD.map(({ name }) => readTombstone(name));
  printHistory(tombstones);
  printEnd(tombstones, statuses);
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

function readTombstone(name: string): Tombstone {
  try {
    return JSON.parse(readFileSync(join(graveyard, name), 'utf8'));
  } catch (cause) {
    throw new Error(`cannot read the tombstone of ${name}: its sexton did not get as far, see above`, { cause });
  }
}

function printHistory(tombstones: readonly Tombstone[]): void {
  const lines = tombstones.flatMap(({ Name, StopRequested, StopReason, History = [] }) => {
    const decision = StopRequested === undefined ? [] : [{ at: StopRequested, name: Name, words: StopReason ?? '' }];
    return [...decision, ...History.flatMap((it) => inWords(it).map((words) => ({ at: it.At, name: Name, words })))];
  });
  const sorted = lines.toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const first = Date.parse(sorted[0]?.at ?? '');
  printRow('time', ...POD.map((it) => it.name));
  for (const { at, name, words } of sorted) {
    const seconds = ((Date.parse(at) - first) / 1_000).toFixed(3);
    printRow(`${seconds} s`, ...POD.map((it) => (it.name === name ? words : '')));
  }
}

/** What a person wants to see of it; none: phases and the like. */
function inWords({ Event, Signal, ExitCode }: HistoryEntry): string[] {
  switch (Event) {
    case 'phase':
      return [];
    case 'signal sent':
      return [`gets ${Signal}`];
    case 'exited':
      return [ExitCode === undefined ? `ended by ${Signal}` : `exited ${ExitCode}`];
    default:
      return [Event];
  }
}

function printEnd(tombstones: readonly Tombstone[], statuses: readonly number[]): void {
  console.log();
  printRow('', ...POD.map((it) => it.name));
  printRow('role', ...tombstones.map((it) => it.Role ?? ''));
  printRow('ended', ...tombstones.map((it) => it.Reason ?? 'no tombstone'));
  printRow('its code', ...tombstones.map((it) => String(it.ExitCode ?? '')));
  printRow('container', ...statuses.map(String));
  const [written, shipped] = ['log', 'shipped'].map(
    (name) => readFileSync(join(dir, name), 'utf8').split('\n').length - 1,
  );
  console.log(
    `\nThe pod ${statuses.every((it) => it === 0) ? 'succeeded' : 'failed'}; ${shipped} of ${written} log lines were shipped.`,
  );
}

function printRow(head: string, ...cells: readonly string[]): void {
  console.log(`  ${head.padEnd(11)}${cells.map((cell) => cell.padEnd(24)).join('')}`.trimEnd());
}
