/**
 * The manifest of the npm package: what is published and nothing that only the repository needs (scripts,
 * dependencies).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly [key: string]: unknown;
}

/** `env`: of GitHub Actions, which says where the sources are; npm compares that with who publishes. */
export function manifestOf(root: string, env: Readonly<Record<string, string | undefined>>): Manifest {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const { name, version, description, license, type, engines } = own;
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env;
  const home = server && repository ? `${server}/${repository}` : undefined;
  return {
    name,
    version,
    description,
    license,
    keywords: ['container', 'entrypoint', 'init', 'kubernetes', 'pid1', 'shutdown', 'sidecar', 'signals'],
    ...(home && { homepage: `${home}#readme`, repository: { type: 'git', url: `git+${home}.git` } }),
    type,
    engines,
    os: ['!win32'],
    bin: { sexton: 'bin/sexton.cjs' },
    exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' }, './package.json': './package.json' },
    files: ['bin', 'lib', 'licenses', 'CHANGELOG.md'],
    // Yarn keeps packages as archives otherwise, and nothing can be executed in one.
    preferUnplugged: true,
    // Provenance can be had in the release workflow only, so no package is published by accident.
    publishConfig: { access: 'public', provenance: true },
  };
}
