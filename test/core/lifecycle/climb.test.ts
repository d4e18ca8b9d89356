/** The rungs of a climb, the roots that a child leaves behind, those that KILL cannot end. And what killed it. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evidenceOf } from '../../../src/core/lifecycle/stop/record.ts';
import { killedBy, probes } from '../helpers.ts';
import type { ChildScript, EventOf } from '../host.ts';
import { Life, main, sidecar } from '../life.ts';
import { restartAsked } from '../table/columns.ts';

const LADDER = [
  { signal: 15, forMs: 400 },
  { signal: 2, forMs: 300 },
  { signal: 9, forMs: undefined },
];

const DEAF = { on: { 2: 'ignores', 15: 'ignores' } } as const;

describe('a rung', () => {
  /** Init has not passed it on. */
  const ASKED = { type: 'signal', signal: 15, senderPid: 0, fromTerminal: false } as const;
  const FOUR = [
    { signal: 15, forMs: 6_000 },
    { signal: 2, forMs: 3_000 },
    { signal: 9, forMs: undefined },
  ];

  it('the late time of a rung is at two thirds of the time to KILL, the last 200 ms before it', () => {
    const life = new Life(main({ gracePeriodMs: 30_000 }, DEAF)).pass(1_000).feed(ASKED);
    assert.deepEqual(life.rungs, [`TERM ${1_000 + 19_667} 30300`]);
    assert.equal(life.passUntilGone().sent, '1000 TERM, 30500 KILL');
  });

  it('a rung without a declared grace period has neither time', () => {
    assert.deepEqual(new Life(main({}, DEAF)).feed(ASKED).rungs, ['TERM - -']);
    const ladder = [{ signal: 15, forMs: 400 }, { signal: 2 }].map((rung) => ({ forMs: undefined, ...rung }));
    const life = new Life(main({ ladder }, DEAF)).feed(ASKED).pass(500);
    assert.deepEqual(life.rungs, ['TERM - -', 'INT - -']);
  });

  it('the rungs of a ladder that ends in KILL share its times where no grace period is declared', () => {
    const life = new Life(main({ ladder: FOUR }, DEAF)).feed(ASKED).passUntilGone();
    assert.deepEqual(life.rungs, ['TERM 6000 8800', 'INT 8000 8800']);
    assert.equal(life.sent, '0 TERM, 6000 INT, 9000 KILL');
  });

  it('the earlier of deadline and ladder decides about the times of a rung', () => {
    const life = new Life(main({ ladder: FOUR, gracePeriodMs: 8_000 }, DEAF)).feed(ASKED).passUntilGone();
    assert.equal(life.sent, '0 TERM, 6000 INT, 7600 KILL');
    assert.deepEqual(life.rungs, [`TERM ${Math.round((7_600 * 2) / 3)} 7400`, 'INT 7067 7440']);
    const late = new Life(main({ ladder: FOUR, gracePeriodMs: 60_000 }, DEAF)).feed(ASKED);
    assert.deepEqual(late.rungs, ['TERM 6000 8800']);
  });

  it('roots of an ended command have the times of their own budget', () => {
    const life = new Life(main({}, { ...DEAF, leaves: 'untilKilled' })).endChild(0).pass(20);
    assert.deepEqual(life.rungs, [`TERM ${20 + 20_000} ${20 + 29_800}`]);
    const again = new Life(main({ restart: 'always' }, { ...DEAF, leaves: 'untilKilled' })).endChild(1).pass(20);
    assert.deepEqual(again.rungs, [`TERM ${Math.round(20 + 4_000 / 3)} ${20 + 1_800}`]);
  });
});

