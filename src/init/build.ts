/**
 * Compiles sexton-init: a static binary without any dependency, or, with `sanitize`, a dynamic one under
 * AddressSanitizer and UndefinedBehaviorSanitizer for the tests. `node src/init/build.ts OUT [x64|arm64]` does the same
 * by hand.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
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
  const flags = [...COMMON, ...(options.sanitize ? SANITIZED : STATIC), ...hang];
  const files = [...(options.instead ?? []), ...sources()];
  const linked = options.sanitize ? files : staticPie(compiler, files);
  const args = [...flags, ...linked, '-o', outFile];
  const { status, stderr, error } = spawnSync(compiler, args, { encoding: 'utf8' });
  if (error) throw new Error(`cannot run ${compiler}: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`cannot compile sexton-init with ${compiler}:\n${stderr}`);
  return { path: outFile, bytes: statSync(outFile).size, compiler };
}

/** The rooms of init, from the ground up. A file includes the headers of every room by their names alone. */
export const ROOMS = ['system', 'start', 'children', 'supervisor', 'orders', 'main'].map((room) => {
  return join(import.meta.dirname, room);
});

export const COMMON = [
  '-std=c11',
  '-D_GNU_SOURCE=',
  ...['-Wall', '-Wextra', '-Werror', '-Wconversion', '-Wshadow', '-Wformat=2'],
  ...ROOMS.map((room) => `-I${room}`),
];

/** All that init is compiled from. */
export function sources(): string[] {
  return [...ROOMS, join(import.meta.dirname, '../informants')].flatMap((room) => {
    const names = readdirSync(room).filter((name) => name.endsWith('.c'));
    return names.sort().map((name) => join(room, name));
  });
}

const STATIC = [
  '-Os',
  '-fPIE',
  '-fstack-protector-strong',
  '-s',
  '-ffunction-sections',
  '-fdata-sections',
  '-fno-asynchronous-unwind-tables',
  // A page less.
  '-fno-jump-tables',
  // Signals are blocked by the first instruction, before the C library has started.
  '-DSEXTON_ENTRY',
  '-Wl,--gc-sections,--build-id=none,-z,noseparate-code,-e,sexton_entry',
  // Else the linker may leave a gap of up to a page in the file to save a page of zeros in memory.
  '-Wl,-z,common-page-size=64',
];

/** The specs of musl-gcc know no static PIE: they take the start files of a dynamic one. musl applies no RELRO. */
function staticPie(compiler: string, files: readonly string[]): readonly string[] {
  if (compiler !== 'musl-gcc') return ['-static-pie', ...files];
  const options = ['-nostartfiles', '-Wl,-static,-pie,--no-dynamic-linker,-z,text,-z,norelro'];
  return [...options, '-l:rcrt1.o', '-l:crti.o', ...files, '-l:crtn.o'];
}

const SANITIZED = ['-O1', '-g', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

/** The compiler for another architecture, and Debian's packages of it. */
const CROSS = {
  x64: ['x86_64-linux-gnu-gcc', 'gcc-x86-64-linux-gnu libc6-dev-amd64-cross'],
  arm64: ['aarch64-linux-gnu-gcc', 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross'],
} as const;

function findCompiler(arch: 'x64' | 'arm64', sanitize: boolean): string {
  const native = arch === (process.arch === 'arm64' ? 'arm64' : 'x64');
  const [cross, packages] = CROSS[arch];
  const wanted = !native ? [cross] : sanitize ? ['cc', 'gcc', 'clang'] : ['musl-gcc', 'cc', 'gcc', 'clang'];
  const found = wanted.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (found) return found;
  const remedy = native ? 'musl-tools (or gcc)' : `${packages}, or write -- --arch ${process.arch}`;
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
