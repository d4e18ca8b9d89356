/** The simulation in short: some thousand seeded pods. The long form is `node test/sim/run.ts --runs 1000000`. */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Coverage } from './coverage.ts';
import { draw } from './draw.ts';
import { inMacrotask } from './microtasks.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { timelineOf } from './timeline.ts';
import { World } from './world.ts';

const RUNS = 4_000;

describe('simulated pods', () => {
  it(`break no law in ${RUNS} seeded runs, and every kind of fault happens`, async (test) => {
    const coverage = new Coverage();
    for (let seed = 1; seed <= RUNS; seed += 1) {
      assert.equal(await simulate(draw(seed), coverage), undefined, `node test/sim/run.ts --runs 1 --seed ${seed}`);
    }
    assert.ok(LAWS.length > 20, LAWS.join());
    for (const law of LAWS) assert.ok(coverage.counts.has(`law ${law}`), `it is never put to the test: ${law}`);
    for (const what of EXERCISED) assert.ok((coverage.counts.get(what) ?? 0) > 0, `it never happens: ${what}`);
    test.diagnostic(coverage.lines().join(', '));
  });

  it('do the same again from the same seed', async () => {
    for (const seed of [11, 222, 3_333]) assert.deepEqual(await timelineOf(draw(seed)), await timelineOf(draw(seed)));
  });

  it('start no real timer, and nothing that a thread or the kernel does', async () => {
    const started = new Set<string>();
    const hook = createHook({ init: (_id, type) => void (INNER.has(type) || started.add(type)) });
    for (let seed = 1; seed <= 100; seed += 1) {
      const runs = (): void => {
        hook.enable();
        new World(draw(seed), () => {}).run();
        hook.disable();
      };
      await inMacrotask(runs, (error) => assert.fail(String(error)));
    }
    assert.deepEqual([...started], []);
  });

  it('are made smaller as long as they fail in the same way', async () => {
    const isWiped = (scenario: ReturnType<typeof draw>): boolean =>
      scenario.faults.some((fault) => fault.do === 'wipe');
    const seed = Array.from({ length: 500 }, (_, at) => at).find(
      (at) => isWiped(draw(at)) && draw(at).faults.length > 3,
    );
    assert.ok(seed !== undefined);
    const small = await shrink(draw(seed), isWiped);
    assert.deepEqual([small.faults.map((fault) => fault.do), small.members.length], [['wipe'], 1]);
  });
});

/** What settles between two steps of the agenda. */
const INNER: ReadonlySet<string> = new Set(['PROMISE', 'Microtask']);

/** As the page has them: the first column of its first table. */
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/internals/guarantees.md'), 'utf8');
const LAWS = (PAGE.split('## The laws')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .flatMap((line) => /^\| ([a-zA-Z ]+) \|/.exec(line)?.[1] ?? [])
  .filter((name) => name !== 'name');

const EXERCISED = `
KILL by sexton, all restarted, alone, alone and back, event doubled, event late, event lost, event merged
grace shortened, hanging supervisor killed, leftover cleared, read unparsable, restarted by a rule: restart
restarted by a rule: restart-all, supervisor killed after, supervisor killed before the commit
supervisor killed before the write, supervisor killed between, watched again, write torn
fault: KILL at the sleep, fault: crash supervisor, fault: deafen, fault: delete, fault: end at the sleep, fault: evict
fault: freeze, fault: hang supervisor, fault: kill command, fault: kill container, fault: litter empty
fault: litter garbage, fault: litter leftover, fault: pause, fault: reboot, fault: replace, fault: restart all
fault: sexton restart at the prepared end, fault: sexton stop, fault: sexton stop at the prepared end, fault: signal
fault: signal at the sleep, fault: starve supervisor, fault: supervisor that cannot be started
fault: supervisor that dies, fault: supervisor that hangs, fault: turn clock, fault: volume denied, fault: volume full
fault: volume read-only, fault: volume slow, fault: wipe
`
  .trim()
  .split(/, |\n/);
