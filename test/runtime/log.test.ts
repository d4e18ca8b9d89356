import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { Log } from '../../src/runtime/log/log.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import '../helpers/seeded.ts';

const SETTINGS = { level: 'debug', format: 'json', member: 'web "1"' } as const;
const TIME = '2026-01-02T03:04:05.678Z';

/** Runs `script` with a `log`, and `loaded()`, which waits until pino has written what was said. */
function play(script: string, settings: object = SETTINGS, input = ''): { lines: readonly string[]; status: number } {
  const prelude = `
    import { createRequire } from 'node:module';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { Log } from ${JSON.stringify(join(ROOT, 'src/runtime/log/log.ts'))};
    const hasPino = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.endsWith('/pino.js'));
    const log = new Log(${JSON.stringify(settings)});
    const loaded = async () => { while (!hasPino() || log.isWriting) await sleep(5); };`;
  const { stderr, status } = spawnSync(NODE, ['--input-type=module', '--eval', prelude + script], {
    input,
    encoding: 'utf8',
  });
  return { lines: stderr.split('\n').slice(0, -1), status: status ?? -1 };
}

function messagesOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { message: string }).message] : []));
}

for (const [what, open] of [
  ['is open', 'log.open();'],
  ['is never opened', ''],
])
  test(`lines from before pino is loaded come first and in order if the log ${what}`, () => {
    const { lines } = play(`
      log.say('info', 'one');
      ${open}
      log.say('warn', 'two');
      await loaded();
      log.say('error', 'three');
      await log.flush(5_000);`);
    assert.deepEqual(messagesOf(lines), ['one', 'two', 'three']);
  });

test('a log whose pino is gone writes its lines without it', () => {
  const { lines, status } = play(`
    const { registerHooks } = await import('node:module');
    registerHooks({ resolve: (name, context, next) => next(name === 'pino' ? './gone' : name, context) });
    log.say('info', 'one');
    log.open();
    while (log.isWriting) await sleep(5);
    log.say('info', 'two');
    process.exitCode = hasPino() ? 1 : 0;`);
  assert.deepEqual([messagesOf(lines), status], [['one', 'two'], 0]);
});

test('a log that has nothing to show does not load pino, and a flush does not wait for it', () => {
  const { lines, status } = play(
    `
    log.open();
    log.say('info', 'not shown');
    await sleep(300);
    process.exitCode = hasPino() ? 1 : 0;
    log.say('warn', 'shown at once');
    await log.flush(5_000);`,
    { ...SETTINGS, level: 'warn' },
  );
  assert.deepEqual([messagesOf(lines), status], [['shown at once'], 0]);
});

for (const [what, end, expected] of [
  ['by an exception', `throw new Error('broken')`, 1],
  ['by process.exit', 'process.exit(7)', 7],
] as const)
  test(`a process that ends ${what} before pino is loaded has written every line`, () => {
    const { lines, status } = play(`for (const words of ['one', 'two']) log.say('info', words); log.open(); ${end};`);
    assert.equal(status, expected);
    assert.deepEqual(messagesOf(lines), ['one', 'two']);
  });

for (const format of ['json', 'text'] as const)
  test(`pino writes byte for byte what the log writes without it: ${format}`, () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme' }));
    const value = fc.oneof(text, fc.jsonValue(), fc.array(text));
    const key = fc.string({ unit: 'grapheme-ascii' }).filter((name) => !TAKEN.test(name));
    const sample = fc.record({ message: text, details: fc.dictionary(key, value) });
    const samples = [
      { message: 'half \ud800 of a pair', details: { low: '\udc00', long: `${'x'.repeat(200)}\ud800` } },
      ...fc.sample(sample, 1_000),
    ];
    const settings = { ...SETTINGS, format };
    const log = new Log(settings);
    const expected = samples.map(({ message, details }) => log.lineOf('info', message, details, TIME).slice(0, -1));
    const script = `
      import { text } from 'node:stream/consumers';
      Date.prototype.toISOString = () => ${JSON.stringify(TIME)};
      log.say('info', 'first');
      log.open();
      await loaded();
      for (const { message, details } of JSON.parse(await text(process.stdin))) {
        log.say('info', message, details);
        await log.flush(5_000);
      }`;
    const { lines } = play(script, settings, JSON.stringify(samples));
    assert.equal(lines.length, 1 + samples.length);
    for (const [index, line] of expected.entries()) assert.equal(lines[index + 1], line);
  });

test('the beginning of a line for init goes on as the log would write it', () => {
  const settings = { level: 'error', member: 'web' } as const;
  const text = new Log({ ...settings, format: 'text' });
  assert.equal(`${TIME.slice(11)}${text.openLine('error', 'dead')}\n`, text.lineOf('error', 'dead', {}, TIME));
  const json = new Log({ ...settings, format: 'json' });
  const line = JSON.parse(`${json.openLine('error', 'dead')},"time":"${TIME}"}`);
  assert.deepEqual(line, JSON.parse(json.lineOf('error', 'dead', {}, TIME)));
  assert.equal(json.openLine('info', 'dead'), '', 'it is not shown');
});

/** No detail of sexton has the name of a key of every line, or one that JSON.stringify moves or calls. */
const TAKEN = /^(?:level|member|time|message|err|__proto__|toJSON|[0-9]+)$/;
