import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatAge, statusTable } from '../../src/cli/commands/status.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';

const NOW = { ms: Date.parse('2026-01-02T03:04:05Z'), mono: 100_000, boot: 'boot-1' };

function found(...members: readonly Tombstone[]) {
  return { members, unreadable: [], unknown: [], asleep: new Set<string>() };
}

function line(tombstone: Partial<Tombstone>, width = 80): string {
  const table = statusTable(found({ Version: 1, Name: 'web', ...tombstone }), NOW, width, '/g');
  return table.split('\n')[1]?.replace(/ +/g, ' ') ?? '';
}

describe('a row of the status', () => {
  it('the row of a stopping member shows the reason and the time left', () => {
    const stopping: Partial<Tombstone> = {
      Role: 'sidecar',
      Phase: 'holding',
      Restarts: 1,
      Boot: 'boot-1',
      Born: '2026-01-02T03:03:00.123456789Z',
      StopReason: 'signal TERM',
      Deadline: 112_500,
    };
    assert.equal(line(stopping), 'web sidecar holding - 1m4s 1 - signal TERM 12s');
    assert.equal(
      line({ ...stopping, Deadline: 99_000 })
        .split(' ')
        .at(-1),
      'over',
    );
  });

  it('a line below the table has what a living member says of itself', () => {
    const says = { Version: 1, Name: 'web', Status: 'Loading "a"' };
    const lines = (...members: readonly Tombstone[]) =>
      statusTable(found(...members), NOW, 80, '/g')
        .split('\n')
        .slice(2);
    assert.deepEqual(lines(says), ['web: says "Loading \\"a\\""', '']);
    assert.deepEqual(lines({ ...says, Died: '2026-01-02T03:04:00Z' }), ['']);
  });

  it('the row of a dead member or a member of another boot shows no time left', () => {
    assert.equal(line({ Boot: 'boot-0', Deadline: 112_500 }).split(' ').at(-1), '-');
    assert.equal(line({ Boot: 'boot-1', Deadline: 112_500, Died: '2026-01-02T03:04:00Z' }).split(' ').at(-1), '-');
  });

  it('the row of a dead member shows the code, the signal and the reason', () => {
    const dead: Partial<Tombstone> = {
      Role: 'main',
      Phase: 'dead',
      Born: '2026-01-01T00:00:00Z',
      Died: '2026-01-02T03:04:00Z',
      ExitCode: 137,
      Signal: 'SIGKILL',
      Reason: 'oom',
    };
    assert.equal(line(dead), 'web main dead - 1d3h 0 137 KILL oom 5s ago - -');
    const { Signal: _, ...well } = { ...dead, ExitCode: 0, Reason: 'completed' } as const;
    assert.equal(line(well), 'web main dead - 1d3h 0 0 5s ago - -');
  });

  it('the row of a restarted member shows its last end and its phase now', () => {
    const again: Partial<Tombstone> = {
      Role: 'sidecar',
      Phase: 'running',
      Born: '2026-01-02T03:04:00Z',
      Started: '2026-01-02T03:04:01Z',
      Restarts: 2,
      LastDied: '2026-01-02T03:01:00Z',
      LastExitCode: 137,
      LastReason: 'oom',
    };
    assert.equal(line(again), 'web sidecar running started 5s 2 137 oom 3m ago - -');
    const ready = line({ ...again, Healthy: '2026-01-02T03:04:02Z' });
    assert.equal(ready, 'web sidecar running healthy 5s 2 137 oom 3m ago - -');
  });

  it('the row of a member that was killed with its container says that it is lost', () => {
    const lost: Partial<Tombstone> = { Phase: 'running', Healthy: '2026-01-02T03:04:02Z', Reason: 'lost' };
    assert.equal(line(lost), 'web - running - - 0 lost - -');
  });

  it('the row of the longest possible member fits into 80 columns', () => {
    const longest: Tombstone = {
      Version: 1,
      Name: 'a'.repeat(63),
      Role: 'sidecar',
      Phase: 'starting',
      Born: '2025-01-02T03:04:05Z',
      Boot: 'boot-1',
      Restarts: 123_456,
      ExitCode: 128 + 64,
      Signal: 'SIGRTMAX',
      Reason: 'never-started',
      StopReason: 'mains finished',
      Deadline: 4_000_000,
    };
    const dead: Tombstone = { ...longest, Name: 'b'.repeat(63), Died: '2025-01-02T03:04:05Z' };
    for (const text of statusTable(found(longest, dead), NOW, 80, '/g').split('\n')) assert.ok(text.length <= 80, text);
    assert.match(statusTable(found(longest), NOW, Number.POSITIVE_INFINITY, '/g'), /^a{63} .* mains finished /m);
  });
});

describe('the status', () => {
  it('the status shows which supervisors sleep', () => {
    const members = ['a', 'b'].map((Name) => ({ Version: 1, Name, Phase: 'running' as const }));
    const [, a = '', b = ''] = statusTable({ ...found(...members), asleep: new Set(['b']) }, NOW, 80, '/g').split('\n');
    assert.deepEqual([/running, asleep/.test(a), /running, asleep/.test(b)], [false, true]);
  });

  it('the status shows how busy the application of a drain is', () => {
    const members = ['7', 'idle'].map((Busy, at) => ({ Version: 1, Name: `m${at}`, Phase: 'draining' as const, Busy }));
    const [, a = '', b = ''] = statusTable(found(...members), NOW, 80, '/g').split('\n');
    assert.deepEqual([/draining, busy: 7 /.test(a), /draining, idle /.test(b)], [true, true]);
  });

  it('the status names the origin and the number of restarts in place below the members', () => {
    const restarted = { Version: 1, RestartRequested: 40_000, RestartBy: 'web, uid 0, pid 7', Boot: 'boot-1' };
    const below = (...members: readonly Partial<Tombstone>[]) =>
      statusTable(
        found(...members.map((member, index) => ({ ...restarted, Name: `m${index}`, ...member }))),
        NOW,
        80,
        '/g',
      )
        .split('\n')
        .slice(1 + members.length, -1);
    assert.deepEqual(below({ PodRestarts: 1, Boot: 'boot-0' }, { PodRestarts: 2 }, { PodRestarts: 2 }), [
      'm0: restarted in place once, asked for by web, uid 0, pid 7',
      'm1, m2: restarted in place 2 times, the last one asked for 1m ago by web, uid 0, pid 7',
    ]);
    const said = 'm0: restarting in place, asked for 1m ago by web, uid 0, pid 7';
    assert.deepEqual(below({ StopReason: 'restart requested' }, { StopReason: 'signal TERM' }), [said]);
  });

  it('the status is sorted by name', () => {
    const members = ['c', 'a', 'b'].map((Name) => ({ Version: 1, Name }));
    const names = statusTable(found(...members), NOW, 80, '/g')
      .split('\n')
      .map((text) => text[0]);
    assert.deepEqual(names.slice(1, 4), ['a', 'b', 'c']);
  });
});

describe('an age', () => {
  const AGES: Readonly<Record<string, number>> = {
    '0s': 999,
    '45s': 45_000,
    '3m10s': 190_000,
    '1h': 3_600_000,
    '5h2m': 18_120_000,
    '3d4h': 273_600_000,
    '1d': 86_401_000,
  };
  for (const [text, ms] of Object.entries(AGES))
    it(`an age of ${ms} ms is ${text}`, () => assert.equal(formatAge(ms), text));
});
