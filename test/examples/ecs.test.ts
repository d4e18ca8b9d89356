/** task-definition.json by the rules that ECS documents for its shape, and what it declares to sexton. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

interface ContainerDefinition {
  readonly name: string;
  readonly essential: boolean;
  readonly entryPoint: readonly string[];
  readonly dependsOn?: readonly { readonly containerName: string; readonly condition: string }[];
  readonly mountPoints: readonly { readonly sourceVolume: string; readonly containerPath: string }[];
  readonly stopTimeout: number;
}

const KEYS = {
  task: 'family requiresCompatibilities networkMode cpu memory volumes containerDefinitions',
  container: 'name image essential entryPoint command dependsOn mountPoints stopTimeout',
} as const;
const CONDITIONS = ['START', 'COMPLETE', 'SUCCESS', 'HEALTHY'];
const FARGATE_MEMORY_OF_256 = ['512', '1024', '2048'];
const FARGATE_STOP_SECONDS = 120;

const task = JSON.parse(readFileSync(join(ROOT, 'examples', 'ecs', 'task-definition.json'), 'utf8')) as {
  readonly cpu: string;
  readonly memory: string;
  readonly networkMode: string;
  readonly volumes: readonly { readonly name: string }[];
  readonly containerDefinitions: readonly ContainerDefinition[];
};
const containers = task.containerDefinitions;

test('the task definition has no key that ECS does not know, and all that Fargate asks for', () => {
  const known = (keys: string, it: object): boolean => Object.keys(it).every((key) => keys.split(' ').includes(key));
  assert.ok(known(KEYS.task, task));
  for (const it of containers) assert.ok(known(KEYS.container, it), it.name);
  assert.equal(task.networkMode, 'awsvpc');
  assert.equal(task.cpu, '256');
  assert.ok(FARGATE_MEMORY_OF_256.includes(task.memory));
  assert.ok(containers.some(({ essential }) => essential));
});

test('its containers name volumes and containers that are there', () => {
  const names = containers.map(({ name }) => name);
  const volumes = task.volumes.map(({ name }) => name);
  for (const { dependsOn = [], mountPoints } of containers) {
    for (const { containerName, condition } of dependsOn) {
      assert.ok(names.includes(containerName));
      assert.ok(CONDITIONS.includes(condition));
    }
    assert.deepEqual(mountPoints, [{ sourceVolume: volumes[0], containerPath: '/graveyard' }]);
  }
});

test('the flags of sexton give the name and the stop timeout that ECS knows', () => {
  for (const { name, entryPoint, stopTimeout } of containers) {
    assert.ok(stopTimeout <= FARGATE_STOP_SECONDS);
    assert.ok(entryPoint.includes(`--name=${name}`));
    assert.ok(entryPoint.includes(`--grace-period=${stopTimeout}s`));
  }
});
