/** examples/compose: what compose.yaml says, in containers of podman. The images become that of the tests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseDuration } from '../../../../src/config/notation/duration.ts';
import { ROOT } from '../../../helpers/paths.ts';
import { readTombstone } from '../../../helpers/tombstone.ts';
import { sharedImages } from '../images.ts';
import { type Part, withTogether } from './together.ts';

const images = sharedImages();

interface Service {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly stop_signal: string;
  readonly stop_grace_period: string;
}

const names = { parts: ['work', 'proxy'], volumes: ['graveyard'] };

for (const [shown, runIds] of [
  ['with a new RUN_ID', ['one', 'two']],
  ['without a RUN_ID', ['', '']],
] as const) {
  test(`docker compose up ends the proxy with the work twice over one volume ${shown}`, async () => {
    await withTogether(images().busybox, names, async (together) => {
      for (const runId of runIds) {
        await together.make(partsOf(runId));
        await together.start();
        assert.deepEqual([await together.exitOf('work'), await together.exitOf('proxy')], [0, 0]);
        assert.match(await together.logsOf('work'), /^some data\nthe report is written$/m);
        const { Reason, StopReason } = readTombstone(await together.volume('graveyard'), 'proxy') ?? {};
        assert.deepEqual([Reason, StopReason], ['stopped', 'mains finished']);
      }
    });
  });
}

function partsOf(runId: string): Part[] {
  const text = readFileSync(join(ROOT, 'examples', 'compose', 'compose.yaml'), 'utf8');
  const { services } = parse(text.replaceAll(/\$\{RUN_ID:-\}/g, runId), { merge: true }) as {
    services: Readonly<Record<string, Service>>;
  };
  return Object.entries(services).map(([name, service]) => {
    const grace = parseDuration(service.stop_grace_period);
    assert.ok(grace.ok);
    return {
      name,
      entrypoint: service.entrypoint,
      command: service.command,
      env: Object.fromEntries(Object.entries(service.environment).map(([key, value]) => [key, value ?? ''])),
      mounts: service.volumes.map((it) => it.split(':') as [string, string]),
      stopSignal: service.stop_signal,
      stopSeconds: grace.value / 1000,
    };
  });
}
