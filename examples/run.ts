/**
 * `npm run example -- NAME [ARGUMENTS]`: runs an example on the Node that `npm ci` has brought, whatever the machine's own is.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';

const HERE = import.meta.dirname;
const [name = '', ...args] = process.argv.slice(2);
const programs = globSync('*/{run,demo}.ts', { cwd: HERE }).sort();
const program = programs.find((path) => dirname(path) === name);
if (program === undefined) {
  const there = programs.map(dirname).join(', ');
  process.stderr.write(`example: ${name === '' ? 'none is named' : `no such example: ${name}`}; there are ${there}\n`);
  process.exit(2);
}
const { status, signal } = spawnSync(process.execPath, [join(HERE, program), ...args], { stdio: 'inherit' });
process.exit(status ?? (signal === 'SIGINT' ? 130 : 1));
