/** Reload without inotify: a user namespace has its own limits, and may set them to 0. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../helpers/temporary.ts';
import { within } from '../../helpers/wait.ts';
import { Helper } from '../graveyard/volume.ts';
import { Volume } from './watching.ts';

const RELOAD = join(import.meta.dirname, '../../../src/runtime/reload/reload.ts');
const LIMITS = { instances: 'max_inotify_instances', watches: 'max_inotify_watches' };

for (const [what, limit] of Object.entries(LIMITS)) {
  const prefix = ['unshare', '-Ur', 'sh', '-c', `echo 0 > /proc/sys/user/${limit} && exec "$@"`, 'sh'];
  const skip = canRun(prefix) ? false : 'needs user namespaces';
  test(`without inotify ${what} the watch reports that once, and sees changes by polling`, { skip }, async (t) => {
    const dir = temporaryDirectory();
    const path = join(dir, 'app.conf');
    writeFileSync(path, 'one');
    const volume = new Volume(join(dir, 'volume'), { token: 'one' });
    const marker = join(dir, 'marker');
    writeFileSync(marker, '0');
    const helper = new Helper(t, watcher([path, volume.dir, marker]), { prefix });
    const trouble =
      /^trouble cannot watch .*\/[^/]+: .*; changes of .* are seen late, raise fs\.inotify\.max_user_(instances|watches)$/;
    const next = (): Promise<string> => within('a line of the watch', helper.line());
    for (const _ of [path, volume.dir, marker]) assert.match(await next(), trouble);
    assert.equal(await next(), 'ready');
    writeFileSync(join(dir, 'new'), 'two');
    renameSync(join(dir, 'new'), path);
    assert.equal(await next(), 'changed 0');
    volume.update({ token: 'two' });
    assert.equal(await next(), 'changed 1');
  });
}

/** Says `ready` when a change of the last one was seen by looking without an event: then all were looked at. */
function watcher(paths: readonly string[]): string {
  const reloads = paths.map((path) => ({ path, signal: 1, validate: undefined }));
  return `
    import { writeFileSync } from 'node:fs';
    import { ReloadWatch } from ${JSON.stringify(RELOAD)};
    const reloads = ${JSON.stringify(reloads)};
    const say = (line: string): void => console.log(line);
    let marks = 0;
    const poke = setInterval(() => writeFileSync(${JSON.stringify(paths.at(-1))}, 'mark ' + marks++), 1_000);
    new ReloadWatch({
      mayTell: () => true,
      reloads,
      pollMs: 100,
      onContent: (index, digest, isChange) => {
        if (!isChange) return;
        if (index !== reloads.length - 1) return say('changed ' + index);
        clearInterval(poke);
        say('ready');
      },
      onTrouble: (message) => say('trouble ' + message),
    }).start();
    process.stdin.resume();`;
}

function canRun(prefix: readonly string[]): boolean {
  try {
    const [file = '', ...args] = prefix;
    execFileSync(file, [...args, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
