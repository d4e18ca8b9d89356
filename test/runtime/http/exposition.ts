/**
 * A strict reader of the text exposition format 0.0.4 of Prometheus. Like `promtool check metrics`, it refuses a sample
 * without HELP and TYPE before it and a counter without `_total`. It also refuses scattered samples of one metric, and
 * a label or sample that comes twice.
 */
import assert from 'node:assert/strict';

export interface Family {
  readonly type: string;
  readonly help: string;
  /** By labels as they are written, in order. */
  readonly samples: Readonly<Record<string, number>>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const VALUE = '[+-]?(?:[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|Inf)|NaN';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (${VALUE})$`);

export function readExposition(text: string): Readonly<Record<string, Family>> {
  assert.ok(text.endsWith('\n'), 'the last line has no end');
  const families: Record<string, { type: string; help: string; samples: Record<string, number> }> = {};
  let help: readonly string[] | undefined;
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment?.[1] === 'HELP') {
      help = [comment[2] ?? '', comment[3] ?? ''];
    } else if (comment !== null) {
      current = comment[2] ?? '';
      const type = comment[3] ?? '';
      assert.equal(help?.[0], current, `TYPE of ${current} without its HELP before it`);
      assert.ok(!(current in families), `${current} twice`);
      assert.ok(['counter', 'gauge'].includes(type), line);
      assert.equal(current.endsWith('_total'), type === 'counter', `${current} is a ${type}`);
      families[current] = { type, help: help?.[1] ?? '', samples: {} };
    } else {
      const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      assert.equal(name, current, `no sample of ${current}: ${line}`);
      const samples: Record<string, number> = families[current]?.samples ?? {};
      const names = labels.match(/[a-zA-Z_][a-zA-Z0-9_]*(?==")/g) ?? [];
      assert.equal(new Set(names).size, names.length, line);
      assert.ok(!(labels in samples), `a second sample: ${line}`);
      samples[labels] = Number(value);
      assert.ok(!Number.isNaN(samples[labels]), line);
    }
  }
  for (const [name, { samples }] of Object.entries(families)) assert.notDeepEqual(samples, {}, `${name} has no sample`);
  return families;
}
