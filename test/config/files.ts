/** A machine in memory for configurations: only the named files and directories exist. */
import assert from 'node:assert/strict';
import type { DropIn } from '../../src/config/dropin/dropin.ts';
import type { Env } from '../../src/config/env.ts';
import { type Files, type Resolution, resolveRun } from '../../src/config/resolve.ts';

export type Resolved = Extract<Resolution, { ok: true }>;

/** Without a configuration file the answer is no promise: the start of a container does not wait for one. */
export function resolved(argv: readonly string[], env: Env = {}, files = filesOf(), as?: DropIn): Resolved {
  const resolution = resolveRun(argv, env, files, as);
  assert.ok(!(resolution instanceof Promise), 'synchronous');
  return right(resolution);
}

export async function resolvedWithFile(argv: readonly string[], env: Env, files: Files): Promise<Resolved> {
  return right(await resolveRun(argv, env, files));
}

export async function problemsOf(
  argv: readonly string[],
  env: Env = {},
  files = filesOf(),
): Promise<readonly string[]> {
  const resolution = await resolveRun(argv, env, files);
  return resolution.ok ? [] : resolution.problems;
}

function right(resolution: Resolution): Resolved {
  assert.ok(resolution.ok, resolution.ok ? '' : resolution.problems.join('\n'));
  return resolution;
}

export function filesOf(
  texts: Readonly<Record<string, string>> = {},
  directories: readonly string[] = [],
  isTerminal = false,
  missing: readonly string[] = [],
): Files {
  return {
    readText: (path) => {
      const text = texts[path];
      if (text !== undefined) return text;
      const code = directories.includes(path) ? 'EISDIR' : 'ENOENT';
      throw Object.assign(new Error(`${code}: cannot read ${path}`), { code });
    },
    isDirectory: (path) => directories.includes(path),
    isMissing: (path) => missing.includes(path),
    isTerminal,
    whyNode: 'a test',
  };
}
