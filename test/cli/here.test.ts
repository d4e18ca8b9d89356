import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findHere, type Process, readHere } from '../../src/cli/commands/here.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const SH: Process = { argv: ['/bin/sh'], env: {} };

function pid1(flags: readonly string[], env: Readonly<Record<string, string>> | undefined = {}): Process {
  return { argv: ['/sexton/sexton', 'run', ...flags, '--', '/bin/web'], env };
}

describe('the graveyard that is meant inside a container', () => {
  it('the graveyard is that of PID 1: its flag, its variable, its file, kubexit’s variable', async () => {
    const flag = await findHere('status', undefined, {}, pid1(['--graveyard', '/a'], { SEXTON_GRAVEYARD: '/b' }));
    assert.deepEqual(flag, { dir: '/a', source: '--graveyard of PID 1', member: 'web' });
    const env = { SEXTON_GRAVEYARD: '/b' };
    const variable = await findHere('status', undefined, env, pid1([], env));
    assert.deepEqual(variable, { dir: '/b', source: 'SEXTON_GRAVEYARD of PID 1', member: 'web' });
    const file = join(temporaryDirectory(), 'sexton.json');
    writeFileSync(file, '{"graveyard": "/c", "name": "other"}');
    const { dir, member } = await findHere('status', undefined, {}, pid1(['--config', file]));
    assert.deepEqual([dir, member], ['/c', 'other']);
    assert.equal((await findHere('status', undefined, {}, pid1([], { KUBEXIT_GRAVEYARD: '/d' }))).dir, '/d');
  });

  it('the graveyard is what the caller says, by a flag before a variable of this call', async () => {
    const env = { SEXTON_GRAVEYARD: '/mine' };
    const other = pid1(['--graveyard', '/a'], { SEXTON_GRAVEYARD: '/b' });
    assert.equal((await findHere('status', '/f', env, other)).dir, '/f');
    assert.deepEqual(await findHere('status', undefined, env, other), {
      dir: '/mine',
      source: 'SEXTON_GRAVEYARD',
      member: 'web',
    });
  });

  it('the graveyard is that of the variables, or the default, where PID 1 is something else', async () => {
    assert.equal((await findHere('status', undefined, { SEXTON_GRAVEYARD: '/v/' }, SH)).dir, '/v');
    assert.equal((await findHere('status', undefined, {}, SH)).dir, '/graveyard');
  });

  it('the graveyard comes from the command line of PID 1 where its variables cannot be read', async () => {
    const { dir } = await findHere('status', undefined, {}, { ...pid1(['--graveyard', '/a']), env: undefined });
    assert.equal(dir, '/a');
    const env = { SEXTON_GRAVEYARD: '/b' };
    assert.equal((await findHere('status', undefined, env, { ...pid1([]), env: undefined })).dir, '/b');
  });

  it('the variable of this call beats PID 1’s flag, also where PID 1’s variables cannot be read', async () => {
    const other = { ...pid1(['--graveyard', '/a']), env: undefined };
    assert.equal((await findHere('stop', undefined, { SEXTON_GRAVEYARD: '/b' }, other)).dir, '/b');
  });

  it('there is no graveyard where PID 1 has none, and the command says so', async () => {
    await assert.rejects(findHere('stop', undefined, {}, { argv: ['sexton', '--', 'x'], env: {} }), {
      message:
        'cannot run sexton stop: PID 1 of this container runs without a graveyard; name the shared directory with --graveyard DIR',
    });
  });

  it('a wrong graveyard is named as the flag, variable or file that gave it', async () => {
    await assert.rejects(findHere('status', undefined, { SEXTON_GRAVEYARD: 'rel' }, SH), {
      message:
        'cannot run sexton status: SEXTON_GRAVEYARD=rel: must be an absolute path; write one such as /graveyard, or $PWD/rel in a shell',
    });
    const here = await findHere('status', undefined, { SEXTON_GRAVEYARD: '/not/there' }, SH);
    await assert.rejects(readHere(here), {
      message:
        'cannot read the graveyard /not/there (SEXTON_GRAVEYARD): no such directory; name the shared directory with --graveyard DIR',
    });
  });
});
