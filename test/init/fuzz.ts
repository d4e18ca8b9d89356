/**
 * `node test/init/fuzz.ts [SECONDS]` builds the fuzz target of the frame decoder with clang's libFuzzer,
 * AddressSanitizer and UndefinedBehaviorSanitizer. It runs that for 60 s by default, from a corpus of valid commits,
 * and prints how many inputs were executed. It exits 1 on a crash, whose input it leaves in dist/.cache/init, or 2 if
 * it could not run at all.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMON } from '../../src/init/build.ts';
import { encodeFrame } from '../../src/runtime/host/frames.ts';
import { ROOT } from '../helpers/paths.ts';

const SOURCES = ['test/init/fuzz.c', ...['frame', 'encode', 'system'].map((name) => `src/init/system/${name}.c`)].map(
  (path) => join(ROOT, path),
);
const OPERATIONS = [
  ['ack', '7'],
  ['memo', '{"phase":"running"}'],
  ['memo', ''],
  ['spawn', '3', '2', '0'],
  ['spawn', '4', '0', '3', 'sh', '-c', 'exit 3'],
  ['kill', '1', '15'],
  ['forward', '1', '2', '1', '10', '34', '64'],
  ['forward-once', '1', '1', '15', '3'],
  ['fallback', '2', '15', '2', '0', '5000', '30000', '0'],
  ['fallback', '0', '9', '0', '0', '1234567'],
  ['kill-at', '1234567'],
  ['leave-at', '1234567'],
  ['due', '0'],
  ['exec', '1', '4096', '3', 'sh', '-c', 'true'],
  ['end-helper', '1'],
  ['sweep', '15'],
  ['first-only', '1'],
  ['parent-death', '9'],
  ['tell-reaped'],
  ['notify', '1', '30000'],
  ['watchdog', '1', '0'],
  ['prepared-ends', '1', '15', '5000', '11', '/web', '/log', '0', 's', '0', '255', '1', '256', '\u00010', 'a', 'b'],
  ['asleep-at', '/graveyard/web'],
  ['prepared-ends', '1', '15', '0', '0'],
  ['end-with', '1', '1', '0', '1', '15', '2', '0123456789abcdef'.repeat(2), '/graveyard/.web.sock'],
  ['listen', '/graveyard/.web.sock'],
  ['watch', '1', '0', '0', '/graveyard', 'web'],
  ['watch', '7', '2', '1', '/graveyard', 'web', 'job', 'proxy', '/graveyard/.main.sock'],
  ['sleep'],
  ['exit', '143'],
];
const SANITIZERS = '-fsanitize=fuzzer,address,undefined';

const seconds = Number(process.argv[2] ?? '60');
if (!Number.isInteger(seconds) || seconds < 1) {
  process.stderr.write('usage: node test/init/fuzz.ts [SECONDS]\n');
  process.exitCode = 2;
} else if (spawnSync('clang', ['--version']).status !== 0) {
  process.stderr.write('cannot fuzz the frame decoder: clang is not there; install clang\n');
  process.exitCode = 2;
} else {
  process.exitCode = await fuzz(seconds);
}

async function fuzz(limit: number): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'sexton-fuzz-'));
  const crashes = join(ROOT, 'dist/.cache/init');
  try {
    mkdirSync(crashes, { recursive: true });
    const target = join(dir, 'fuzz');
    const built = spawnSync(
      'clang',
      [...COMMON, '-O1', '-g', SANITIZERS, '-fno-sanitize-recover=all', ...SOURCES, '-o', target],
      { stdio: 'inherit' },
    );
    if (built.status !== 0) return 2;
    const corpus = join(dir, 'corpus');
    mkdirSync(corpus);
    const words = join(dir, 'words');
    writeFileSync(
      words,
      [...vocabulary()]
        .filter((word) => /^[a-z0-9-]+$/.test(word))
        .map((word) => `"${word}\\x00"\n`)
        .join(''),
    );
    for (const [index, seed] of seeds().entries()) writeFileSync(join(corpus, String(index)), seed);
    return await run(target, [
      `-max_total_time=${limit}`,
      '-print_final_stats=1',
      `-dict=${words}`,
      `-artifact_prefix=${crashes}/`,
      corpus,
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function run(target: string, args: readonly string[]): Promise<number> {
  const child = spawn(target, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output = (output + chunk).slice(-20_000);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const executions = /number_of_executed_units: (\d+)/.exec(output)?.[1];
      process.stdout.write(
        `${executions ?? 'an unknown number of'} executions, ${code === 0 ? 'no crash' : 'CRASH'}\n`,
      );
      if (code !== 0) process.stderr.write(output);
      resolve(code === 0 ? 0 : 1);
    });
  });
}

/** Whole fields, which chance would find late. */
function vocabulary(): ReadonlySet<string> {
  return new Set(['commit', ...OPERATIONS.flat(), '65', '9007199254740992']);
}

/** Bounds (last event, words), then a commit with each operation, alone and together. */
function seeds(): Buffer[] {
  const commits = [[], ...OPERATIONS, OPERATIONS.flat()];
  return commits.map((fields) => Buffer.from([9, 5, ...encodeFrame(['commit', ...fields]).subarray(4)]));
}
