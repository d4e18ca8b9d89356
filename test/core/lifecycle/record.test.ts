import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTombstone, MAX_HISTORY } from '../../../src/core/format/tombstone.ts';
import { parseTombstone } from '../../../src/core/format/tombstone-parse.ts';
import { BOOT, dead, fixed, HOST_ID, START, sidecarConfig } from '../helpers.ts';
import { Life, main, sidecar } from '../life.ts';

describe('the tombstone of a life', () => {
  it('a tombstone says whose it is from the first moment on', () => {
    const startAfter = [{ name: 'net', condition: 'started', optional: false } as const];
    const config = sidecarConfig({ name: 'proxy', session: 's1', startAfter, restartPolicy: 'OnFailure' });
    assert.deepEqual(new Life({ config }).tombstone, {
      Version: 1,
      Name: 'proxy',
      Role: 'sidecar',
      Session: 's1',
      Boot: BOOT,
      Incarnation: `${HOST_ID}-0`,
      Phase: 'waiting',
      RestartPolicy: 'OnFailure',
      StartAfter: ['net'],
      Restarts: 0,
      History: [],
    });
  });

  it('a tombstone has Born and Started, and a new incarnation with each child', () => {
    const life = new Life(sidecar());
    const first = life.tombstone;
    assert.deepEqual([first.Incarnation, first.Restarts, first.Born], [`${HOST_ID}-1`, 0, first.Started]);
    const second = life.pass(1_000).endChild(1).pass(1_000).tombstone;
    assert.deepEqual([second.Incarnation, second.Restarts, second.Died], [`${HOST_ID}-2`, 1, undefined]);
    assert.ok((second.Started ?? '') > (first.Started ?? 'z'));
  });

  it('a tombstone has its death in both clocks, once', () => {
    const life = new Life(main()).pass(1_234).endChild(0);
    const { Died, DiedMonotonic, ExitCode, Reason, Signal } = life.tombstone;
    assert.deepEqual([DiedMonotonic, ExitCode, Reason, Signal], [START + 1_234, 0, 'completed', undefined]);
    assert.equal(Died, '2027-01-15T08:16:41.234000000Z');
    life.pass(60_000).signal(15);
    assert.equal(life.tombstone.Died, Died);
  });

  it('a tombstone has no Died while another life follows or roots are left', () => {
    const life = new Life(main({}, { leaves: 5_000, on: { 15: 'ignores' } })).endChild(0);
    assert.deepEqual([life.tombstone.Died, life.tombstone.ExitCode], [undefined, undefined]);
    assert.equal(life.pass(5_000).tombstone.ExitCode, 0);
  });

  it('a tombstone names every signal received and sent', () => {
    const life = new Life(main({ signals: { 1: 12 } }, { on: { 12: 'ignores' } }));
    const passedOn = { id: 1, row: 'each', signal: 10, as: 12, senderPid: 7, receiverPid: 0 } as const;
    life
      .signal(1)
      .feed({ type: 'ordered', ...passedOn })
      .signal(15);
    const history = life.tombstone.History?.map(({ At: _at, ...entry }) => entry) ?? [];
    for (const entry of [
      { Event: 'signal received', Signal: 'SIGHUP', Sender: 0 },
      { Event: 'signal sent', Signal: 'SIGUSR2' },
      { Event: 'signal forwarded', Signal: 'SIGUSR1', As: 'SIGUSR2', Sender: 7 },
      { Event: 'signal received', Signal: 'SIGTERM', Sender: 0 },
      { Event: 'signal sent', Signal: 'SIGTERM' },
      { Event: 'exited', Signal: 'SIGTERM', Core: false },
    ])
      assert.ok(history.map((it) => JSON.stringify(it)).includes(JSON.stringify(entry)), JSON.stringify(entry));
  });

  it('a tombstone keeps 64 entries of history, the first and the newest', () => {
    const life = new Life(main({}, { on: { 10: 'ignores' } }));
    for (let count = 0; count < 200; count += 1) life.signal(10).pass(1);
    const { History = [] } = life.tombstone;
    assert.equal(History.length, MAX_HISTORY);
    assert.equal(History[0]?.Event, 'phase');
    const parsed = parseTombstone('self', formatTombstone(life.tombstone));
    assert.ok(parsed.ok);
    assert.equal(parsed.tombstone.Phase, 'running');
  });

  it('each change of the phase is in the history, in the order of a life', () => {
    const life = new Life(sidecar({ drain: fixed(4_000) })).pass(1_000).endChild(1).pass(1_000).signal(15).pass(1_000);
    life.see(dead('work', 0)).passUntilGone();
    const phases = life.tombstone.History?.filter(({ Event }) => Event === 'phase').map(({ Phase }) => Phase);
    const born = ['starting', 'running'];
    assert.deepEqual(phases, [...born, 'backoff', ...born, 'holding', 'draining', 'stopping', 'dead']);
  });
});