describe('roots of an ended command', () => {
  it('roots that end by themselves within 20 ms are sent nothing', () => {
    const life = new Life(main({}, { leaves: 19 })).pass(1_000).endChild(0).passUntilGone();
    assert.deepEqual([life.sent, life.exitedAtMs], ['', 1_019]);
  });

  it('roots get rung after rung and then KILL, and the code of the child stays', () => {
    const left = { ...DEAF, leaves: 'untilKilled' } as const;
    const life = new Life(main({ ladder: LADDER }, left)).endChild(4).passUntilGone();
    assert.deepEqual([life.sent, life.exitCode, life.exitedAtMs], ['20 TERM, 420 INT, 720 KILL', 4, 720]);
    const plain = new Life(main({}, left)).endChild(4).passUntilGone();
    assert.equal(plain.sent, '20 TERM, 30020 KILL');
  });

  it('roots that survive KILL are given up after 2 s, in a stop before the deadline', () => {
    const life = new Life(main({ gracePeriodMs: 5_000 }, { ...DEAF, leaves: 'unkillable' }));
    const alone = life.fork().endChild(0).passUntilGone();
    assert.deepEqual([alone.exitedAtMs, alone.exitCode], [20 + 5_000 + 2_000, 0]);
    assert.ok(alone.logs.includes('warn: some of its processes survived KILL: they are waited for no longer'));
    const stopped = life.signal(15).passUntilGone();
    assert.deepEqual([stopped.exitedAtMs, stopped.exitCode], [5_000 - 100, 137]);
  });

  it('roots that leave when asked get the first rung, and the child’s code stays', () => {
    const life = new Life(main({ ladder: LADDER }, { leaves: 'untilAsked' })).pass(1_000).endChild(4).passUntilGone();
    assert.equal(life.sent, '1020 TERM');
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.tombstone.Reason], [4, 1_020, 'error']);
  });

  it('the host goes on with the rung of a stopped child at its roots, which get no other', () => {
    const child: ChildScript = { leaves: 'untilAsked', on: { 15: { afterMs: 200, code: 0 } } };
    const life = new Life(main({ gracePeriodMs: 10_000 }, child)).pass(1_000).signal(15).passUntilGone();
    assert.deepEqual([life.sent, life.exitCode, life.exitedAtMs], ['1000 TERM', 0, 1_200]);
  });

  it('roots of a stopped child that outlive its signal are KILLed at the deadline', () => {
    const child: ChildScript = { leaves: 'untilKilled', on: { 15: { afterMs: 200, code: 0 } } };
    const life = new Life(main({ gracePeriodMs: 10_000 }, child)).pass(1_000).signal(15).passUntilGone();
    assert.equal(life.sent, '1000 TERM, 10500 KILL');
    assert.deepEqual([life.exitCode, life.exitedAtMs, life.tombstone.Reason], [0, 10_500, 'stopped']);
  });

  it('roots of a killed child are KILLed with it, once', () => {
    const child: ChildScript = { leaves: 'untilKilled', on: { 15: 'ignores' } };
    const life = new Life(main({ gracePeriodMs: 10_000 }, child)).signal(15).passUntilGone();
    assert.deepEqual([life.sent, life.exitCode, life.exitedAtMs], ['0 TERM, 9500 KILL', 137, 9_500]);
  });

  it('roots that outlive KILL hold up a restart of the pod for 2 s', () => {
    const life = new Life(main({ gracePeriodMs: 5_000 }, { leaves: 'unkillable', on: { 15: 'ignores' } }));
    life.feed(restartAsked(life.nowMs)).pass(10_000);
    assert.deepEqual([life.sent, life.spawns], ['0 TERM, 4750 KILL', [0, 6_750]]);
  });

  it('roots do not keep the next life waiting for more than 2 s', () => {
    const life = new Life(main({ restart: 'always' }, { leaves: 'untilKilled' })).endChild(1).pass(2_120);
    assert.equal(life.sent, '20 TERM, 2020 KILL');
    assert.deepEqual(life.spawns, [0, 2_120]);
  });

  it('the end of roots counts only for the command that left them, and once it has ended', () => {
    const life = new Life(main({}, { leaves: 'untilKilled' })).pass(5);
    assert.equal(life.feed({ type: 'rootsGone', id: 1 }).phase, 'running');
    life.endChild(0).pass(5);
    assert.equal(life.feed({ type: 'rootsGone', id: 2 }).exitCode, undefined);
    assert.equal(life.feed({ type: 'rootsGone', id: 1 }).exitCode, 0);
  });

  it('roots get the next rung of a second stop request', () => {
    const child: ChildScript = { leaves: 'untilKilled', on: { 15: { afterMs: 0, code: 0 } } };
    const ladder = [
      { signal: 15, forMs: 60_000 },
      { signal: 2, forMs: undefined },
    ];
    assert.equal(new Life(main({ ladder }, child)).signal(15).pass(1_000).signal(15).sent, '0 TERM, 1000 INT');
  });
});

