/** C03, C04: which signals reach whom, as what. */
import assert from 'node:assert/strict';
import { readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { describe } from 'node:test';
import { member } from '../helpers/member.ts';
import { SEXTON } from '../helpers/paths.ts';
import { childrenOf, send, stateOf } from '../helpers/process.ts';
import { inRounds } from '../helpers/rounds.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { contain, INTENDED, launch, ours, type Peer, type PeerName, sideBySide } from './peers.ts';

const { SIGHUP, SIGQUIT, SIGKILL, SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD, SIGCONT, SIGSTOP, SIGWINCH } = constants.signals;
const { SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals;
const FROM_TERMINAL = [SIGTSTP, SIGTTIN, SIGTTOU];
const RTMIN_3 = 37;
const ORDINARY = Array.from({ length: 31 }, (_, index) => index + 1).filter(
  (it) => ![SIGKILL, SIGSTOP, SIGCHLD].includes(it),
);

/** Sends each in turn and waits until it has come; resolves to what has come. CONT also follows other signals. */
async function pass(stage: Stage, peer: Peer, flags: readonly string[], numbers: readonly number[]): Promise<number[]> {
  const { scratch } = stage;
  const container = contain(stage, peer, [...flags, '--', ...member(stage, 'app', { trap: 'all', stop: 43 })]);
  await waitForEvent(scratch.log, 'app', 'Started');
  const pid = await container.pid1();
  for (const [index, number] of numbers.entries()) {
    assert.ok(send(pid, number), `signal ${number}`);
    await waitFor(`signal ${number} has come`, () => arrived().length > index);
  }
  assert.ok(send(pid, SIGCONT));
  await waitFor('CONT has come', () => readTimeline(scratch.log).signals('app').includes(SIGCONT));
  await container.kill();
  return arrived();

  function arrived(): number[] {
    return readTimeline(scratch.log).signals('app').filter(isNotCont);
  }
}

describe('signals under the name of another program', { concurrency: 2 }, () => {
  const without = (list: readonly number[]): number[] => ORDINARY.filter((it) => it !== SIGCONT && !list.includes(it));

  sideBySide('tini', 'C04 every ordinary signal, and a real-time one, is passed on once', async (stage, peer) => {
    const numbers = [...without(INTENDED.tiniForwardsToo), RTMIN_3];
    assert.deepEqual(await pass(stage, peer, [], numbers), numbers);
  });

  scenario('C04 and those that tini keeps for itself: sexton as tini', async (stage) => {
    const numbers = INTENDED.tiniForwardsToo;
    assert.deepEqual(await pass(stage, ours(stage, 'tini'), [], numbers), numbers);
  });

  for (const flags of [[], ['-c'], ['--single-child', '-v']]) {
    const shown = flags.length === 0 ? 'its group' : flags.join(' ');
    sideBySide('dumb-init', `C03 every ordinary signal is passed on once, ${shown}`, async (stage, peer) => {
      const numbers = flags.length === 0 ? without(FROM_TERMINAL) : without([]);
      assert.deepEqual(await pass(stage, peer, flags, numbers), numbers);
    });
  }

  sideBySide('dumb-init', 'C03 rewritten, dropped, not chained, the last word counts', async (stage, peer) => {
    const flags = ['-r', '15:3', '-r', '3:1', '-r', '1:0', '-r', '10:2', '--rewrite=10:12', '--rewrite', '20:10'];
    const sent = [SIGTERM, SIGQUIT, SIGUSR1, SIGTSTP, SIGWINCH];
    assert.deepEqual(await pass(stage, peer, flags, sent), [SIGQUIT, SIGHUP, SIGUSR2, SIGUSR1, SIGWINCH]);
  });

  sideBySide('dumb-init', 'C03 a signal that is rewritten to 0 does not come', async (stage, peer) => {
    const { scratch } = stage;
    const flags = ['-r', '10:0', '-r', '15:0'];
    const container = contain(stage, peer, [...flags, ...member(stage, 'app', { trap: 'all', stop: 'INT', exit: 5 })]);
    await waitForEvent(scratch.log, 'app', 'Started');
    // In this order they are read, lowest first where several wait: what was dropped would have come before.
    for (const number of [SIGUSR1, SIGTERM, SIGWINCH]) await container.signal(number);
    await waitForEvent(scratch.log, 'app', 'Signal');
    await container.signal('SIGINT');
    assert.equal((await container.exit()).status, 5);
    assert.deepEqual(readTimeline(scratch.log).signals('app').filter(isNotCont), [SIGWINCH, 2]);
  });

  for (const [name, id, flags, env, reachesGroup] of [
    ['dumb-init', 'C03', [], {}, true],
    ['dumb-init', 'C03', ['-c'], {}, false],
    ['dumb-init', 'C03', [], { DUMB_INIT_SETSID: '0' }, false],
    ['dumb-init', 'C03', [], { DUMB_INIT_SETSID: '1' }, true],
    ['tini', 'C04', [], {}, false],
    ['tini', 'C04', ['-g'], {}, true],
    ['tini', 'C04', [], { TINI_KILL_PROCESS_GROUP: '' }, true],
  ] as const satisfies readonly (readonly [PeerName, string, readonly string[], object, boolean])[]) {
    const shown = [...flags, ...Object.entries(env).map((it) => it.join('='))].join(' ') || 'no flags';
    const whom = reachesGroup ? 'the whole group' : 'the command alone';
    sideBySide(name, `${id} with ${shown} a signal reaches ${whom}`, async (stage, peer) => {
      const { scratch } = stage;
      const inner = member(stage, 'inner', { trap: 'all' }).join(' ');
      const outer = member(stage, 'outer', { trap: 'all' }).join(' ');
      const container = contain(stage, peer, [...flags, '--', 'sh', '-c', `${inner} & exec ${outer}`], { env });
      for (const it of ['inner', 'outer']) await waitForEvent(scratch.log, it, 'Started');
      await container.signal(SIGUSR1);
      await waitForEvent(scratch.log, 'outer', 'Signal');
      if (reachesGroup) await waitForEvent(scratch.log, 'inner', 'Signal');
      const [child = 0] = childrenOf(await container.pid1()).filter((it) => childrenOf(it).length > 0);
      const [grandchild = 0] = childrenOf(child);
      // Whatever was sent before this has come before this.
      assert.ok(send(grandchild, SIGUSR2));
      await waitFor('its own has come', () => readTimeline(scratch.log).signals('inner').includes(SIGUSR2));
      await container.kill();
      assert.deepEqual(readTimeline(scratch.log).signals('inner'), reachesGroup ? [SIGUSR1, SIGUSR2] : [SIGUSR2]);
      assert.deepEqual(readTimeline(scratch.log).signals('outer'), [SIGUSR1]);
    });
  }

  for (const [flags, childStops] of [
    [[], true],
    [['-c'], false],
    [['-r', '20:0', '-r', '21:0', '-r', '22:0'], false],
  ] as const) {
    const what = childStops ? 'stops its group by STOP and itself' : 'stops itself, the command gets what it gets';
    sideBySide(
      'dumb-init',
      `C03 TSTP, TTIN and TTOU: ${['dumb-init', ...flags].join(' ')} ${what}; CONT goes on`,
      async (stage, peer) => {
        const { scratch } = stage;
        const run = launch(stage, peer, [...flags, '--', ...member(stage, 'app', { trap: 'all', exit: 3 })]);
        await waitForEvent(scratch.log, 'app', 'Started');
        const child = await waitFor('the command is there', () => childrenOf(run.pid)[0]);
        for (const [index, signal] of FROM_TERMINAL.entries()) {
          assert.ok(send(run.pid, signal));
          await waitFor('it has stopped', () => stateOf(run.pid) === 'T');
          if (childStops) await waitFor('the command has stopped', () => stateOf(child) === 'T');
          else assert.notEqual(stateOf(child), 'T');
          const isPassedOn = flags[0] === '-c';
          // A CONT discards a stop signal that is still pending.
          if (isPassedOn) await waitForEvent(scratch.log, 'app', 'Signal', 2 * index + 1);
          assert.ok(send(run.pid, SIGCONT));
          await waitForEvent(scratch.log, 'app', 'Signal', isPassedOn ? 2 * index + 2 : index + 1);
          await waitFor('it runs again', () => stateOf(run.pid) !== 'T');
        }
        assert.ok(send(run.pid, SIGTERM));
        assert.deepEqual(await run.end(), { code: 3, signal: null });
        const came = readTimeline(scratch.log).signals('app');
        assert.deepEqual(came.filter(isNotCont), [...(flags[0] === '-c' ? FROM_TERMINAL : []), SIGTERM]);
      },
    );
  }

  for (const name of ['tini', 'dumb-init'] as const) {
    scenario(`P03 a TERM that comes as early as can be is passed on, as ${name} (24 rounds)`, async (stage) => {
      const peer = ours(stage, name);
      await inRounds(24, 3, async (index) => {
        const app = `app${index}`;
        const flags = index % 2 === 0 ? [] : name === 'tini' ? ['-e', '9', '-p', 'SIGTERM'] : ['-r', '15:3'];
        const as = flags[0] === '-r' ? SIGQUIT : SIGTERM;
        const container = contain(stage, peer, [...flags, '--', ...member(stage, app, { stop: `${as}`, exit: 3 })]);
        let pid: number | undefined;
        // The kernel drops a TERM to PID 1 until its first instruction has run.
        while (pid === undefined || !isBlockingAll(pid)) {
          await new Promise((resolve) => setImmediate(resolve));
          pid = container.findNow(SEXTON_PROGRAM);
        }
        send(pid, SIGTERM);
        const { status } = await within(`${app} ends`, container.ended);
        // It has handled it, or died of it before it had a handler.
        assert.ok([3, 128 + as].includes(status), `${app} ended with ${status}`);
      });
    });
  }

  scenario('C03 a signal that was pending before it could be read reaches the command', async (stage) => {
    const launcher = ['env', '--block-signal=TERM', 'sh', '-c', '(kill -TERM $$); exec "$@"', 'sh'];
    const words = ['-r', '15:10', ...member(stage, 'app', { stop: 'USR1', exit: 6 })];
    const { code } = await launch(stage, ours(stage, 'dumb-init'), words, { launcher }).end();
    // It has handled it, or died of it before it had a handler: it is there before the command's first instruction.
    if (code === 6) assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), [SIGUSR1]);
    else assert.equal(code, 128 + SIGUSR1);
  });
});

/** CONT follows a request to end, so that a stopped process receives that. */
function isNotCont(signal: number): boolean {
  return signal !== SIGCONT;
}

const SEXTON_PROGRAM = realpathSync(SEXTON);

function isBlockingAll(pid: number): boolean {
  try {
    return /^SigBlk:\s*[7f]ffffff/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}
