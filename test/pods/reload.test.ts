/** Volumes of Kubernetes are swapped under an application that runs, serves on in a stop, or has no supervisor. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { type Container, isSupervisor, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { send, stateOf } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { type LogEvent, readTimeline } from '../helpers/timeline.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { Volume } from '../runtime/reload/watching.ts';
import { runPod } from './kubelet.ts';
import { AMPLE_MS, cast } from './members.ts';

const HUP = 1;
const USR1 = 10;
const TRAPS = { trap: 'HUP,USR1' };

/** A projected volume with a token, and a file whose changes tell that all before them was looked at. */
class Files {
  readonly volume: Volume;
  readonly flags: readonly string[];
  readonly #stage: Stage;
  readonly #marker: string;
  #marks = 0;

  constructor(stage: Stage, { validate = '', volume }: { readonly validate?: string; readonly volume?: Volume } = {}) {
    this.#stage = stage;
    this.volume = volume ?? new Volume(stage.scratch.path('token-volume'), { token: 'good 0' });
    this.#marker = stage.scratch.path(`marker-${Math.random()}`);
    this.#mark();
    const token = join(this.volume.dir, 'token');
    this.flags = [
      '--reload',
      `${token}=HUP${validate && `,validate=${validate.replaceAll('TOKEN', token)}`}`,
      '--reload',
      `${this.#marker}=USR1`,
    ];
  }

  rotate(content: string): void {
    this.volume.update({ token: content });
  }

  /** Resolves when what was there before this call has been looked at; how many HUP the member has by then. */
  async hups(name: string): Promise<number> {
    const { log } = this.#stage.scratch;
    const count = (signal: number): number =>
      readTimeline(log)
        .signals(name)
        .filter((it) => it === signal).length;
    // Twice: what is looked at together with the marker may settle a round later.
    for (let round = 0; round < 2; round += 1) {
      const before = count(USR1);
      let nextMs = 0;
      let waitMs = 300;
      await waitFor(`${name} hears of the marker`, () => {
        if (performance.now() > nextMs) {
          this.#mark();
          nextMs = performance.now() + waitMs;
          waitMs *= 2;
        }
        return count(USR1) > before;
      });
    }
    return count(HUP);
  }

  #mark(): void {
    writeFileSync(`${this.#marker}.new`, `${this.#marks++}`);
    renameSync(`${this.#marker}.new`, this.#marker);
  }
}

function start(stage: Stage, files: Files, flags: readonly string[] = []): Container {
  const declared = ['--name', 'app', '--graveyard', stage.scratch.graveyard, '--restart-policy', 'Never'];
  return startContainer(stage.scratch, {
    flags: [...declared, ...files.flags, ...flags],
    command: member(stage, 'app', TRAPS),
  });
}

const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** When the process of the member began to serve, or infinity. */
function startedMs(stage: Stage): number {
  return readTimeline(stage.scratch.log).of('app', 'Started').at(0)?.atMs ?? Number.POSITIVE_INFINITY;
}

/** Changes the token again and again until a HUP has come, or `isOver`. Resolves with the time of the HUP. */
async function firstHup(stage: Stage, files: Files, isOver = (): boolean => false): Promise<number | undefined> {
  let [count, nextMs] = [0, 0];
  const hup = (): LogEvent | undefined =>
    readTimeline(stage.scratch.log)
      .of('app', 'Signal')
      .find(({ detail }) => Number(detail) === HUP);
  await waitFor('a HUP', () => {
    if (monotonicMs() > nextMs) {
      files.rotate(`good ${count++}`);
      nextMs = monotonicMs() + 400;
    }
    return hup() !== undefined || isOver();
  });
  return hup()?.atMs;
}

