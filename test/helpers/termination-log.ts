import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import type { Evidence } from '../../src/core/format/evidence.ts';
import type { Stage } from './scenario.ts';

/** Why such a test cannot run in podman. */
export const NO_MOUNTS = 'a directory of devices is mounted by hand';

/** For `inside` of a container: a /dev with this file as the termination log in it, in its own mount namespace. */
export function withTerminationLog({ scratch }: Stage, file: string): readonly string[] {
  const dev = scratch.path('dev');
  mkdirSync(dev, { recursive: true });
  chmodSync(file, 0o666);
  const steps = [
    `mount -t tmpfs none ${dev}`,
    `for it in null zero full random urandom tty; do touch ${dev}/$it && mount --bind /dev/$it ${dev}/$it; done`,
    `touch ${dev}/termination-log`,
    `mount --bind ${file} ${dev}/termination-log`,
    `mount --rbind ${dev} /dev`,
    'exec "$@"',
  ];
  return ['sh', '-c', steps.join(' && '), 'sh'];
}

export function readEvidence(path: string): Evidence {
  const text = readFileSync(path, 'utf8');
  assert.ok(Buffer.byteLength(text) <= 4096 && text.startsWith('{"Summary":"') && text.endsWith('}\n'), text);
  return JSON.parse(text) as Evidence;
}
