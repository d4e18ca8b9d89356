/** What `sexton explain` says about watching the graveyard, which depends on the kernel of this machine. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from '../helpers/outcome.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const SWITCH = '/proc/sys/fs/dir-notify-enable';
const WITH = 'init watches the graveyard by dnotify, without an inotify instance';
const without = (why: string): string =>
  `init watches the graveyard by one of the inotify instances of its uid, as this kernel has no dnotify (${why})`;

/** The notes of `sexton explain`, in a mount namespace that `prepare` has changed. */
async function notes(flags: readonly string[], prepare?: string): Promise<readonly string[]> {
  const sexton = [NODE, join(ROOT, 'src/cli/main.ts'), 'explain', ...flags, '--', 'nginx'];
  const around = prepare === undefined ? [] : ['unshare', '--mount', 'sh', '-ec', `${prepare}; exec "$@"`, 'sh'];
  const { stdout, stderr, code } = await run([...around, ...sexton], {});
  assert.equal(code, 0, stderr);
  return stdout.split('\n').flatMap((line) => /^note: (.*)$/.exec(line)?.[1] ?? []);
}

describe('sexton explain, of a graveyard', () => {
  it('sexton explain says how the graveyard is watched on this machine', async (t) => {
    const { graveyard } = await tempGraveyard(t);
    const isOn = existsSync(SWITCH) && readFileSync(SWITCH, 'utf8').trim() !== '0';
    const told = await notes(['--graveyard', graveyard]);
    if (isOn) assert.deepEqual(told, [WITH]);
    else assert.match(told.join(), /has no dnotify|^$/);
    // A graveyard that does not exist yet is on the file system of its parent.
    assert.deepEqual(await notes(['--graveyard', join(graveyard, 'new')]), told);
    assert.deepEqual(await notes(['--graveyard', graveyard, '--http', ':8080']), [
      'the supervisor does not sleep: it is needed for --http',
      ...told,
    ]);
  });

  it('sexton explain says how the graveyard is watched where the kernel has no dnotify', async (t) => {
    if (spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status !== 0)
      return t.skip('needs the right to mount');
    const { graveyard } = await tempGraveyard(t);
    const off = join(graveyard, 'switch');
    const flags = ['--graveyard', graveyard];
    assert.deepEqual(await notes(flags, `echo 0 > ${off}; mount --bind ${off} ${SWITCH}`), [
      without('fs.dir-notify-enable is 0'),
    ]);
    assert.deepEqual(await notes(flags, 'mount -t tmpfs tmpfs /proc/sys/fs'), [
      without('fs.dir-notify-enable is missing'),
    ]);
    // sexton cannot see this switch, so it says nothing about it.
    assert.deepEqual(await notes(flags, 'mount -t tmpfs tmpfs /proc/sys'), []);
  });

  it('sexton explain notes a file system that another kernel may change', async () => {
    assert.deepEqual(await notes(['--graveyard', '/proc/sys']), [
      'the supervisor does not sleep, and takes an inotify instance: the graveyard is on a file system that another kernel may change, such as NFS, 9p or FUSE',
    ]);
  });

  it('sexton explain says nothing of watching where there is no graveyard', async () => {
    assert.deepEqual(await notes([]), []);
    assert.deepEqual(await notes(['--drain', '5s']), []);
  });
});
