import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerStatus, statusOf, statusOfErrno } from '../../src/core/exit.ts';
import { alive, dead, mainConfig, sidecarConfig } from './helpers.ts';
import { Life } from './life.ts';

function said(life: Life, message: string): readonly Readonly<Record<string, unknown>>[] {
  return life.done.flatMap(({ effect }) =>
    effect.type === 'log' && effect.message === message ? [{ level: effect.level, ...effect.details }] : [],
  );
}

describe('the log of an end (D3, D4)', () => {
  const main = () => new Life({ config: mainConfig({ gracePeriodMs: 10_000 }), peers: [], child: DEAF }).pass(1_000);

  it('the log has a crash as an error, a requested end and exit code 0 as information', () => {
    assert.deepEqual(said(main().endChild(3), 'exited'), [{ level: 'error', exitCode: 3 }]);
    assert.deepEqual(said(main().interruptChild(11), 'exited'), [{ level: 'error', signal: 'SIGSEGV', core: false }]);
    assert.deepEqual(said(main().endChild(0), 'exited'), [{ level: 'info', exitCode: 0 }]);
    assert.deepEqual(said(main().signal(15).endChild(3), 'exited'), [{ level: 'info', exitCode: 3 }]);
  });

  it('the log has our own KILL as a warning, and that of an unknown sender as an error', () => {
    assert.equal(said(main().signal(15).passUntilGone(), 'exited')[0]?.level, 'warn');
    assert.equal(said(main().interruptChild(9), 'exited')[0]?.level, 'error');
    assert.equal(said(main().signal(15).interruptChild(9), 'exited')[0]?.level, 'error');
  });

  it('an interrupt from the terminal counts as a stop', () => {
    const life = main().interruptChild(2).passUntilGone();
    assert.equal(said(life, 'exited')[0]?.level, 'info');
    assert.deepEqual([life.tombstone.Reason, life.exitCode], ['stopped', 130]);
    assert.equal(said(life, 'dead')[0]?.summary, 'interrupted, ended by SIGINT');
  });

  it('the log says exitCode for the command and containerExitCode, as the tombstone does', () => {
    const config = mainConfig({ exitCode: { kind: 'map', codes: { 3: 7 } } });
    const life = new Life({ config, peers: [] }).endChild(3).passUntilGone();
    const [dead] = said(life, 'dead');
    assert.deepEqual([dead?.exitCode, dead?.containerExitCode, life.tombstone.ExitCode, life.exitCode], [3, 7, 3, 7]);
    assert.equal(dead?.status, undefined);
  });
});

const DEAF = { on: { 15: 'ignores' } } as const;

describe('exit codes', () => {
  it('P04 K05 the status is the code of the child, or 128+n for every signal', () => {
    for (const code of [0, 1, 42, 255]) assert.equal(statusOf({ code, signal: undefined }), code);
    for (let signal = 1; signal <= 64; signal += 1) assert.equal(statusOf({ code: undefined, signal }), 128 + signal);
  });

  it('P07 a missing program gives 127, one that cannot be executed 126', () => {
    assert.equal(statusOfErrno('ENOENT'), 127);
    for (const errno of ['EACCES', 'ENOEXEC', 'EISDIR', 'ENOTDIR', '999']) assert.equal(statusOfErrno(errno), 126);
  });

  it('`keep` keeps, `zero-when-stopped` hides requested ends, a map applies after 128+n', () => {
    const status = (exitCode: Parameters<typeof mainConfig>[0] & object, stopped: boolean, overdue = false) =>
      containerStatus(mainConfig(exitCode), { status: 143, stopped, overdue });
    assert.equal(status({ exitCode: { kind: 'keep' } }, true), 143);
    assert.equal(status({ exitCode: { kind: 'zero-when-stopped' } }, true), 0);
    assert.equal(status({ exitCode: { kind: 'zero-when-stopped' } }, false), 143);
    assert.equal(status({ exitCode: { kind: 'zero-when-stopped' } }, true, true), 143);
    assert.equal(status({ exitCode: { kind: 'map', codes: { 143: 0 } } }, false), 0);
    assert.equal(status({ exitCode: { kind: 'map', codes: { 15: 0 } } }, true), 143);
  });
});

