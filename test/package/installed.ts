/** The npm package as a user gets it: packed once per state of the sources, and installed in an empty folder. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/paths.ts';

/** The Nodes that the package is for, and the last major before. */
export const MAJORS = ['22', '24', '26'] as const;
export const TOO_OLD = '20';

const CACHE = join(ROOT, 'dist', '.cache');
const INPUTS = ['src/**/*.{ts,c,h,json}', 'package.json', 'README.md', 'CHANGELOG.md'];

export interface Package {
  /** The laid directory. */
  readonly directory: string;
  readonly tarball: string;
  /** What the command that packs it said. */
  readonly said: string;
}

export function packed(): Package {
  const place = made(join(CACHE, 'npm', digestOfInputs()), (directory) => {
    const pack = [join(ROOT, 'src/delivery/package.ts'), ...arches(), '--out', join(directory, 'npm')];
    writeFileSync(join(directory, 'said'), execFileSync(process.execPath, pack));
  });
  const [tarball = ''] = readdirSync(place).filter((name) => name.endsWith('.tgz'));
  const said = readFileSync(join(place, 'said'), 'utf8');
  return { directory: join(place, 'npm'), tarball: join(place, tarball), said };
}

/** Installs it in a folder that is empty but for what the test has put there. */
export function installInto(folder: string): void {
  npm(folder, ['install', packed().tarball]);
}

export function npm(folder: string, args: readonly string[]): void {
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
}

/** npm tries a request again, but gives up on a response that breaks off. */
function fetched(folder: string, name: string): void {
  const args = ['install', '--no-save', '--ignore-scripts', '--prefix', folder, '--fetch-retries=5', name];
  try {
    npm(folder, args);
  } catch {
    npm(folder, args);
  }
}

/** The directory of a `node` of that major; fetched from the registry when it is wanted for the first time. */
export function nodeDirectory(major: string): string {
  const name = `node-linux-${process.arch}`;
  const locked = join(ROOT, 'node_modules', name);
  if (versionIn(locked).startsWith(`${major}.`)) return join(locked, 'bin');
  const place = made(join(CACHE, `node-${process.arch}-${major}`), (to) => fetched(to, `${name}@${major}`));
  return join(place, 'node_modules', name, 'bin');
}

export function environmentOn(major: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${nodeDirectory(major)}:${process.env.PATH}` };
}

/** Test files run at the same time: each makes it under a name of its own and renames. */
function made(place: string, make: (directory: string) => void): string {
  if (existsSync(place)) return place;
  const temporary = `${place}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    make(temporary);
    renameSync(temporary, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return place;
}

function versionIn(directory: string): string {
  const path = join(directory, 'package.json');
  if (!existsSync(path)) return '';
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** Without a cross compiler the package can only be made for this machine; the release is made with both. */
function arches(): string[] {
  const cross = process.arch === 'x64' ? 'aarch64-linux-gnu-gcc' : 'x86_64-linux-gnu-gcc';
  return spawnSync(cross, ['--version']).status === 0 ? [] : ['--arch', process.arch];
}

function digestOfInputs(): string {
  const hash = createHash('sha256').update(arches().join());
  for (const path of globSync(INPUTS, { cwd: ROOT }).sort()) hash.update(path).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex').slice(0, 16);
}