describe('reloads', { concurrency: atOnce(2) }, () => {
  scenario('content that its validation refuses sends no HUP, and valid content after it does', async (stage) => {
    const { scratch } = stage;
    const files = new Files(stage, { validate: 'grep -q good TOKEN' });
    const container = start(stage, files);
    await files.hups('app');
    files.rotate('broken');
    await waitFor('the refusal is logged', () => container.stderr().includes('its validation failed'));
    assert.equal(await files.hups('app'), 0);
    assert.match(container.stderr(), /not telling the command that \S*token has changed: its validation failed/);
    assert.match(container.stderr(), /"detail":"exit code 1"/);
    files.rotate('good 2');
    await waitFor('the next one is told', () => readTimeline(scratch.log).signals('app').includes(HUP));
    assert.equal(await files.hups('app'), 1);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
  });

  scenario('a command hears of no change before it has started, and of one afterwards', async (stage) => {
    const files = new Files(stage);
    const ready = stage.scratch.path('ready');
    const container = start(stage, files, ['--startup', `exec:test -e ${ready},period=200ms,failures=1000`]);
    await firstHup(stage, files, () => monotonicMs() - startedMs(stage) > 3_000);
    assert.deepEqual(readTimeline(stage.scratch.log).signals('app'), []);
    const readyMs = monotonicMs();
    writeFileSync(ready, '');
    const told = await firstHup(stage, files);
    assert.ok((told ?? 0) >= readyMs);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
  });

  scenario('a command hears of no change in its first 2 s, in which its entrypoint may edit files', async (stage) => {
    const files = new Files(stage);
    const container = start(stage, files);
    const told = await firstHup(stage, files);
    assert.ok((told ?? 0) - startedMs(stage) >= 1_900, `${told}`);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
  });

  scenario('the draining main and the holding sidecar get HUP for a token rotated during a stop', async (stage) => {
    const { scratch } = stage;
    const { main, sidecar, running } = cast(stage);
    const volume = new Volume(scratch.path('token-volume'), { token: 'good 0' });
    const files = { work: new Files(stage, { volume }), proxy: new Files(stage, { volume }) };
    const drained = scratch.path('drained');
    const hook = ['--pre-stop', `exec:sh -c "until [ -e ${drained} ]; do sleep 0.05; done"`];
    const pod = runPod(scratch, {
      restartPolicy: 'Never',
      graceMs: AMPLE_MS,
      containers: [sidecar('proxy', TRAPS, files.proxy.flags), main('work', TRAPS, [...hook, ...files.work.flags])],
    });
    await running('proxy', 'work');
    for (const name of ['work', 'proxy'] as const) await files[name].hups(name);
    const end = pod.delete();
    await waitForTombstone(scratch.graveyard, 'proxy', 'holds', (it) => it.Phase === 'holding');
    await waitForTombstone(scratch.graveyard, 'work', 'drains', (it) => it.StopRequested !== undefined);
    volume.update({ token: 'good 1' });
    for (const name of ['work', 'proxy'] as const) {
      await waitFor(`${name} is told`, () => readTimeline(scratch.log).signals(name).includes(HUP));
      assert.equal(await files[name].hups(name), 1, name);
    }
    assert.ok(!readTimeline(scratch.log).signals('work').includes(15), 'it still drains');
    writeFileSync(drained, '');
    assert.equal(await end, 'Succeeded');
    for (const name of ['work', 'proxy']) assert.equal(readTimeline(scratch.log).signals(name).at(-1), 15, name);
    readTimeline(scratch.log).exitsBefore('work', 'proxy');
  });

  scenario('the next supervisor sends one HUP for a change while there was none', async (stage) => {
    const files = new Files(stage);
    const container = start(stage, files);
    assert.equal(await files.hups('app'), 0);
    const supervisor = await container.supervisor();
    // Stopped, so that it cannot see the change before it is killed.
    send(supervisor, 'SIGSTOP');
    await waitFor('it stands still', () => stateOf(supervisor) === 'T');
    files.rotate('good 1');
    send(supervisor, 'SIGKILL');
    assert.ok(isSupervisor(await container.supervisor(supervisor)));
    await waitFor('the change is told', () => readTimeline(stage.scratch.log).signals('app').includes(HUP));
    assert.equal(await files.hups('app'), 1);
    await container.signal('SIGTERM');
    assert.equal((await container.exit()).status, 0);
  });
});
