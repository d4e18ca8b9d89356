/**
 * Compiles sexton-init: a static binary without any dependency, or, with `sanitize`, a dynamic one under
 * AddressSanitizer and UndefinedBehaviorSanitizer for the tests. `node src/init/build.ts OUT [x64|arm64]` does the same
 * by hand.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

export interface BuildInitOptions {
  readonly arch?: 'x64' | 'arm64';
  readonly sanitize?: boolean;
  /** How long a supervisor may hang before it is replaced, 10 s by default: for tests, on slow machines. */
  readonly hangMs?: number;
  /** More arguments for the compiler: sources by which a test replaces system calls. */
  readonly instead?: readonly string[];
}

export interface BuiltInit {
  readonly path: string;
  readonly bytes: number;
  readonly compiler: string;
}

/** Throws one error that names the package to install when no compiler is there. */
export function buildInit(outFile: string, options: BuildInitOptions = {}): BuiltInit {
  const arch = options.arch ?? (process.arch === 'arm64' ? 'arm64' : 'x64');
  const compiler = findCompiler(arch, options.sanitize ?? false);
  const hang = options.hangMs === undefined ? [] : [`-DSEXTON_HANG_MS=${options.hangMs}`];
  const flags = [...WARNINGS, ...(options.sanitize ? SANITIZED : STATIC), ...hang];
  const args = [...flags, ...(options.instead ?? []), ...sources('init'), '-o', outFile];
  const { status, stderr, error } = spawnSync(compiler, args, { encoding: 'utf8' });
  if (error) throw new Error(`cannot run ${compiler}: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`cannot compile sexton-init with ${compiler}:\n${stderr}`);
  return { path: outFile, bytes: statSync(outFile).size, compiler };
}

export const WARNINGS = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-Wconversion', '-Wshadow', '-Wformat=2'];

/** The files that a program is made of: init, or the fuzz target of its frame decoder. */
export function sources(program: 'init' | 'fuzz'): string[] {
  return FILES[program].map((name) => join(import.meta.dirname, name));
}

const FILES = {
  init: (
    'init entry reap supervisor deferred sleep directory watchdog ignore commit connection alone signals grace reflex prepared-end strays children ' +
    'terminal helpers program processes queue liveness system oom start dropin node exec refuse frame encode ../informants/sockets'
  )
    .split(' ')
    .map(withC),
  fuzz: ['fuzz', 'frame', 'encode', 'system'].map(withC),
};

function withC(name: string): string {
  return `${name}.c`;
}

const STATIC = [
  '-Os',
  '-static',
  '-no-pie',
  '-s',
  '-ffunction-sections',
  '-fdata-sections',
  '-fno-asynchronous-unwind-tables',
  // Signals are blocked by the first instruction, before the C library has started.
  '-DSEXTON_ENTRY',
  '-Wl,--gc-sections,--build-id=none,-z,noseparate-code,-e,sexton_entry',
];

const SANITIZED = ['-O1', '-g', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

function findCompiler(arch: 'x64' | 'arm64', sanitize: boolean): string {
  const native = arch === (process.arch === 'arm64' ? 'arm64' : 'x64');
  const cross = arch === 'arm64' ? 'aarch64-linux-gnu-gcc' : 'x86_64-linux-gnu-gcc';
  const wanted = !native ? [cross] : sanitize ? ['cc', 'gcc', 'clang'] : ['musl-gcc', 'cc', 'gcc', 'clang'];
  const found = wanted.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (found) return found;
  const remedy = native ? 'musl-tools (or gcc)' : `gcc-${cross.replace(/-gcc$/, '').replace('_', '-')}`;
  throw new Error(`cannot compile sexton-init for ${arch}: no ${wanted.join(' or ')} is there; install ${remedy}`);
}

if (import.meta.main) {
  const [outFile, arch] = process.argv.slice(2);
  if (!outFile || (arch !== undefined && arch !== 'x64' && arch !== 'arm64')) {
    process.stderr.write('usage: node src/init/build.ts OUT [x64|arm64]\n');
    process.exitCode = 2;
  } else {
    const built = buildInit(outFile, arch === undefined ? {} : { arch });
    process.stdout.write(`${built.path}: ${built.bytes} bytes, ${built.compiler}\n`);
  }
}
