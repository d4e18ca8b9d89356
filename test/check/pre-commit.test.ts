/**
 * Runs .pre-commit-hooks.yaml as pre-commit does. pre-commit splits `entry` into words and appends the names of the
 * changed files that `files` matches (pre-commit.com, creating new hooks).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { collect } from '../../src/check/files.ts';
import { ROOT, SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { examples } from './rules.ts';

interface Hook {
  readonly id: string;
  readonly name: string;
  readonly entry: string;
  readonly language: string;
  readonly files: string;
  readonly require_serial: boolean;
}

const HOOKS: readonly Hook[] = parse(readFileSync(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8'));
const [HOOK] = HOOKS;
assert.ok(HOOK);

const NAMES = [
  ...['a.yaml', 'dir/a.yml', 'a.json', 'Dockerfile', 'dir/Containerfile', 'Dockerfile.dev', 'web.Dockerfile'],
  ...['dir/web.Containerfile', 'Dockerfile.a.b', 'a.yaml.tpl', 'ayaml', 'README.md', 'Dockerfiles', 'myDockerfile'],
  ...['dir.yaml/a.txt', 'a.jsonl', 'Dockerfile/x.txt', 'Dockerfile.dockerignore', 'Containerfile.containerignore'],
];

describe('the hook of pre-commit', () => {
  it('the hook declares what pre-commit needs and lets one process see all files', () => {
    assert.deepEqual(
      HOOKS.map(({ id }) => id),
      ['sexton-check'],
    );
    assert.equal(HOOK.language, 'system');
    assert.equal(HOOK.require_serial, true);
    assert.notEqual(HOOK.name, '');
  });

  it('the hook runs for the files that sexton check reads from a directory', () => {
    const dir = temporaryDirectory();
    for (const name of NAMES) {
      mkdirSync(join(dir, dirname(name)), { recursive: true });
      // A file and a directory of one name cannot be.
      if (name !== 'Dockerfile') writeFileSync(join(dir, name), '{"apiVersion": "v1", "kind": "Pod"}\n');
    }
    const read = collect([dir], () => Buffer.of()).inputs.map(({ path }) => path.slice(dir.length + 1));
    assert.deepEqual(
      read.filter((name) => name.endsWith('ignore')),
      [],
    );
    // re.search of Python.
    const matched = NAMES.filter((name) => new RegExp(HOOK.files).test(name));
    assert.deepEqual(matched.toSorted(), [...read, 'Dockerfile'].sort());
  });

  it('the hook fails a commit only where there are errors', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'bad.yaml'), examples('SX101').bad);
    writeFileSync(join(dir, 'good.yaml'), examples('SX101').good);
    writeFileSync(join(dir, 'package.json'), '{"name": "web"}\n');
    const run = (...names: readonly string[]) => {
      const [program = '', ...args] = HOOK.entry.split(' ');
      const env = { PATH: `${dirname(SEXTON)}:${process.env.PATH}` };
      return spawnSync(program, [...args, ...names], { cwd: dir, env, encoding: 'utf8' });
    };
    assert.equal(run('good.yaml', 'package.json').status, 0);
    const { status, stdout } = run('good.yaml', 'bad.yaml');
    assert.equal(status, 1);
    assert.match(stdout, /bad\.yaml:14:22 error SX101/);
  });
});
