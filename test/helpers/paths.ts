/** Where things are, for tests: the repository, what the build lays, and what the fixtures are built into. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * The program that every black-box test starts; `npm run build` lays it. The variable points the tests at another
 * build.
 */
export const SEXTON = process.env.TEST_SEXTON ?? join(ROOT, 'dist', 'sexton', 'sexton');

export const FIXTURE_SOURCES = join(ROOT, 'test', 'fixtures');
export const FIXTURES = join(ROOT, 'dist', '.fixtures');

/** The Node of the build, with its own loader and libraries. */
export const PORTABLE_NODE: readonly string[] = portableNode(dirname(SEXTON));

/** The Node that the tests themselves run on. */
export const NODE = process.execPath;

function portableNode(dir: string): string[] {
  const [loader = ''] = globSync(join(dir, 'lib', 'ld-linux*'));
  return [loader, '--library-path', join(dir, 'lib'), join(dir, 'bin', 'node')];
}
