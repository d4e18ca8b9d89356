/**
 * A lease as the API server keeps one: whoever changes it names the version that he has read, and only one who names
 * the latest succeeds. Each version is a file of its own in DIR; link(2) fails when there is one of that number
 * already.
 */
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `holder`: '' when it was released, or never taken. `expires`: when it is free whatever its holder does. */
export function readLease(dir) {
  const versions = readdirSync(dir).filter((name) => /^\d+$/.test(name));
  const version = Math.max(0, ...versions.map(Number));
  if (version === 0) return { version, holder: '', expires: 0 };
  return { version, ...JSON.parse(readFileSync(join(dir, String(version)), 'utf8')) };
}

/** Says whether it is the latest now. */
export function replaceLease(dir, version, { holder, expires }) {
  const next = version + 1;
  const whole = join(dir, `.${next}.${process.pid}`);
  writeFileSync(whole, JSON.stringify({ holder, expires }));
  try {
    linkSync(whole, join(dir, String(next)));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(whole);
  }
}
