/** What a failed round leaves: the plan, one timeline of all that happened, the tombstones and the logs. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FOREIGN } from './flood.ts';
import type { RoundRecord } from './record.ts';

/** The directory. */
export function keep(record: RoundRecord, violations: readonly string[]): string {
  const dir = join(tmpdir(), 'sexton-faults', `seed-${record.plan.seed}`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'violations'), `${violations.join('\n')}\n`);
  writeFileSync(join(dir, 'plan.json'), `${JSON.stringify(record.plan, undefined, 2)}\n`);
  writeFileSync(join(dir, 'timeline'), timelineOf(record));
  for (const [name, text] of record.graveyard) {
    if (/^\.?m\d|^\.?s\d/.test(name) && !name.startsWith(FOREIGN)) writeFileSync(join(dir, `tombstone-${name}`), text);
  }
  const counts = new Map<string, number>();
  for (const life of record.lives) {
    const count = (counts.get(life.member) ?? 0) + 1;
    counts.set(life.member, count);
    writeFileSync(join(dir, `log-${life.member}-${count}`), `${life.stderr}exit ${life.status}\n`);
  }
  return dir;
}

/** Milliseconds since the first thing that happened, in its order. */
export function timelineOf({ events, happenings, lives }: RoundRecord): string {
  const lines: [number, string][] = [
    ...events.map((it): [number, string] => [it.atMs, `${it.name} ${it.event} ${it.detail}`]),
    ...happenings.map((it): [number, string] => {
      const length = it.untilMs > it.fromMs ? ` for ${(it.untilMs - it.fromMs).toFixed(0)} ms` : '';
      return [it.fromMs, `  * ${it.kind} ${it.member}${length}${it.isHit ? '' : ' (hit nobody)'}`];
    }),
    ...lives.map((it): [number, string] => [it.fromMs, `  container ${it.member} begins`]),
    ...lives.map((it): [number, string] => [it.untilMs, `  container ${it.member} has ended: ${it.status}`]),
  ];
  lines.sort(([a], [b]) => a - b);
  const first = lines[0]?.[0] ?? 0;
  return lines.map(([at, text]) => `${(at - first).toFixed(1).padStart(9)} ${text}\n`).join('');
}
