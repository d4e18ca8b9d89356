/** The pods of README, with images that exist. The command lines of sexton stay as they are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../helpers/paths.ts';
import { imageNames } from './images.ts';
import type { PodSpec } from './objects.ts';

/** `does`: by container, the keys of the fixture application that replaces its program. */
export function readmePod(heading: string, does: Readonly<Record<string, string>> = {}): PodSpec {
  const [, section = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split(`### ${heading}\n`);
  const [, yaml] = /```yaml\n(.*?)```/s.exec(section) ?? [];
  if (yaml === undefined) throw new Error(`README has no manifest below '${heading}'`);
  const { spec } = parse(yaml) as { spec: PodSpec };
  const containers = spec.containers.map((container) => ({
    ...container,
    image: imageNames().whole,
    imagePullPolicy: 'Never',
    env: [...((container.env ?? []) as unknown[]), { name: 'MEMBER', value: does[container.name] ?? '' }],
  }));
  return { ...spec, containers };
}
