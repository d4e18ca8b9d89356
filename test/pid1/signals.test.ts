/** P: signals through a container's PID 1. Under test is the program as it is delivered, from outside. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { startContainer } from '../helpers/container.ts';
import { atOnce, byEngine } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { SEXTON } from '../helpers/paths.ts';
import { send } from '../helpers/process.ts';
import { inRounds } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor, within } from '../helpers/wait.ts';

const { SIGINT, SIGKILL, SIGSTOP, SIGCHLD, SIGTERM, SIGCONT } = constants.signals;
const ALL = Array.from({ length: 64 }, (_, index) => index + 1);
const TO_SEND = ALL.filter((it) => ![SIGKILL, SIGSTOP, SIGCHLD].includes(it));
/** RTMIN+3 as programs see it: the C library keeps 32 and 33. */
const RTMIN_3 = 37;
/** Those whose names a tombstone is asked for. */
const NAMES = new Map([
  [15, 'SIGTERM'],
  [9, 'SIGKILL'],
  [11, 'SIGSEGV'],
  [RTMIN_3, 'SIGRTMIN+3'],
]);
const MINUTES = 60_000;

describe('signals through PID 1', { concurrency: atOnce(2) }, () => {
  scenario('P02 each signal but KILL, STOP and CHLD arrives once', async (stage) => {
    const { scratch } = stage;
    const start = (name: string) => {
      const command = member(stage, name, { ignore: 'all', trap: 'all' });
      return startContainer(scratch, { flags: ['--name', name], command });
    };
    const all = start('all');
    await waitForEvent(scratch.log, 'all', 'Started');
    // A stop request last: it is no forwarding. INT gets a container of its own.
    const numbers = TO_SEND.filter((it) => it !== SIGINT && it !== SIGTERM);
    for (const [index, signal] of [...numbers, SIGTERM].entries()) {
      await all.signal(signal);
      const seen = () => readTimeline(scratch.log).signals('all');
      await waitFor(`signal ${signal} arrives`, () => seen().length > index);
    }
    // No CONT of init's own among them: nothing here is stopped.
    assert.deepEqual(readTimeline(scratch.log).signals('all'), [...numbers, SIGTERM]);
    const int = start('int');
    await waitForEvent(scratch.log, 'int', 'Started');
    await int.signal(SIGINT);
    await waitForEvent(scratch.log, 'int', 'Signal');
    assert.equal(readTimeline(scratch.log).signals('int')[0], SIGINT);
    await all.kill();
    await int.kill();
  });

  scenario('P02 K09 a burst of real-time signals arrives complete', async (stage) => {
    const { scratch } = stage;
    const container = startContainer(scratch, { command: member(stage, 'app', { trap: 'all' }) });
    await waitForEvent(scratch.log, 'app', 'Started');
    const pid = await container.pid1();
    const burst = Array.from({ length: 25 }, (_, index) => RTMIN_3 + (index % 5));
    for (const signal of burst) send(pid, signal);
    await waitForEvent(scratch.log, 'app', 'Signal', burst.length);
    const arrived = readTimeline(scratch.log).signals('app');
    assert.deepEqual(
      arrived.toSorted((a, b) => a - b),
      burst.toSorted((a, b) => a - b),
    );
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
  });

  const DELAYS_MS = [0, 1, 2, 5, 10, 20, 40, 80];
  const rounds = byEngine({ namespaces: 200, podman: 48 });
  scenario(
    `P03 a TERM sent 0 to 80 ms after the start is never lost (${rounds} rounds)`,
    async (stage) => {
      const { scratch } = stage;
      const outcomes = { handled: 0, ended: 0, neverStarted: 0 };
      await inRounds(rounds, 3, async (index) => {
        const name = `app${index}`;
        // In turn: alone, with a graveyard, and with a variable that makes init wait for the supervisor before it
        // starts anything.
        const kind = index % 3;
        const flags = kind === 0 ? [] : ['--name', name, '--graveyard', scratch.graveyard];
        const env: Record<string, string> = kind === 2 ? { SEXTON_STOP: 'TERM' } : {};
        const container = startContainer(scratch, { flags, env, command: member(stage, name, { exit: 3 }) });
        let pid: number | undefined;
        // The kernel names the new program before its first instruction has run; it drops a TERM to PID 1 until then.
        while (pid === undefined || !isBlockingAll(pid)) {
          await turn();
          pid = container.findNow(SEXTON);
        }
        await sleep(DELAYS_MS[Math.floor(index / 3) % DELAYS_MS.length]);
        assert.ok(send(pid, SIGTERM), 'it ended before it was asked to');
        const { status } = await within(`${name} ends`, container.ended).catch(async (error) => {
          await container.kill();
          throw error;
        });
        const log = readTimeline(scratch.log);
        const tombstone = readTombstone(scratch.graveyard, name);
        if (log.of(name, 'Starting').length > 0) {
          outcomes.handled += 1;
          assert.deepEqual([log.signals(name), status], [[SIGTERM], 3], name);
          if (tombstone) assert.deepEqual([tombstone.ExitCode, tombstone.Reason], [3, 'stopped'], name);
        } else {
          // Either it was never started, or the signal ended it before it had a handler: one and the same to a
          // platform.
          assert.equal(status, 128 + SIGTERM, name);
          const isNeverStarted = tombstone?.Reason === 'never-started';
          outcomes[isNeverStarted ? 'neverStarted' : 'ended'] += 1;
          if (tombstone && !isNeverStarted) assert.equal(tombstone.Signal, 'SIGTERM', name);
        }
        if (kind > 0) assert.ok(tombstone?.Died, `${name} wrote its death`);
      });
      stage.t.diagnostic(`P03: 0 of ${rounds} lost, ${JSON.stringify(outcomes)}`);
    },
    { timeoutMs: 6 * MINUTES },
  );

  scenario(
    'P03 its first system call, before any C library starts, blocks all signals',
    async (stage) => {
      if (spawnSync('strace', ['-V']).status !== 0) return stage.t.skip('strace is not installed');
      const trace = stage.scratch.path('trace');
      const inside = ['strace', '-o', trace];
      const container = startContainer(stage.scratch, { inside, bare: true, command: [SEXTON, 'run', '--', 'true'] });
      assert.equal((await container.exit()).status, 0);
      const [first, second] = readFileSync(trace, 'latin1').split('\n');
      assert.match(first ?? '', /^execve\(/);
      assert.match(second ?? '', /^rt_sigprocmask\(SIG_SETMASK, ~\[\],/);
    },
    { notInPodman: 'the image has no strace' },
  );

  scenario('P04 K05 a child killed by signal n gives 128+n, and its tombstone names the signal', async (stage) => {
    const { SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals;
    // Those that end nothing by default.
    const harmless = [SIGURG, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP, SIGCHLD];
    const deadly = ALL.filter((it) => !harmless.includes(it));
    await inRounds(deadly.length, 3, async (index) => {
      const signal = deadly[index] ?? 0;
      const name = NAMES.get(signal);
      const flags = name === undefined ? [] : ['--name', `s${signal}`, '--graveyard', stage.scratch.graveyard];
      const command = member(stage, `s${signal}`, { run: 1, kill: signal });
      const { status } = await startContainer(stage.scratch, { flags, command }).exit();
      assert.equal(status, 128 + signal, `signal ${signal}`);
      if (name === undefined) return;
      const { ExitCode, Signal } = readTombstone(stage.scratch.graveyard, `s${signal}`) ?? {};
      assert.deepEqual([ExitCode, Signal], [128 + signal, name]);
    });
    assert.equal(deadly.length, 56);
  });
});

function isBlockingAll(pid: number): boolean {
  try {
    return /^SigBlk:\s*[7f]ffffff/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}
