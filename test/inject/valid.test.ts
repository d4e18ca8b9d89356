import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { familiarName } from '../../src/check/stop/images.ts';
import { DELIVERIES } from '../../src/inject/delivery.ts';
import { parseManifests } from '../helpers/manifest.ts';
import { problemsOf } from '../helpers/manifest-types.ts';
import { ROOT } from '../helpers/paths.ts';
import { injected } from './inject.ts';

const FACTS = { entrypoint: ['/entry', '--home=$HOME'], cmd: ['serve'], stopSignal: 'SIGUSR1' };

/** With a lock that has all images. The pods in which nothing was wrapped are left out. */
async function injectedManifests(file: string, deliver: (typeof DELIVERIES)[number]) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const names = [...text.matchAll(/image: *["']?([^\s"',}]+)/g)].map(([, name = '']) => familiarName(name));
  const images = new Map(names.map((name) => [name, FACTS]));
  const { changes } = await injected(text, { images, deliver });
  const before = new Set(parseManifests(text, file).map(({ content }) => JSON.stringify(content)));
  const after = parseManifests(changes[0]?.text ?? text, file);
  return after.filter(({ content }) => !before.has(JSON.stringify(content)));
}

it('what sexton inject makes of rules and examples fits the types of Kubernetes', async () => {
  const files = globSync(['src/check/rules/*/good.yaml', 'examples/**/*.yaml'], { cwd: ROOT }).sort();
  const made = await Promise.all(
    files.flatMap((file) => DELIVERIES.map((deliver) => injectedManifests(file, deliver))),
  );
  const manifests = made.flat();
  assert.ok(manifests.length > 50, `${manifests.length} manifests`);
  assert.deepEqual(await problemsOf(manifests), []);
});
