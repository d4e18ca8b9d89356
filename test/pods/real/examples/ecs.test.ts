/**
 * examples/ecs: the containers of task-definition.json in containers of podman, with one network and one volume as a
 * task has them. The images become that of the tests.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../../helpers/paths.ts';
import { readTombstone } from '../../../helpers/tombstone.ts';
import { waitFor } from '../../../helpers/wait.ts';
import { sharedImages } from '../images.ts';
import { type Part, withTogether } from './together.ts';

const images = sharedImages();

interface ContainerDefinition {
  readonly name: string;
  readonly entryPoint: readonly string[];
  readonly command: readonly string[];
  readonly mountPoints: readonly { readonly sourceVolume: string; readonly containerPath: string }[];
  readonly stopTimeout: number;
}

test('the last request of the work is served when all containers of the task are stopped at once', async () => {
  const parts = partsOf();
  const names = { parts: parts.map(({ name }) => name), volumes: ['graveyard'] };
  await withTogether(images().busybox, names, async (together) => {
    await together.make(parts);
    await together.start();
    await waitFor('the work is served', async () => (await together.logsOf('work')).includes('\naccepted'));
    await together.stop();
    assert.deepEqual([await together.exitOf('work'), await together.exitOf('proxy')], [0, 0]);
    assert.match(await together.logsOf('work'), /^the last item:\naccepted$/m);
    const graveyard = await together.volume('graveyard');
    const died = (name: string): number => readTombstone(graveyard, name)?.DiedMonotonic ?? Number.NaN;
    assert.ok(died('work') < died('proxy'), `${died('proxy')} is not after ${died('work')}`);
  });
});

function partsOf(): Part[] {
  const text = readFileSync(join(ROOT, 'examples', 'ecs', 'task-definition.json'), 'utf8');
  const { containerDefinitions } = JSON.parse(text) as { containerDefinitions: readonly ContainerDefinition[] };
  return containerDefinitions.map(({ name, entryPoint, command, mountPoints, stopTimeout }) => ({
    name,
    entrypoint: entryPoint,
    command,
    env: {},
    mounts: mountPoints.map((it) => [it.sourceVolume, it.containerPath] as const),
    stopSeconds: stopTimeout,
  }));
}
