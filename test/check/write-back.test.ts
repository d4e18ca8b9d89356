import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { replaceText } from '../../src/check/write-back.ts';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { examples } from './rules.ts';

const BAD = examples('SX101').bad;

describe('the files of --fix', () => {
  it('a file keeps its text where --fix cannot write all of the repaired one', () => {
    const dir = temporaryDirectory();
    const text = `${BAD}${'# a line of a long comment\n'.repeat(400)}`;
    writeFileSync(join(dir, 'a.yaml'), text);
    // setrlimit(2): a write beyond the limit is cut, and the next one fails.
    const { status, stderr } = spawnSync('sh', ['-c', 'ulimit -f 8; exec "$0" check --fix a.yaml', SEXTON], {
      cwd: dir,
      encoding: 'utf8',
    });
    assert.equal(status, 125, stderr);
    assert.match(stderr, /--fix: cannot write a\.yaml: file too large/);
    assert.equal(readFileSync(join(dir, 'a.yaml'), 'utf8'), text);
    assert.deepEqual(readdirSync(dir), ['a.yaml']);
  });

  it('--fix leaves a file alone that has changed since it was read', () => {
    const dir = temporaryDirectory();
    const file = join(dir, 'a.yaml');
    writeFileSync(file, 'theirs');
    assert.throws(() => replaceText(file, 'read', 'ours'), /it has changed meanwhile; run it again/);
    assert.equal(readFileSync(file, 'utf8'), 'theirs');
    assert.deepEqual(readdirSync(dir), ['a.yaml']);
  });

  it('--fix keeps the mode of a file and the links that lead to it', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'a.yaml'), BAD);
    chmodSync(join(dir, 'a.yaml'), 0o640);
    symlinkSync('a.yaml', join(dir, 'link.yaml'));
    const { status } = spawnSync(SEXTON, ['check', '--fix', 'link.yaml'], { cwd: dir });
    assert.equal(status, 0);
    assert.ok(lstatSync(join(dir, 'link.yaml')).isSymbolicLink());
    assert.equal(statSync(join(dir, 'a.yaml')).mode & 0o777, 0o640);
    assert.notEqual(readFileSync(join(dir, 'a.yaml'), 'utf8'), BAD);
    assert.deepEqual(readdirSync(dir).sort(), ['a.yaml', 'link.yaml']);
  });
});
