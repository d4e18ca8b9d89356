/** A configuration is resolved once. Later supervisors keep it, whatever becomes of file, environment, directories. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'node:test';
import { AWAKE, type Container, isSupervisor, startContainer } from '../helpers/container.ts';
import { atOnce } from '../helpers/engine.ts';
import { member } from '../helpers/member.ts';
import { childrenOf, send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../helpers/timeline.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';

const SLEEPS = ['--sleep-after', '300ms', '--log-level', 'debug'];
const MAIN = ['--name', 'app', '--restart-policy', 'Never', '--drain', '300ms', '--grace-period', '60s'];

describe('a configuration that was accepted once', { concurrency: atOnce(2) }, () => {
  scenario('a resolved configuration survives a rename above the graveyard while asleep', async (stage) => {
    const above = stage.scratch.path('above');
    const graveyard = join(above, 'graveyard');
    mkdirSync(graveyard, { recursive: true });
    const container = start(stage, [...MAIN, '--graveyard', graveyard, ...SLEEPS]);
    await asleep(stage, container);
    renameSync(above, stage.scratch.path('elsewhere'));
    await stopsInOrder(stage, container);
  });

  scenario('a resolved configuration survives a broken file while asleep', async (stage) => {
    const { file, flags } = fileOf(stage);
    const container = start(stage, [...flags, ...SLEEPS]);
    await asleep(stage, container);
    writeFileSync(file, '{"drain": "soon"}');
    await stopsInOrder(stage, container);
  });

  scenario('a resolved configuration survives the loss of its file and of its supervisor', async (stage) => {
    const { file, flags } = fileOf(stage);
    const container = start(stage, [...flags, '--log-level', 'info', ...AWAKE]);
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    await waitForTombstone(stage.scratch.graveyard, 'app', 'runs', ({ Phase }) => Phase === 'running');
    const supervisor = await container.supervisor();
    rmSync(file);
    assert.ok(send(supervisor, 'SIGKILL'));
    await waitFor('another goes on', () =>
      /"ended":"signal 9".*the supervisor was started again/.test(container.stderr()),
    );
    await stopsInOrder(stage, container);
  });

  inOwnRoot('a resolved configuration survives the loss of the default graveyard while asleep', async (stage) => {
    const root = ownRoot(stage);
    mkdirSync(join(root.dir, 'graveyard'));
    // Without a graveyard a sidecar would be refused.
    const container = start(stage, [...MAIN, '--role', 'sidecar', '--hold', 'never', ...SLEEPS], root.inside);
    await asleep(stage, container);
    rmSync(join(root.dir, 'graveyard'), { recursive: true });
    await stopsInOrder(stage, container);
  });

  inOwnRoot('a resolved configuration keeps a sleeping solo member out of a later graveyard', async (stage) => {
    const root = ownRoot(stage);
    const container = start(stage, [...MAIN, ...SLEEPS], root.inside);
    await asleep(stage, container);
    const graveyard = join(root.dir, 'graveyard');
    mkdirSync(graveyard);
    await stopsInOrder(stage, container);
    assert.deepEqual(readdirSync(graveyard), []);
  });

  inOwnRoot('a resolved configuration keeps a plain command out of a later graveyard', async (stage) => {
    const root = ownRoot(stage);
    const flags = ['--name', 'app', '--log-level', 'warn'];
    // In a stop init ends what is left by itself, so USR1 ends this command.
    const command = member(stage, 'app', { grandchild: 1_000, stop: 'USR1' });
    const container = startContainer(stage.scratch, { flags, inside: root.inside, command });
    await waitForEvent(stage.scratch.log, 'app', 'Started');
    const graveyard = join(root.dir, 'graveyard');
    mkdirSync(graveyard);
    await container.signal('SIGUSR1');
    await waitForEvent(stage.scratch.log, 'app', 'Exiting');
    await container.supervisor();
    assert.equal((await container.exit()).status, 0);
    assert.deepEqual(readdirSync(graveyard), []);
  });
});

function inOwnRoot(title: string, body: (stage: Stage) => Promise<void>): void {
  scenario(title, body, { notInPodman: 'a root directory of its own would be needed' });
}

function start(stage: Stage, flags: readonly string[], inside: readonly string[] = []): Container {
  return startContainer(stage.scratch, { flags, inside, command: member(stage, 'app') });
}

/** The settings of `MAIN` in a file. */
function fileOf({ scratch }: Stage): { readonly file: string; readonly flags: readonly string[] } {
  const file = scratch.path('sexton.json');
  const { graveyard } = scratch;
  writeFileSync(
    file,
    JSON.stringify({
      name: 'app',
      restartPolicy: 'Never',
      drain: '300ms',
      terminationGracePeriodSeconds: 60,
      graveyard,
    }),
  );
  return { file, flags: ['--config', file] };
}

async function asleep({ scratch }: Stage, container: Container): Promise<void> {
  await waitForEvent(scratch.log, 'app', 'Started');
  await waitFor('it is asleep', () => /asleep until something happens/.test(container.stderr()));
  const pid1 = await container.pid1();
  await waitFor('it has no supervisor', () => !childrenOf(pid1).some(isSupervisor));
}

async function stopsInOrder({ scratch }: Stage, container: Container): Promise<void> {
  await container.signal('SIGTERM');
  const { status } = await container.exit();
  assert.deepEqual([status, readTimeline(scratch.log).signals('app')], [0, [15]]);
  assert.doesNotMatch(container.stderr(), /cannot start/);
}

/** What stands in the root directory of this machine, below another root in which `/graveyard` can come and go. */
function ownRoot({ scratch }: Stage): { readonly dir: string; readonly inside: readonly string[] } {
  const dir = scratch.path('root');
  mkdirSync(join(dir, 'old'), { recursive: true });
  const links = 'for d in /*; do [ -L "$d" ] && cp -d "$d" . && continue; [ -d "$d" ] && [ "$d" != /graveyard ]';
  const binds = `${links} && mkdir -p ".$d" && mount --rbind "$d" ".$d"; done`;
  const steps = [`mount --bind ${dir} ${dir}`, `cd ${dir}`, binds, 'pivot_root . old', 'umount -l /old', 'exec "$@"'];
  return { dir, inside: ['sh', '-c', steps.join('\n'), dirname(dir)] };
}
