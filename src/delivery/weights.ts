/** Says what the delivered directory weighs and its digest, and with `all` what each file weighs. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export function printWeights(directory: string, digest: string, tookMs: number, all: boolean): void {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(directory, name)).isFile())
    .sort();
  const lines = all ? files.map((name) => weigh(statSync(join(directory, name)).size, name)) : [];
  const total = files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  const seconds = (tookMs / 1000).toFixed(1);
  const whole = weigh(total, `${directory}, laid in ${seconds} s, digest ${digest}`);
  process.stdout.write(`${[...lines, whole].join('\n')}\n`);
}

function weigh(bytes: number, name: string): string {
  return `${(bytes / 1024).toFixed(0).padStart(9)} KiB  ${name}`;
}
