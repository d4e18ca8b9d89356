/** Foreign files for a graveyard: none named like a member, but some like their temporary files and stop requests. */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTombstone, MAX_BYTES } from '../../src/core/format/tombstone.ts';
import { type Chance, mutated } from './tombstones.ts';

export const MEMBERS = ['work', 'proxy'] as const;
const HUGE_BYTES = 1 << 30;
const FORGED = '{"level":"error","member":"work","message":"forged"}';

/** Adds empty files, half of them under names that a member could have. */
export function addForeign(dir: string, count: number): void {
  for (let index = 0; index < count; index++) {
    closeSync(openSync(join(dir, index % 2 === 0 ? `foreign-${index}` : `Foreign_${index}`), 'w'));
  }
}

/** Adds everything but plain files: files that block, lead elsewhere or never end. Devices need root. */
export function addOddities(dir: string): void {
  const at = (name: string): string => join(dir, name);
  for (const [name, target] of [
    ['to-a-file', '/etc/passwd'],
    ['to-a-fifo', 'fifo'],
    ['to-a-directory', '/etc'],
    ['to-nothing', 'nowhere'],
    ['to-itself', 'to-itself'],
    ['there', 'and-back'],
    ['and-back', 'there'],
    ['to-zeros', '/dev/zero'],
    ['to-a-tombstone', 'work'],
    ['.to-a-socket.sock', '.work.sock'],
  ] as const) {
    symlinkSync(target, at(name));
  }
  execFileSync('mkfifo', [at('fifo'), at('.fifo.sock'), at('.piped.sock')]);
  for (const name of ['directory', '.directory.sock', 'work.lock', '...']) mkdirSync(at(name));
  if (process.getuid?.() === 0) execFileSync('mknod', [at('zeros'), 'c', '1', '5']);
  for (const name of ['huge', '.huge.sock']) sparse(at(name));
  writeFileSync(at('secret'), formatTombstone({ Version: 1, Name: 'secret' }));
  chmodSync(at('secret'), 0);
  writeFileSync(at('.plain.sock'), 'a regular file');
}

/** Adds names with every possible byte, of many lengths, and such as forge lines of a log or act on a terminal. */
export function addNames(dir: string): void {
  const raw = (name: Buffer): void => writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), name]), '');
  for (let byte = 1; byte < 256; byte++) if (byte !== 0x2f) raw(Buffer.from([0x78, byte, 0x79]));
  for (const length of [1, 62, 63, 64, 255]) raw(Buffer.alloc(length, 'm'));
  for (const name of ['Work', 'WORK', 'work.tmp', '-work', 'work-', 'w\u00f6rk', '__proto__', 'constructor']) {
    raw(Buffer.from(name));
  }
  raw(Buffer.from(`x\n${FORGED}\n`));
  raw(Buffer.from(`x\x1b[2J\x1b]0;owned\x07\u009b31m\u202e\u2028`));
}

/** Adds tombstones without a member: damaged ones, huge ones, and one that has another member's name in it. */
export function addTombstones(dir: string, chance: Chance, count: number): void {
  for (let index = 0; index < count; index++) writeFileSync(join(dir, `damaged-${index}`), mutated(chance));
  writeFileSync(join(dir, 'forger'), formatTombstone({ Version: 1, Name: 'work', Died: '2026-01-02T03:04:05Z' }));
  writeFileSync(join(dir, 'large'), 'x'.repeat(MAX_BYTES));
  writeFileSync(join(dir, 'zeros-only'), Buffer.alloc(4096));
}

/** Adds files that look like temporary files of the members, and stop requests that mean nothing. */
export function addTraps(dir: string, count: number): void {
  for (const member of MEMBERS) {
    const at = (mark: string, end: string): string => join(dir, `.${member}.${mark.padStart(12, '0')}.${end}`);
    writeFileSync(at('1', 'tmp'), 'left by an earlier life');
    mkdirSync(at('2', 'tmp'));
    symlinkSync('/etc/passwd', at('3', 'tmp'));
    execFileSync('mkfifo', [at('4', 'tmp'), at('d4', 'stop')]);
    mkdirSync(at('d2', 'stop'));
    symlinkSync('/etc/passwd', at('d3', 'stop'));
    sparse(at('d5', 'stop'));
    for (let index = 0; index < count; index++) {
      const isOld = index % 2 === 0;
      const old = {
        Version: 1,
        Boot: 'b',
        Incarnation: 'i',
        By: FORGED,
        At: '2026-01-02T03:04:05Z',
        RequestedMonotonic: 1,
      };
      writeFileSync(at(`a${index}`, 'stop'), isOld ? JSON.stringify(old) : 'nonsense');
    }
  }
}

function sparse(path: string): void {
  const file = openSync(path, 'w');
  ftruncateSync(file, HUGE_BYTES);
  closeSync(file);
}
