/**
 * `node test/init/fuzz.ts [SECONDS] [NAME...]` fuzzes all parsers, or those named, in 60 s by default. Those in C run
 * under clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer; those in TypeScript get texts that
 * fast-check has damaged. For each it prints the inputs per minute and the line coverage of the parser. It exits 1 on a
 * crash, whose input it leaves in dist/.cache/init or prints, or 2 if it could not run at all.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMON, sources } from '../../src/init/build.ts';
import { ROOT } from '../helpers/paths.ts';
import { TARGETS, type Target } from './fuzz/seeds.ts';
import { TEXTS } from './fuzz/texts.ts';

const CRASHES = join(ROOT, 'dist/.cache/init');
const INSTRUMENTED = [
  ...['-O1', '-g', '-fsanitize=fuzzer,address,undefined', '-fno-sanitize-recover=all'],
  ...['-fprofile-instr-generate', '-fcoverage-mapping'],
];

interface Found {
  readonly executions: number;
  readonly covered: number;
  readonly lines: number;
}

const [limit = '60', ...named] = process.argv.slice(2);
const known = [...TARGETS.map(({ name }) => name), ...TEXTS];
const chosen = known.filter((name) => named.length === 0 || named.includes(name));
if (!/^[1-9]\d*$/.test(limit) || named.some((name) => !known.includes(name))) {
  process.stderr.write(`usage: node test/init/fuzz.ts [SECONDS] [NAME...]; NAME is one of ${known.join(', ')}\n`);
  process.exitCode = 2;
} else if (['clang', 'llvm-cov', 'llvm-profdata'].some((tool) => spawnSync(tool, ['--help']).status !== 0)) {
  process.stderr.write('cannot fuzz: clang, llvm-cov or llvm-profdata is not there; install clang and llvm\n');
  process.exitCode = 2;
} else {
  process.exitCode = await fuzz(Number(limit)).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    return 2;
  });
}

async function fuzz(all: number): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'sexton-fuzz-'));
  const seconds = Math.max(1, Math.floor((all * availableParallelism()) / chosen.length));
  const waiting = [...chosen];
  let crashes = 0;
  try {
    mkdirSync(CRASHES, { recursive: true });
    await Promise.all(
      Array.from({ length: availableParallelism() }, async () => {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
          const target = TARGETS.find((it) => it.name === name);
          const found = await (target ? fuzzC(target, dir, seconds) : fuzzText(name, seconds));
          if (found === undefined) crashes++;
          process.stdout.write(`${name.padEnd(12)} ${found ? figures(found, seconds) : 'CRASH'}\n`);
        }
      }),
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  process.stdout.write(`${crashes} crashes in ${chosen.length} parsers, ${seconds} s each\n`);
  return crashes === 0 ? 0 : 1;
}

function figures({ executions, covered, lines }: Found, seconds: number): string {
  const rate = Math.round((executions / seconds) * 60);
  return `${String(rate).padStart(9)} a minute, ${covered} of ${lines} lines (${Math.floor((100 * covered) / lines)}%)`;
}

async function fuzzC(target: Target, root: string, seconds: number): Promise<Found | undefined> {
  const { name, seeds, words, parsers } = target;
  const dir = join(root, name);
  const corpus = join(dir, 'corpus');
  const dictionary = join(dir, 'words');
  const profile = join(dir, 'raw');
  mkdirSync(corpus, { recursive: true });
  for (const [index, seed] of seeds.entries()) writeFileSync(join(corpus, String(index)), seed);
  const whole = new Set(words.filter((word) => /^[\x21-\x7e]+$/.test(word) && !/["\\]/.test(word)));
  writeFileSync(dictionary, [...whole].map((word) => `"${word}\\x00"\n`).join(''));
  const program = await build(target, dir);
  const { code, output } = await outputOf(
    program,
    [
      ...[`-max_total_time=${seconds}`, '-print_final_stats=1', '-close_fd_mask=1'],
      ...(whole.size > 0 ? [`-dict=${dictionary}`] : []),
      ...[`-artifact_prefix=${CRASHES}/${name}-`, corpus],
    ],
    { ...process.env, LLVM_PROFILE_FILE: profile },
  );
  const executions = /number_of_executed_units: (\d+)/.exec(output)?.[1];
  if (code !== 0 || executions === undefined) {
    process.stderr.write(output.slice(-20_000));
    return undefined;
  }
  const merged = join(dir, 'merged');
  execFileSync('llvm-profdata', ['merge', profile, '-o', merged]);
  const files = parsers.map((path) => join(ROOT, 'src', path));
  const args = ['export', '-summary-only', `-instr-profile=${merged}`, program, ...files];
  const { data } = JSON.parse(execFileSync('llvm-cov', args, { encoding: 'utf8' })) as {
    data: readonly { totals: { lines: { count: number; covered: number } } }[];
  };
  const lines = data[0]?.totals.lines;
  return { executions: Number(executions), covered: lines?.covered ?? 0, lines: lines?.count ?? 0 };
}

/** The path of the program. Nothing may block here: the fuzzers that run would wait for their pipes to be read. */
async function build({ name, sources: linked, wrapped = [] }: Target, dir: string): Promise<string> {
  const program = join(dir, 'target');
  // libFuzzer has the `main`.
  const parts = linked?.map((path) => join(ROOT, 'src', path)) ?? ['-Dmain=init_main', ...sources()];
  const wraps = wrapped.map((one) => `-Wl,--wrap=${one}`);
  const target = join(ROOT, 'test/init/fuzz', `${name}.c`);
  const args = [...COMMON, ...INSTRUMENTED, target, ...parts, ...wraps, '-o', program];
  const { code, output } = await outputOf('clang', args, process.env);
  if (code !== 0) throw new Error(`cannot compile ${target}:\n${output}`);
  return program;
}

async function fuzzText(name: string, seconds: number): Promise<Found | undefined> {
  const script = join(ROOT, 'test/init/fuzz/texts.ts');
  const { code, output } = await outputOf(process.execPath, [script, name, String(seconds * 1000)], process.env);
  // Node's warnings stand beside it.
  const found = output.split('\n').find((line) => line.startsWith('{"executions"'));
  if (code === 0 && found !== undefined) return JSON.parse(found) as Found;
  process.stderr.write(output.slice(-20_000));
  return undefined;
}

function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}
