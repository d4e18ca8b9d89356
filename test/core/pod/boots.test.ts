import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTombstone } from '../../../src/core/format/tombstone.ts';
import { endOfWaiting } from '../../../src/core/pod/deadline.ts';
import { alive, dead, fixed, mainConfig, sidecarConfig, stopping } from '../helpers.ts';
import { Life } from '../life.ts';

/** The boot id that a container of LXC sees instead of the kernel's. */
const OWN = { Boot: 'b0000000-0000-4000-8000-00000000000b' };
const GATED = mainConfig({ startAfter: [{ name: 'db', condition: 'healthy', optional: false }] });
const HEALTHY = { ...OWN, Healthy: '2027-01-15T08:00:01.000000000Z' };

describe('a member of the same kernel that is shown another boot id', () => {
  it('A9 a sidecar ends with a main of another boot id that died while its socket was held', () => {
    const life = new Life({ config: sidecarConfig({ mains: ['work'] }), peers: [alive('work', OWN)] });
    life
      .pass(1_000)
      .see(dead('work', 0, OWN))
      .pass(10);
    assert.equal(life.state.stop?.reason, 'mains finished');
  });

  it('A9 a start gate opens by a tombstone that was written while the socket is held', () => {
    const life = new Life({ config: GATED, peers: [alive('db', OWN)] });
    assert.equal(life.state.phase, 'waiting');
    life.see(alive('db', HEALTHY));
    assert.equal(life.state.phase, 'running');
  });

  it('A9 a tombstone from before the socket was held counts after 10 s', () => {
    const life = new Life({ config: GATED, peers: [alive('db', HEALTHY)] });
    life.pass(9_999);
    assert.equal(life.state.phase, 'waiting');
    life.pass(1);
    assert.equal(life.state.phase, 'running');
  });

  it('A9 a tombstone of an earlier boot does not count because the next life holds the socket', () => {
    const life = new Life({ config: GATED, peers: [alive('db', HEALTHY)] });
    life.pass(5).see(alive('db', { Incarnation: 'db-2', Phase: 'starting' }));
    life.pass(20_000).see(alive('gone', OWN, { liveness: 'none' }));
    assert.deepEqual(life.state.boots, []);
    assert.equal(life.state.phase, 'waiting');
  });

  it('A9 the deadline of another boot id ends our waiting, as the clock is the same', () => {
    const life = new Life({
      config: mainConfig({ gracePeriodMs: 60_000, drain: fixed(30_000) }),
      peers: [alive('db', OWN)],
    });
    life.signal(15).see(stopping('db', life.nowMs + 9_000, OWN));
    assert.equal(endOfWaiting(life.config, life.state)?.atMs, life.nowMs + 9_000);
  });

  it('A9 the next supervisor knows the boot id of a member that died meanwhile', () => {
    const life = new Life({ config: sidecarConfig({ mains: ['work'] }), peers: [alive('work', OWN)] });
    life.pass(1_000).see(alive('work', { ...OWN, Phase: 'draining' }));
    life
      .loseSupervisor()
      .feed({ type: 'booted' })
      .see(dead('work', 0, OWN));
    life.pass(10);
    assert.equal(life.state.stop?.reason, 'mains finished');
  });

  it('A9 a gate that waits for a member of another boot or session says so', () => {
    const other = new Life({ config: GATED, peers: [alive('db', HEALTHY, { liveness: 'none' })] });
    assert.match(
      other.logs.join('\n'),
      /waiting for db=healthy \(the tombstone of db is of another boot of the kernel\)/,
    );
    const ours = new Life({ config: { ...GATED, session: 'a' }, peers: [alive('db', { Session: 'b' })] });
    assert.match(ours.logs.join('\n'), /waiting for db=healthy \(the tombstone of db is of another session\)/);
  });

  it('A9 a roster whose main is of another boot says so', () => {
    const life = new Life({
      config: sidecarConfig({ mains: ['work'] }),
      peers: [dead('work', 0, OWN, { foundAtStart: true })],
    });
    life.pass(10_000);
    assert.match(life.logs.join('\n'), /the tombstone of main work is of another boot of the kernel/);
    assert.doesNotMatch(life.logs.join('\n'), /check --mains/);
  });

  it('A9 only 32 boot ids are kept', () => {
    const life = new Life({ config: mainConfig() });
    for (let i = 0; i < 100; i += 1) {
      const one = alive(`m${i}`, { Boot: `boot-${i}` });
      life.see(one).see({ ...one, tombstone: { ...one.tombstone, Phase: 'draining' } });
    }
    assert.equal(life.state.boots.length, 32);
    assert.equal(life.state.boots.at(-1), 'boot-99');
    assert.ok(formatTombstone(life.tombstone).length < 65_536);
  });
});
