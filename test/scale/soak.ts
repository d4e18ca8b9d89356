/**
 * `node test/scale/soak.ts [--minutes N] [--json FILE]`: containers come and go in a pod for so long. Exits 1 when the
 * memory or the descriptors of a long-lived member grow.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Churn, withChurn } from './churn.ts';
import { footprintOf } from './footprint.ts';
import { isFlat, type Sample, type Slope, slopeOf } from './slope.ts';

type Book = Map<string, Sample[]>;

async function soak(forMs: number, jsonFile: string | undefined): Promise<boolean> {
  const book: Book = new Map();
  const told = await withChurn(async (churn) => {
    const begin = performance.now();
    const isOver = (): boolean => performance.now() - begin > forMs;
    let lives = 0;
    const lane = async (): Promise<void> => {
      while (!isOver()) {
        await churn.life(lives++);
        await sleep(PAUSE_MS);
      }
    };
    const sampling = async (): Promise<void> => {
      // A new heap grows until it has found its size.
      await sleep(forMs * WARM_UP);
      while (!isOver()) {
        note(book, churn.pids);
        await sleep(SAMPLE_EVERY_MS);
      }
    };
    await Promise.all([...Array.from({ length: LANES }, lane), sampling()]);
    return `${lives} containers came and went, ${churn.restarts()} restarts in place, ${churn.probed()} probes by HTTP`;
  });
  print(`${(forMs / 60_000).toFixed(0)} minutes: ${told}`);
  const rows = [...book].map(([what, samples]) => ({ what, samples, slope: slopeOf(samples) }));
  for (const { what, slope } of rows) print(line(what, slope));
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(rows, undefined, 1)}\n`);
  return rows.every(({ what, slope }) => isFlat(slope, mostPerHour(what)));
}

function note(book: Book, pids: Churn['pids']): void {
  for (const [who, pid] of Object.entries(pids)) {
    const { rssKb, privateKb, descriptors } = footprintOf(pid);
    const found = { 'resident KiB': rssKb, 'private KiB': privateKb, descriptors };
    for (const [what, value] of Object.entries(found)) {
      const key = `${who}, ${what}`;
      const samples = book.get(key) ?? [];
      book.set(key, samples);
      samples.push({ atMs: performance.now(), value });
    }
  }
}

function line(what: string, slope: Slope): string {
  const { perHour, error, first, last } = slope;
  const most = mostPerHour(what);
  const verdict = isFlat(slope, most) ? 'flat' : `GROWS (more than 2 standard errors and ${most} an hour)`;
  const numbers = `${perHour.toFixed(1)} +- ${error.toFixed(1)} an hour, from ${first.toFixed(1)} to ${last.toFixed(1)}`;
  return `  ${what.padEnd(34)} ${numbers}: ${verdict}`;
}

/** About the error of 20 minutes. One leaked descriptor for each container would be 4,500 an hour. */
function mostPerHour(what: string): number {
  if (what.endsWith('descriptors')) return 3;
  return what.includes('init') ? 64 : 4096;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const LANES = 2;
const PAUSE_MS = 400;
const WARM_UP = 0.2;
const SAMPLE_EVERY_MS = 2_000;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' }, json: { type: 'string' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');
process.exitCode = (await soak(minutes * 60_000, values.json)) ? 0 : 1;
