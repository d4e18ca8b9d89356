/**
 * What a report of a large fleet takes: a log of 10,000 pods, two members each, among as many lines of other things.
 * Time and memory are the whole process's, by GNU time.
 */
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { SEXTON } from '../../helpers/paths.ts';
import { at, EVIDENCE } from '../../report/pods.ts';
import { type Case, Samples } from '../measurement.ts';

const PODS = 10_000;
const NAME = '10,000 pods as text';
const MAX_NS = 5e9;
const MAX_KIB = 200 * 1024;

export const report: Case = {
  name: 'report',
  rounds: 3,
  async run({ rounds }) {
    const dir = mkdtempSync(join(tmpdir(), 'sexton-bench-'));
    try {
      const log = join(dir, 'log');
      await writeLog(log);
      const [time, memory] = [new Samples([]), new Samples([])];
      for (let round = 0; round < rounds; round++) {
        const { ns, kib } = reportOf(log, join(dir, 'time'));
        time.add(NAME, ns);
        memory.add(NAME, kib);
      }
      const common = { references: [], aims: [] };
      return [
        {
          title: 'report: time',
          unit: 'ns',
          figures: time.figures(),
          notes: [`the aim is ${MAX_NS / 1e9} s`],
          ...common,
        },
        {
          title: 'report: memory',
          unit: 'KiB',
          figures: memory.figures(),
          notes: [`the aim is ${MAX_KIB / 1024} MiB`],
          ...common,
        },
      ];
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** As `kubectl logs --prefix` prints them. */
async function writeLog(path: string): Promise<void> {
  const out = createWriteStream(path);
  for (let pod = 0; pod < PODS; pod++) {
    const drainMs = (pod * 7_919) % 20_000;
    const Phases = [
      { Phase: 'drain', Ms: drainMs },
      { Phase: 'ladder', Signal: 'SIGTERM', Ms: 500 },
    ];
    for (const Name of ['main', 'proxy']) {
      const evidence = { ...EVIDENCE, Name, Phases, Session: `s${pod}`, Died: at(drainMs + 500) };
      const prefix = `[pod/web-${pod % 9}-${pod}/${Name}]`;
      const lines = [
        { message: 'started', level: 'info' },
        { message: 'dead', level: 'info', evidence },
      ];
      out.write(lines.map((line) => `${prefix} ${JSON.stringify(line)}\n`).join(''));
    }
  }
  out.end();
  await finished(out);
}

function reportOf(log: string, times: string): { readonly ns: number; readonly kib: number } {
  const since = process.hrtime.bigint();
  const { status, stdout, error } = spawnSync('time', ['-f', '%M', '-o', times, SEXTON, 'report', log], {
    encoding: 'utf8',
  });
  const ns = Number(process.hrtime.bigint() - since);
  if (error !== undefined) throw new Error('the report: GNU time is not there; apt-get install time');
  if (status !== 0 || !/ 1[0-9]{3} /.test(stdout)) throw new Error(`the report failed: ${stdout.slice(0, 200)}`);
  return { ns, kib: Number(readFileSync(times, 'utf8').trim().split('\n').at(-1)) };
}
