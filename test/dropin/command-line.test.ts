/** C03, C04: command lines, right and wrong. A wrong one starts nothing. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe } from 'node:test';
import { readLine } from '../helpers/line.ts';
import { SEXTON } from '../helpers/paths.ts';
import { chance, SEED } from '../helpers/rounds.ts';
import { scenario } from '../helpers/scenario.ts';
import { launch, ours, type ProgramName, sideBySide } from './peers.ts';

/** The command says that it was started, by this code. */
const RUNS = 42;
const COMMAND = ['sh', '-c', `: > "$SCRATCH/started"; exit ${RUNS}`] as const;

const LINES: Readonly<Record<ProgramName, Readonly<Record<number, readonly (readonly string[])[]>>>> = {
  tini: {
    [RUNS]: [
      [...COMMAND],
      ['--', ...COMMAND],
      ['-s', '-g', '-v', '-w', '--', ...COMMAND],
      ['-sgvvw', ...COMMAND],
      ['-e', '0', '-e255', '-e', ' +3', '-e', '', ...COMMAND],
      ['-p', 'SIGTERM', ...COMMAND],
      ['-spSIGKILL', ...COMMAND],
    ],
    0: [['-h'], ['-l'], ['--version'], ['-vh'], ['-hZ'], ['-e', '3', '-h', ...COMMAND], ['-e', `${RUNS}`, ...COMMAND]],
    1: [
      [],
      ['--'],
      ['-g'],
      ['-g', '--'],
      ['-Z', ...COMMAND],
      ['-Z', '-h'],
      ['-?'],
      ['--help'],
      ['--version', ...COMMAND],
      ['-v', '--version'],
      ['-s', '--single', ...COMMAND],
      ['-e'],
      ...['256', '-1', 'x', '3x', '0x3'].map((code) => ['-e', code, ...COMMAND]),
      ['-p'],
      ...['TERM', '15', 'sigterm', 'SIGRTMIN', 'SIGIO'].map((signal) => ['-p', signal, ...COMMAND]),
    ],
    126: [['/tmp'], ['/etc/passwd']],
    127: [['/does/not/exist'], ['-'], [''], ['--', '--version']],
  },
  'dumb-init': {
    [RUNS]: [
      [...COMMAND],
      ['--', ...COMMAND],
      ['-c', ...COMMAND],
      ['--single-child', '--rewrite', '15:3', '--', ...COMMAND],
      ['--s', '--r=15:3', ...COMMAND],
      ['-cvr', '1:2', '-r15:0', '-r', '31:31', ...COMMAND],
      ['-r', ' +15: 3x', ...COMMAND],
      ['-r', '9:15', '-r', '17:15', ...COMMAND],
    ],
    0: [['-h'], ['--help'], ['-V'], ['--version'], ['--hel'], ['--vers'], ['-ch'], ['-r', '1:2', '-h', 'x']],
    1: [
      [],
      ['--'],
      ['-c'],
      ['-Z', ...COMMAND],
      ['-Z', '-h'],
      ['-?'],
      ['--ver', ...COMMAND],
      ['--v', ...COMMAND],
      ['--single=1', ...COMMAND],
      ['--=3', ...COMMAND],
      ['-r'],
      ['-r', 'x', '-h'],
      ...['', '15', '15:', '0:3', '32:3', '15:32', '15:-1', 'TERM:QUIT', '0x0f:3', '15 :3'].map((it) => [
        ...['-r', it],
        ...COMMAND,
      ]),
    ],
    2: [['/does/not/exist'], ['/tmp'], ['/etc/passwd'], ['-'], ['']],
  },
};

describe('command lines of other programs', { concurrency: 2 }, () => {
  for (const [name, id] of [
    ['tini', 'C04'],
    ['dumb-init', 'C03'],
  ] as const) {
    sideBySide(
      name,
      `${id} each command line of ${name} ends with its code, and a wrong one starts nothing`,
      async (stage, peer) => {
        for (const [code, lines] of Object.entries(LINES[name])) {
          for (const words of lines) {
            const env = { SCRATCH: stage.scratch.path(`${code}-${lines.indexOf(words)}`) };
            const run = launch(stage, peer, words, {
              env,
              launcher: ['sh', '-c', 'mkdir "$SCRATCH"; exec "$@"', 'sh'],
            });
            const shown = JSON.stringify(words);
            assert.deepEqual(await run.end(), { code: Number(code), signal: null }, shown);
            const isStarted = existsSync(`${env.SCRATCH}/started`);
            assert.equal(isStarted, Number(code) === RUNS || words.includes(`${RUNS}`), shown);
            const asksOnly = code === '0' && !isStarted;
            // tini answers on stdout, where it also logs; dumb-init on stderr.
            if (asksOnly || peer.isOurs) assert.equal(run.stdout().length > 0, asksOnly && name === 'tini', shown);
            if (code === '1' || (asksOnly && name === 'dumb-init')) assert.notEqual(run.stderr(), '', shown);
          }
        }
      },
    );

    sideBySide(name, `${id} random command lines of ${name} are read as it reads them`, async (stage, peer) => {
      const random = chance(SEED);
      stage.scratch.describe(() => `seed ${SEED}`);
      const replacement = peer.isOurs ? peer : ours(stage, name);
      for (let round = 0; round < 60; round += 1) {
        const words = [...randomWords(name, random), ...COMMAND];
        const { code } = await launch(stage, peer, words).end();
        const other = peer.isOurs ? undefined : await launch(stage, replacement, words).end();
        const shown = `seed ${SEED}: ${JSON.stringify(words)}`;
        if (other !== undefined) assert.equal(other.code, code, shown);
        // Without a command it answers with 0 or 1, which no command here ends with.
        const starts = readLine(SEXTON, [name, ...words]) !== undefined;
        if (peer.isOurs) assert.equal(starts, code !== 0 && code !== 1, `${shown} gave ${code}`);
      }
    });
  }

  scenario('C04 what tini and dumb-init answer says who is there', async (stage) => {
    for (const [name, word] of [
      ['tini', '-h'],
      ['dumb-init', '--version'],
    ] as const) {
      const run = launch(stage, ours(stage, name), [word]);
      await run.end();
      assert.match(run.stdout().toString() + run.stderr(), new RegExp(`^sexton [0-9.]+ in the place of ${name}\n`));
    }
  });
});

function randomWords(name: ProgramName, random: () => number): string[] {
  const pools: Readonly<Record<ProgramName, string>> = {
    tini: '-s -g -v -w -sg -e 3 -e3 -e999 -e+7 -e0x3 -p SIGTERM -pSIGHUP -pHUP -x -ve -- -h --s',
    'dumb-init': '-c -v -r 15:3 -r1:2 --rewrite --rewrite=2:0 --rewrite=9:+1x --sing --ver -x -- -cr 1:99 -h',
  };
  const pool = pools[name].split(' ');
  return Array.from({ length: Math.floor(random() * 5) }, () => pool[Math.floor(random() * pool.length)] ?? '');
}
