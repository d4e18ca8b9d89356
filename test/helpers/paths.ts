import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** What black-box tests start; `npm run build` lays it. The variable points the tests at another build. */
export const SEXTON = process.env.TEST_SEXTON ?? join(ROOT, 'dist', 'sexton', 'sexton');

export const FIXTURE_SOURCES = join(ROOT, 'test', 'fixtures');
export const FIXTURES = join(ROOT, 'dist', '.fixtures');

/** The Node of the build, with its own loader and libraries. */
export const PORTABLE_NODE: readonly string[] = portableNode(dirname(SEXTON));

export const NODE = process.execPath;

function portableNode(dir: string): string[] {
  const [loader = ''] = globSync(join(dir, 'lib', 'ld-linux*'));
  return [loader, '--library-path', join(dir, 'lib'), join(dir, 'bin', 'node')];
}
