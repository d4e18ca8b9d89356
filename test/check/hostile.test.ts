/** No name, depth or length in an input makes `sexton check` fail, hang, or print a command for a terminal or a CI. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { examples } from './rules.ts';
import { deployment, started } from './workloads.ts';

const BAD = examples('SX101').bad;
/** Root may read everything. */
const SOMEBODY = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
const HANGS_MS = 120_000;

function check(cwd: string, ...args: readonly string[]) {
  const env = { PATH: process.env.PATH };
  return spawnSync(SEXTON, ['check', ...args], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: HANGS_MS,
    maxBuffer: Number.POSITIVE_INFINITY,
    ...SOMEBODY,
  });
}

function directoryWith(files: Readonly<Record<string, string>>): string {
  const dir = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  chmodSync(dir, 0o755);
  return dir;
}

describe('sexton check of what others have written', () => {
  it('sexton check reads names such as __proto__ like any other name', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const container = `- name: ${name}\n  image: ${name}\n  command: [sh, -c, "${name} & wait"]\n  env: [{name: ${name}, value: a}]`;
      const { status, stderr } = check(directoryWith({ 'a.yaml': deployment(container) }), 'a.yaml');
      assert.equal(status, 0, stderr);
    }
  });

  it('a long run of blanks or slashes does not slow sexton check down', () => {
    const many = 1_000_000;
    const blanks = ' '.repeat(many);
    const hook = (script: string) =>
      deployment(`- name: web\n  image: a/b:1\n  lifecycle: {preStop: {exec: {command: [sh, -c, "${script}"]}}}`);
    const texts = {
      'hook.yaml': hook(`sleep 1${blanks}x`),
      'mount.yaml': deployment(
        `- name: web\n  image: a/b:1\n  volumeMounts: [{name: a, mountPath: "${'/'.repeat(many)}x"}]`,
      ),
      'comment.yaml': deployment(`- name: web\n  image: a/b:1${blanks}x # sexton-ignore SX301: no`),
    };
    for (const [name, text] of Object.entries(texts)) {
      const { status, stderr } = check(directoryWith({ [name]: text }), name);
      assert.equal(status, 0, `${name} ${stderr}`);
    }
  });

  it('20,000 workloads in one file do not slow sexton check down', () => {
    const one = started('[sh, -c, a]');
    const text = Array.from({ length: 20_000 }, (_, index) => one.replace('name: web', `name: web-${index}`)).join(
      '---\n',
    );
    const { status, stdout } = check(directoryWith({ 'a.yaml': text }), '--timeline', 'none', 'a.yaml');
    assert.equal(status, 1);
    assert.match(stdout, /^20000 errors, 0 warnings, 0 info, in 20000 workloads$/m);
  });

  it('a script that no kernel starts does not slow sexton check down', () => {
    const { status, stdout } = check(
      directoryWith({ 'a.yaml': started(`[sh, -c, "${'a; '.repeat(2_000_000)}"]`) }),
      'a.yaml',
    );
    assert.equal(status, 0);
    assert.match(stdout, /^0 errors, 0 warnings, 0 info, in 1 workload$/m);
  });

  it('a text that is nested too deeply is reported as such', () => {
    const { status, stdout } = check(directoryWith({ 'a.yaml': '['.repeat(20_000) }), 'a.yaml');
    assert.equal(status, 2);
    assert.match(stdout, /^a\.yaml:1 not read: it is nested too deeply$/m);
  });

  it('no format contains a control character of a name in an input', () => {
    const name = 'a\u009b31m\u0085\u007f';
    const text = started('[sh, -c, a]').replaceAll('name: web', `name: ${name}`);
    const dir = directoryWith({ [`${name}.yaml`]: text, 'broken.yaml': `${name}: [` });
    for (const format of ['text', 'json', 'sarif', 'junit', 'github']) {
      const { stdout } = check(dir, '-o', format, '.');
      assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u, format);
      assert.ok(stdout.includes('SX201'), format);
    }
    const { stdout } = check(dir, '-o', 'json', '.');
    assert.equal(JSON.parse(stdout).findings[0].path, `${name}.yaml`);
  });

  it('sexton check reports a directory that it may not read and checks the others', () => {
    const dir = directoryWith({ 'bad.yaml': BAD });
    mkdirSync(join(dir, 'closed'), { mode: 0 });
    const { status, stdout, stderr } = check(dir, '.');
    assert.equal(status, 2, stderr);
    assert.match(stdout, /^closed not read: permission denied$/m);
    assert.match(stdout, /^bad\.yaml:14:22 error SX101/m);
  });

  it('sexton check survives a missing working directory and an odd baseline', () => {
    const dir = directoryWith({ 'bad.yaml': BAD, 'base.json': '{"findings": [null, 1, {"fingerprint": 2}]}' });
    assert.equal(check(dir, '--baseline', 'base.json', 'bad.yaml').status, 1);
    mkdirSync(join(dir, 'gone'));
    const { status, stderr } = spawnSync('sh', ['-c', 'rmdir ../gone; exec "$0" check ../bad.yaml', SEXTON], {
      cwd: join(dir, 'gone'),
      encoding: 'utf8',
    });
    assert.equal(status, 125);
    assert.match(stderr, /^sexton: cannot run sexton check: the working directory is gone; [^\n]+\n$/);
    assert.throws(() => rmdirSync(join(dir, 'gone')), /ENOENT/);
  });

  it('no output contains a file name that a terminal or a CI would execute', () => {
    const names = ['::error::no\x1b[2J.yaml', 'a\x1b]0;title\x07.yaml', '##[error]no.yaml', '##vso[task]\u009b.yaml'];
    const dir = directoryWith(Object.fromEntries(names.map((name) => [name, BAD])));
    writeFileSync(join(dir, '::warning::b.yaml'), 'a: [\n');
    for (const format of ['text', 'github']) {
      const { stdout, status } = check(dir, '-o', format, '.');
      assert.equal(status, 2);
      assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u, format);
      const commands = stdout.match(/^\s*::.*|##(\[|vso\[).*/gm) ?? [];
      const ours = commands.filter((line) => /^::error file=(%3A|a|#)[^:]*(::web: a preStop|::not YAML)/.test(line));
      assert.deepEqual(commands, format === 'github' ? ours : [], format);
    }
    const { stdout } = check(dir, '--diff', '.');
    assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u);
    const there = spawnSync('git', ['apply', '--check', '-'], { cwd: dir, input: stdout, encoding: 'utf8' });
    if (there.error === undefined) assert.equal(there.status, 0, there.stderr);
  });
});
