/**
 * P: sexton as PID 1 of real containers, under a real runtime's seccomp profile, mounts and users. What needs hundreds
 * of rounds runs in namespaces of its own elsewhere; here a part of it shows that a runtime makes no difference.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { podman } from '../../helpers/podman.ts';
import { send } from '../../helpers/process.ts';
import { type Stage, scenario } from '../../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../../helpers/timeline.ts';
import { readTombstone } from '../../helpers/tombstone.ts';
import { waitFor, waitForFile, within } from '../../helpers/wait.ts';
import { application, withContainer } from './container.ts';
import { sharedImages } from './images.ts';

const SIGHUP = 1;
const SIGTERM = 15;
const SIGUSR1 = 10;
const RTMIN_3 = 37;
const RTMAX = 64;
/** KILL, STOP and CHLD are not forwarded; TERM and INT ask for a stop; CONT follows others. */
const FORWARDED = Array.from({ length: RTMAX }, (_, index) => index + 1).filter(
  (it) => ![2, 9, 15, 17, 18, 19].includes(it),
);

const images = sharedImages();

scenario(
  'P02 in a container each signal but KILL, STOP and CHLD arrives once, those of podman kill as well',
  async (stage) => {
    const command = ['run', '--', ...application(stage, 'app', { ignore: 'all', trap: 'all' })];
    await withContainer(stage, { image: images().bare, command }, async (container) => {
      await container.start();
      await waitForEvent(stage.scratch.log, 'app', 'Started');
      const arrived = (): number[] =>
        readTimeline(stage.scratch.log)
          .signals('app')
          .filter((it) => it !== 18);
      const pid = await container.pid1();
      for (const [index, signal] of FORWARDED.entries()) {
        assert.ok(send(pid, signal));
        await waitFor(`signal ${signal} arrives`, () => arrived().length > index);
      }
      const byName = [SIGHUP, SIGUSR1, RTMIN_3, SIGTERM];
      for (const [index, signal] of byName.entries()) {
        await podman('kill', '--signal', String(signal), container.name);
        await waitFor(`signal ${signal} arrives`, () => arrived().length > FORWARDED.length + index);
      }
      assert.deepEqual(arrived(), [...FORWARDED, ...byName]);
    });
  },
);

scenario('P03 a TERM sent 0 to 80 ms after a container started is never lost (24 rounds)', async (stage) => {
  const delays = [0, 1, 2, 5, 10, 20, 40, 80];
  for (let round = 0; round < 3 * delays.length; round += 1) {
    const name = `app${round}`;
    const flags = round % 2 === 0 ? [] : ['--name', name, '--graveyard', stage.scratch.graveyard];
    const command = ['run', ...flags, '--', ...application(stage, name, { exit: 3 })];
    await withContainer(stage, { image: images().bare, command }, async (container) => {
      const started = container.start();
      const pid = await container.pid1();
      // Until its first system call the kernel itself drops a TERM to PID 1.
      await waitFor('its first instruction', () => /^SigBlk:\s*[7f]ffffff/m.test(statusOf(pid)));
      await sleep(delays[Math.floor(round / 3)]);
      assert.ok(send(pid, SIGTERM));
      await started;
      const status = await within(`${name} ends`, container.exit());
      const log = readTimeline(stage.scratch.log);
      const wasThere = log.of(name, 'Starting').length > 0;
      assert.deepEqual([wasThere ? log.signals(name) : [], status], wasThere ? [[SIGTERM], 3] : [[], 128 + SIGTERM]);
    });
  }
});

