import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stopTable } from '../../../src/core/ladder.ts';
import { alive, fixed, mainConfig, sidecarConfig } from '../helpers.ts';
import { Life, main } from '../life.ts';

/** The host's latest order for the next stop request. */
function offered(life: Life): Readonly<Record<number, number>> | undefined {
  const effects = life.done.map(({ effect }) => effect).filter((effect) => effect.type === 'forwardOnce');
  return effects.at(-1)?.table;
}

describe('a stop that waits for nothing', () => {
  it('a main that waits for nothing lets init forward each stop signal as its first rung', () => {
    assert.deepEqual(offered(new Life(main())), { 15: 15, 2: 2 });
    const ladder = [{ signal: 3, forMs: undefined }];
    assert.deepEqual(offered(new Life(main({ ladder }))), { 15: 3, 2: 3 });
    assert.deepEqual(stopTable(mainConfig({ ladder: [{ signal: 9, forMs: undefined }] })), {});
    assert.deepEqual(stopTable(mainConfig({ signals: { 15: 'drop', 2: 3 } })), { 2: 3 });
  });

  it('a sidecar, a drain, and an unread graveyard let init forward nothing', () => {
    assert.equal(offered(new Life({ config: sidecarConfig(), peers: [alive('main')] })), undefined);
    assert.equal(offered(new Life(main({ drain: fixed(1) }))), undefined);
    assert.equal(offered(new Life({ config: mainConfig() })), undefined);
  });

  it('a main keeps its stop to itself while a member that started after it lives', () => {
    const dependent = (over: object): ReturnType<typeof alive> => alive('second', { StartAfter: ['main'], ...over });
    const life = new Life(main({ name: 'main' }));
    life.see(dependent({}));
    assert.deepEqual(offered(life), {});
    life.see(dependent({ Phase: 'dead', Died: '2026-01-01T00:00:00Z', DiedMonotonic: 1e9, ExitCode: 0 }));
    assert.deepEqual(offered(life), { 15: 15, 2: 2 });
  });

  it('a forwarded stop has the same request, rung and deadline as any other', () => {
    const prompt = new Life(main({ gracePeriodMs: 5_000 }, { on: { 15: 'ignores' } }));
    prompt.pass(100).signal(15);
    assert.equal(prompt.phase, 'stopping');
    assert.equal(prompt.sent, '100 TERM');
    prompt.passUntilGone();
    assert.equal(prompt.sent, '100 TERM, 4850 KILL');
    assert.equal(prompt.tombstone.StopReason, 'signal TERM');
  });

  it('K13 a second request is not forwarded, and the child gets no signal twice', () => {
    const life = new Life(main({}, { on: { 15: 'ignores' } })).signal(15).pass(1_000).signal(15);
    assert.equal(life.sent, '0 TERM');
    assert.equal(life.state.stop?.requests, 2);
  });
});