describe('what a container exits with', () => {
  it('N23, J13 a stopped sidecar exits 0 whatever its child does; the tombstone keeps the truth', () => {
    for (const code of [0, 1, 143, 255]) {
      const child = { on: { 15: { afterMs: 300, code } } };
      const byMain = new Life({ config: sidecarConfig(), child, peers: [alive('work')] }).see(dead('work', 0));
      byMain.passUntilGone();
      assert.deepEqual([byMain.exitCode, byMain.tombstone.ExitCode, byMain.tombstone.Reason], [0, code, 'stopped']);
      const byPlatform = new Life({ config: sidecarConfig(), child, peers: [] }).signal(15).passUntilGone();
      assert.equal(byPlatform.exitCode, 0);
    }
  });

  it('J14 a sidecar that ignores TERM after its mains is KILLed in its grace period and exits 0', () => {
    const config = sidecarConfig({ gracePeriodMs: 4_000 });
    const life = new Life({ config, child: DEAF, peers: [alive('work')] }).see(dead('work', 0)).passUntilGone();
    assert.deepEqual([life.exitCode, life.exitedAtMs], [0, 4_000]);
    assert.deepEqual([life.tombstone.ExitCode, life.tombstone.Reason], [137, 'killed']);
    const asked = new Life({ config, child: DEAF, peers: [alive('work')] }).see(dead('work', 0)).signal(15);
    assert.deepEqual([asked.passUntilGone().exitCode, asked.tombstone.ExitCode], [0, 137]);
    const undeclared = new Life({ config: sidecarConfig(), child: DEAF, peers: [dead('x', 1), alive('work')] });
    assert.equal(undeclared.see(dead('work', 0)).passUntilGone().exitedAtMs, 30_000);
  });

  it('P07 a command that cannot be started ends the member with 126 or 127', () => {
    for (const [errno, code] of [
      ['ENOENT', 127],
      ['EACCES', 126],
    ] as const) {
      const life = new Life({ config: mainConfig(), child: { errno }, peers: [] });
      assert.deepEqual([life.exitCode, life.tombstone.ExitCode, life.tombstone.Reason], [code, code, 'error']);
      assert.equal(life.tombstone.Born, undefined);
    }
  });

  it('nothing changes a member after its end', () => {
    const life = new Life({ config: mainConfig(), peers: [] }).endChild(3);
    life.signal(15).see(alive('work')).pass(60_000).signal(15);
    assert.equal(life.exits.length, 1);
    assert.deepEqual([life.signals, life.tombstone.ExitCode, life.phase], [[], 3, 'dead']);
  });

  it('a supervisor that comes back after the last write repeats the exit', () => {
    const life = new Life({ config: mainConfig(), peers: [] }).endChild(3).feed({ type: 'booted' });
    const codes = life.exits.map(({ code }) => code);
    assert.deepEqual(codes, [3, 3]);
  });

  it('the tombstone calls an end final by the policy', () => {
    const final = (change: Parameters<typeof mainConfig>[0], code: number) =>
      new Life({ config: mainConfig(change), peers: [] }).endChild(code).tombstone.Final;
    assert.deepEqual([final({}, 0), final({}, 1)], [true, true]);
    assert.equal(final({ restartPolicy: 'OnFailure' }, 0), true);
    assert.equal(final({ restartPolicy: 'OnFailure' }, 1), false);
    assert.deepEqual([final({ restartPolicy: 'Always' }, 0), final({ restartPolicy: 'Always' }, 1)], [false, false]);
    const map = { kind: 'map', codes: { 3: 0 } } as const;
    assert.equal(final({ restartPolicy: 'OnFailure', exitCode: map }, 3), true);
  });
});
