import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAsJson } from '../../../src/config/file/file.ts';
import { filesOf, problemsOf as problemsWith, resolved, resolvedWithFile } from '../files.ts';

function problemsOf(path: string, text: string): Promise<readonly string[]> {
  return problemsWith(['--config', path, 'x'], {}, filesOf({ [path]: text }));
}

describe('a configuration file', () => {
  it('a configuration file in JSON is read without the YAML parser, by its name or by its look', () => {
    assert.deepEqual(parseAsJson('/c.json', '{"a": 1}'), { ok: true, value: { a: 1 } });
    assert.deepEqual(parseAsJson('/c', ' {"a": 1}'), { ok: true, value: { a: 1 } });
    assert.equal(parseAsJson('/c.yaml', 'a: 1'), undefined);
    assert.equal(parseAsJson('/c.yaml', '{a: 1}'), undefined);
    assert.equal(parseAsJson('/c.json', 'a: 1')?.ok, false);
  });

  it('a configuration file in YAML may look like JSON', async () => {
    assert.deepEqual(await problemsOf('/c.yaml', '{role: main, drain: 5s}'), []);
  });

  it('a configuration file that is empty is refused with what to write', async () => {
    assert.deepEqual(await problemsOf('/c.yaml', ''), [
      '/c.yaml: is empty; write one key per line, such as role: sidecar',
    ]);
  });

  it('a configuration file with an alias bomb is refused, not expanded', async () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [now, before] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg'].map((pair) => [pair[0], pair[1]])) {
      lines.push(`${now}: &${now} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    const [problem] = await problemsOf('/c.yaml', lines.join('\n'));
    assert.match(problem ?? '', /^\/c\.yaml: is not YAML: /);
  });

  it('a configuration file reports all of its mistakes at once', async () => {
    assert.deepEqual(await problemsOf('/c.yaml', 'drain: 5\nrole: 7\ncolour: 80\n'), [
      'colour in /c.yaml: unknown key; see sexton help config',
      'drain: 5 in /c.yaml: a duration needs a unit; write 5s or 5ms',
      'role: 7 in /c.yaml: must be one of main, sidecar',
    ]);
  });

  it('a configuration file counts as far as a flag does', async () => {
    const text =
      'readinessProbe: {tcpSocket: {port: 80}, failureThreshold: 2147483647, successThreshold: 2147483647}\n';
    const { run } = await resolvedWithFile(['--config', '/c.yaml', 'x'], {}, filesOf({ '/c.yaml': text }));
    const byFlag = resolved(['--readiness', 'tcp://:80,failures=2147483647,successes=2147483647', 'x']);
    assert.deepEqual(run.member.probes, byFlag.run.member.probes);
  });

  it('a configuration file may not hold keys of the language itself', async () => {
    assert.deepEqual(await problemsOf('/c.json', '{"__proto__": {"role": "sidecar"}, "constructor": 1}'), [
      '__proto__ in /c.json: unknown key; see sexton help config',
      'constructor in /c.json: unknown key; see sexton help config',
    ]);
  });

  it('that cannot be read says why and what to do', async () => {
    const readText = (): string => {
      throw Object.assign(new Error('denied'), { code: 'EACCES' });
    };
    const [problem = ''] = await problemsWith(['--config', '/c.json', 'x'], {}, { ...filesOf(), readText });
    assert.match(problem, /^--config \/c\.json: cannot be read: permission denied to uid \d+; make it readable$/);
  });
});
