/**
 * `node test/init/analyze.ts` lets gcc -fanalyzer, cppcheck, clang-tidy and sparse look for defects in all C that is
 * delivered, and cppcheck in that of the tests, too. It prints what they find, and what it accepts but they no longer find. Then it
 * exits 1. Without one of the tools it exits 2.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { COMMON, ROOMS, sources } from '../../src/init/build.ts';
import { ROOT } from '../helpers/paths.ts';

/** Checks that are not asked. */
const NOT_ASKED = [
  // They ask for memcpy_s and the like, which neither glibc nor musl has.
  'clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling',
  'clang-analyzer-security.insecureAPI.strcpy',
  // Two numbers beside each other are no defect.
  'bugprone-easily-swappable-parameters',
];

/** What is found and no defect: the file, the check, how often, why. */
const ACCEPTED: readonly (readonly [string, string, number, string])[] = [
  ['sockets.c', 'bugprone-reserved-identifier', 1, 'feature_test_macros(7) asks for that name'],
  ['program.c', 'cert-err33-c', 1, 'signal(2) cannot fail for a signal that exists'],
  ['main.c', 'cert-err33-c', 2, 'signal(2) cannot fail for a signal that exists'],
  ['node.c', 'cert-err33-c', 2, 'signal(2) cannot fail for a signal that exists'],
  ['main.c', 'bugprone-narrowing-conversions', 1, 'what is stored is 0 or 1'],
  ['refuse.c', 'bugprone-narrowing-conversions', 1, 'what is stored is a character in both cases'],
  ['exec.c', 'bugprone-not-null-terminated-result', 1, 'the file name that follows ends the string'],
];

/** A finding must not end the analysis. */
const compile = COMMON.filter((flag) => flag !== '-Werror');
const tidy = `-checks=-*,clang-analyzer-*,bugprone-*,cert-*,${NOT_ASKED.map((name) => `-${name}`).join(',')}`;
const cppcheck = [
  '--enable=warning,portability,performance',
  '--quiet',
  '--std=c11',
  '-D_GNU_SOURCE=',
  '--inline-suppr',
];
const TEST_SOURCES = globSync('test/**/*.c', { cwd: ROOT });

const jobs: [string, ...string[]][] = [
  ['cppcheck', ...cppcheck, ...ROOMS.map((room) => `-I${room}`), ...sources(), ...TEST_SOURCES],
  ...sources().flatMap((file): [string, ...string[]][] => [
    [
      'gcc',
      ...compile,
      '-DSEXTON_ENTRY',
      '-Os',
      '-fanalyzer',
      '-fdiagnostics-plain-output',
      '-c',
      file,
      '-o',
      '/dev/null',
    ],
    ['clang-tidy', '--quiet', tidy, file, '--', ...compile, '-DSEXTON_ENTRY'],
    ['sparse', ...compile, '-DSEXTON_ENTRY', file],
  ]),
];

const found: string[] = [];
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) found.push(...findingsIn(await outputOf(job)));
  }),
);

const left = new Map(ACCEPTED.map(([file, check, count]) => [`${file} ${check}`, count]));
const wrong = [...new Set(found)].sort().filter((line) => {
  const key = [...left.keys()].find((it) => matches(line, it) && (left.get(it) ?? 0) > 0);
  if (key !== undefined) left.set(key, (left.get(key) ?? 0) - 1);
  return key === undefined;
});
const unused = [...left].filter(([, count]) => count > 0).map(([key]) => `accepted, but not found any more: ${key}`);
const lines = [...wrong, ...unused, `${wrong.length} findings in ${sources().length} files of C`];
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode ??= wrong.length + unused.length > 0 ? 1 : 0;

function matches(line: string, key: string): boolean {
  const [file = '', check = ''] = key.split(' ');
  return basename(line.split(':')[0] ?? '') === file && line.includes(check);
}

function findingsIn(output: string): string[] {
  return output.split('\n').filter((line) => /^\S+:\d+:\d+: (?:warning|error|portability|performance): /.test(line));
}

/** Both streams: each of the tools writes its findings on another. */
function outputOf([tool, ...args]: readonly [string, ...string[]]): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(tool, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', ({ message }) => {
      process.exitCode = 2;
      resolve(`${tool}:0:0: error: ${message}; install gcc, cppcheck, clang-tidy and sparse`);
    });
    child.on('close', (code, signal) => {
      const output = Buffer.concat(chunks).toString();
      const last = output.trimEnd().split('\n').at(-1);
      resolve(code === 0 ? output : `${output}\n${tool}:0:0: error: it ended with ${code ?? signal}: ${last}`);
    });
  });
}