scenario('P08 read-only root, uid 12345, no capabilities, no new privileges, hidepid, seccomp', async (stage) => {
  const flags = ['--name', 'app', '--graveyard', stage.scratch.graveyard];
  const command = ['run', ...flags, '--', ...application(stage, 'app', { exit: 3 })];
  const locked = ['--read-only', '--read-only-tmpfs=false', '--user=12345:12345', '--cap-drop=all'];
  const options = [...locked, '--security-opt=no-new-privileges', '--security-opt=proc-opts=hidepid=2'];
  await withContainer(stage, { image: images().bare, podman: options, command }, async (container) => {
    await container.start();
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    const status = statusOf(await container.pid1());
    assert.match(status, /^Uid:\s12345/m);
    assert.match(status, /^CapEff:\s0{16}$/m);
    assert.match(status, /^NoNewPrivs:\s1$/m);
    assert.match(status, /^Seccomp:\s2$/m);
    await podman('stop', '--time=20', container.name);
    assert.equal(await container.exit(), 3);
    const { Reason, ExitCode } = readTombstone(stage.scratch.graveyard, 'app') ?? {};
    assert.deepEqual([Reason, ExitCode], ['stopped', 3]);
  });
});

scenario('P09 the environment of the application is that of the container, byte for byte', async (stage) => {
  const { scratch } = stage;
  for (const solo of [true, false]) {
    const flags = solo ? [] : ['--name', 'app', '--graveyard', scratch.graveyard];
    const out = scratch.path(`env-${solo}`);
    const command = ['run', ...flags, '--', ...application(stage, 'app', { mode: 'env,run', out })];
    const words = ['--env=EMPTY=', '--env=LINES=one\ntwo', '--env=NODE_OPTIONS=--no-warnings', '--env=WIDE=ü=…'];
    await withContainer(stage, { image: images().bare, podman: words, command }, async (container) => {
      await container.start();
      await waitForFile(out);
      const given = readFileSync(`/proc/${await container.pid1()}/environ`, 'latin1');
      assert.match(given, /NODE_OPTIONS=--no-warnings/);
      assert.equal(readFileSync(out, 'latin1'), given);
    });
  }
});

scenario('P10 the descriptors of the application are those of the same container without sexton', async (stage) => {
  const bare = await descriptors(stage, ['--entrypoint=/member'], []);
  assert.equal(await descriptors(stage, [], ['run', '--', '/member']), bare);
  const flags = ['run', '--name', 'app', '--graveyard', stage.scratch.graveyard, '--', '/member'];
  assert.equal(await descriptors(stage, [], flags), bare);
});

scenario('P05 an interactive shell on the terminal of podman run -it', async ({ t, scratch }) => {
  const inside = `podman run --rm -it --network=none --env PS1='$ ' ${images().busybox} run -- sh -i`;
  const terminal = spawn('script', ['--quiet', '--return', '--command', inside, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'dumb' },
  });
  // The end of its terminal ends podman's client and, by --rm, the container.
  t.after(() => terminal.kill('SIGHUP'));
  const ended = new Promise<number | null>((resolve) => terminal.once('close', resolve));
  let shown = '';
  terminal.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString('latin1');
  });
  scratch.describe(() => shown);
  const screen = (pattern: RegExp): Promise<true> =>
    waitFor(`the screen shows ${pattern}`, () => pattern.test(shown) || undefined);
  await screen(/\$ /);
  // Its first line comes when it has the terminal.
  terminal.stdin.write("sh -c 'echo job $((1 + 1)); exec sleep 300'\n");
  await screen(/job 2/);
  terminal.stdin.write('\x03');
  terminal.stdin.write('echo ended by $((0 + $?))\n');
  await screen(/ended by 130/);
  terminal.stdin.write('tty; exit 6\n');
  await screen(/\/dev\/(pts\/\d+|console)/);
  assert.equal(await within('the shell ends', ended), 6);
  assert.doesNotMatch(shown, /job control/);
});

/** As the fixture lists its own, the numbers of pipes and sockets left out. */
async function descriptors(stage: Stage, flags: readonly string[], command: readonly string[]): Promise<string> {
  const out = stage.scratch.path('fds');
  const words = [...command, 'mode=fds', `out=${out}`];
  await withContainer(stage, { image: images().bare, podman: flags, command: words }, async (container) => {
    await container.start();
    assert.equal(await container.exit(), 0);
  });
  return readFileSync(out, 'latin1').replaceAll(/\[\d+\]/g, '[]');
}

function statusOf(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'latin1');
}