describe('whom a rung has reached', () => {
  const told = { type: 'told', id: 1, signal: 15, count: 1, pid: 107, name: 'nginx', of: '' } as const;
  const stopped = (): Life => new Life(main({ gracePeriodMs: 10_000 }, DEAF)).pass(100).signal(15).pass(50);
  const saidOf = (event: EventOf): string | undefined => stopped().feed(event).logs.at(-1);

  it('the log names the process, how many they are, and why they were told', () => {
    assert.equal(saidOf({ ...told, why: 'first' }), 'info: TERM to nginx (pid 107)');
    assert.equal(
      saidOf({ ...told, why: 'through', of: 'sudo' }),
      'info: TERM to nginx (pid 107), as sudo passes nothing on',
    );
    assert.equal(
      saidOf({ ...told, why: 'trap', name: 'sleep', of: 'bash' }),
      'info: TERM to sleep (pid 107), so that the trap of bash runs',
    );
    assert.equal(
      saidOf({ ...told, why: 'left', count: 3 }),
      'info: TERM to 3 processes, the first is nginx (pid 107), which the command has left behind',
    );
    assert.match(saidOf({ ...told, why: 'reader' }) ?? '', /, which reads what others write$/);
    assert.match(saidOf({ ...told, why: 'late' }) ?? '', /, which had not had it and may be KILLed soon$/);
  });

  it('a name with control characters cannot forge a line of the log', () => {
    const line = saidOf({ ...told, why: 'first', name: 'a\n\u001b[31mb' }) ?? '';
    assert.match(line, /^info: TERM to [^\p{Cc}]+ \(pid 107\)$/u);
  });

  it('the evidence counts the processes that the signal has reached besides the command’s own', () => {
    const life = stopped().feed({ ...told, why: 'first' });
    life
      .feed({ ...told, why: 'trap', of: 'sh' })
      .feed({ ...told, why: 'left', count: 2 })
      .pass(100);
    life.feed({ type: 'exited', id: 1, pid: 101, code: 0, signal: undefined, core: false, oom: false });
    life.feed({ type: 'rootsGone', id: 1 });
    const evidence = evidenceOf(life.config, life.state);
    assert.deepEqual(evidence.Phases, [{ Phase: 'ladder', Signal: 'SIGTERM', Others: 3, Ms: 150 }]);
    assert.match(evidence.Summary, /TERM 150 ms \(and 3 more\)/);
  });

  it('the process behind a wrapper is the command’s own', () => {
    const life = stopped()
      .feed({ ...told, why: 'through', of: 'su' })
      .endChild(0);
    assert.equal(evidenceOf(life.config, life.state).Phases?.[0]?.Others, undefined);
  });

  it('nothing is said of the processes of an earlier life, or of an ended command', () => {
    const life = stopped();
    const before = life.logs.length;
    assert.equal(life.feed({ ...told, id: 2, why: 'left' }).logs.length, before);
    const gone = stopped().endChild(0);
    const after = gone.logs.length;
    assert.equal(gone.feed({ ...told, why: 'left' }).logs.length, after);
  });

  it('the log names the only receiver of a stop that the host has sent', () => {
    const sent = { type: 'ordered', id: 1, row: 'lost', signal: 0, as: 15, senderPid: 0 } as const;
    const logsOf = (receiverPid: number): readonly string[] => {
      const life = new Life(main({ gracePeriodMs: 10_000 }, DEAF)).pass(100);
      return life.feed({ ...sent, receiverPid }).logs.filter((line) => line.includes('TERM to'));
    };
    assert.deepEqual(logsOf(101), ['info: TERM to the command (pid 101)']);
    assert.deepEqual(logsOf(0), []);
  });
});

describe('the kill of a child', () => {
  const by = (life: Life): unknown => life.tombstone.History?.find(({ Event }) => Event === 'exited')?.By;

  it('J17 a KILL because memory ran out is reported as such, with 137', () => {
    const life = new Life(main()).pass(100).killChild({ oom: true });
    assert.deepEqual([by(life), life.tombstone.Reason, life.tombstone.Signal], ['OOM killer', 'oom', 'SIGKILL']);
    assert.equal(life.exitCode, 137);
    assert.ok(life.logs.some((line) => line.startsWith('error: exited')));
  });

  it('a KILL by an unknown sender is distinguished from ours', () => {
    const life = new Life(main()).pass(100).killChild({ oom: false });
    assert.deepEqual([by(life), life.tombstone.Reason, life.exitCode], ['an unknown sender', 'killed', 137]);
    const ours = new Life(main({ gracePeriodMs: 1_000 }, { on: { 15: 'ignores' } })).signal(15).passUntilGone();
    assert.deepEqual([by(ours), ours.tombstone.Reason, ours.exitCode], ['sexton', 'killed', 137]);
  });

  it('a KILL of ours stays ours though the OOM killer was at work at that time', () => {
    const life = new Life(main({ gracePeriodMs: 2_000 }, { on: { 15: 'ignores' } })).signal(15).pass(1_899);
    const climb = { why: 'stop', rung: 0, sinceMs: 0, killAtMs: undefined, killed: true } as const;
    life.state = { ...life.state, climb };
    life.killChild({ oom: true });
    assert.deepEqual([by(life), life.tombstone.Reason], ['sexton', 'killed']);
  });

  it('a KILL because memory ran out in a stop is reported as such', () => {
    const life = new Life(main({ gracePeriodMs: 9_000 }, { on: { 15: 'ignores' } }))
      .signal(15)
      .pass(100)
      .killChild({ oom: true });
    assert.deepEqual([life.tombstone.Reason, life.exitCode], ['oom', 137]);
  });

  it('a KILL because memory ran out is followed by another life', () => {
    const life = new Life(sidecar(probes({}))).pass(100).killChild({ oom: true }).pass(100);
    assert.deepEqual([life.spawns, life.tombstone.LastReason, life.tombstone.LastExitCode], [[0, 200], 'oom', 137]);
  });

  it('a KILL by init that is heard late starts no other life before its roots are gone', () => {
    const life = new Life(main({ gracePeriodMs: 5_000 }, { on: { 15: 'ignores' } }));
    life.feed(restartAsked(life.nowMs));
    life.nowMs += 9_000;
    life.feed(killedBy('grace'));
    life.nowMs += 1_500;
    life.feed({ type: 'exited', id: 1, pid: 101, code: undefined, signal: 9, core: false, oom: false });
    assert.deepEqual([life.spawns, life.logs.filter((line) => line.includes('survived'))], [[0], []]);
    life.feed({ type: 'rootsGone', id: 1 });
    assert.deepEqual(life.spawns, [0, 10_500]);
  });

  it('an end by another signal names no sender', () => {
    assert.equal(by(new Life(main()).signal(15)), undefined);
  });
});
