/**
 * Floods a graveyard with what is none of the pod's: empty and huge files, FIFOs, links, garbage and half-written
 * tombstones. Whole tombstones of another session have times before and after ours, as a clock that jumped leaves them.
 *
 * None bears the name of a member of the pod.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What begins so, with or without a dot before it, was put there by `flood`. */
export const FOREIGN = 'zz';
const HUGE_BYTES = 1 << 30;

export function flood(graveyard: string, count: number): number {
  let made = 0;
  const attempt = (make: () => void): void => {
    try {
      make();
      made += 1;
    } catch {
      // Full, read-only, or taken away meanwhile: then it is less of a flood.
    }
  };
  const at = (name: string): string => join(graveyard, `${FOREIGN}${name}`);
  for (let n = 0; n < count; n += 1) attempt(() => closeSync(openSync(at(`-${n}`), 'w')));
  for (let n = 0; n < 20; n += 1) attempt(() => writeFileSync(at(`half-${n}`), stale(`zzhalf-${n}`).slice(0, n * 12)));
  for (const [n, year] of ['1970', '1999', '2038', '2099'].entries())
    attempt(() => writeFileSync(at(`stale-${n}`), stale(`zzstale-${n}`, year)));
  attempt(() => writeFileSync(at('noise'), Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 7) % 256))));
  for (const [n, target] of ['/etc/passwd', '/dev/zero', 'zzlink-2', '..', '/proc/self/environ'].entries())
    attempt(() => symlinkSync(target, at(`link-${n}`)));
  attempt(() => execFileSync('mkfifo', [at('fifo'), join(graveyard, `.${FOREIGN}.sock`)], { stdio: 'ignore' }));
  attempt(() => mkdirSync(at('dir')));
  attempt(() => writeFileSync(Buffer.concat([Buffer.from(`${graveyard}/${FOREIGN}`), Buffer.from([0xff, 0x0a])]), 'x'));
  attempt(() => {
    const file = openSync(at('huge'), 'w');
    ftruncateSync(file, HUGE_BYTES);
    closeSync(file);
  });
  return made;
}

function stale(name: string, year = '2001'): string {
  return JSON.stringify({
    Version: 1,
    Name: name,
    Role: 'main',
    Session: 'another',
    Phase: 'dead',
    Born: `${year}-01-01T00:00:00.000000000Z`,
    Died: `${year}-01-01T00:00:01.000000000Z`,
    ExitCode: 0,
    Reason: 'completed',
    Final: true,
  });
}
