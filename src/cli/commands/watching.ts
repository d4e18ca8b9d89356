/**
 * How the kernel reports changes in a graveyard on this machine. src/init/supervisor/directory.c and
 * src/runtime/graveyard/file-events.ts read the reports.
 */
import { existsSync, readFileSync } from 'node:fs';
import { whyWithoutInit } from '../../runtime/host/without-init.ts';
import { isLocalFile } from '../../runtime/local-volume.ts';
import { ANOTHER_KERNEL } from '../../runtime/sleep/why-awake.ts';

/** undefined: there is no graveyard or no init, or it cannot be seen. */
export async function watchingNote(graveyard: string | undefined): Promise<string | undefined> {
  if (graveyard === undefined || whyWithoutInit() !== undefined) return undefined;
  if (!(await isLocalFile(graveyard)))
    return `the supervisor does not sleep, and takes an inotify instance: ${ANOTHER_KERNEL}`;
  const lack = lackOfDnotify();
  if (lack === undefined) return undefined;
  if (lack === 'none') return 'init watches the graveyard by dnotify, without an inotify instance';
  return `init watches the graveyard by one of the inotify instances of its uid, as this kernel has no dnotify (fs.dir-notify-enable is ${lack})`;
}

/** undefined: /proc does not tell. A kernel that is built without dnotify does not have its switch. */
function lackOfDnotify(): 'none' | '0' | 'missing' | undefined {
  try {
    return readFileSync(`${SWITCHES}/dir-notify-enable`, 'utf8').trim() === '0' ? '0' : 'none';
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(SWITCHES);
    return isMissing ? 'missing' : undefined;
  }
}

const SWITCHES = '/proc/sys/fs';
