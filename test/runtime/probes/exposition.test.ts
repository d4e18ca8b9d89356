/** The text formats of Prometheus, as far as an idle check reads them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Metric } from '../../../src/core/config.ts';
import { Exposition } from '../../../src/runtime/probes/exposition.ts';
import '../../helpers/seeded.ts';

const metric = (name: string, labels: Readonly<Record<string, string>> = {}): Metric => ({
  name,
  labels: Object.entries(labels),
});

/** The sum, or why there is none. `size`: of the pieces in which the text arrives. */
function sumOf(text: string, metrics = [metric('jobs')], size = 7): number | string {
  const exposition = new Exposition(metrics);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) exposition.take(bytes.subarray(at, at + size));
  const { problem, sum } = exposition.end(false);
  return problem ?? sum;
}

const HEAD = '# HELP jobs The jobs.\n# TYPE jobs gauge\n';

describe('a sum of metrics', () => {
  const right: readonly (readonly [title: string, text: string, sum: number, metrics?: readonly Metric[]])[] = [
    ['a sum has all series of a name', `${HEAD}jobs{a="1"} 2\njobs{a="2"} 3\n`, 5],
    ['a sum has all names', 'a 1\nb 2\nab 4\n', 3, [metric('a'), metric('b')]],
    ['a name is not the beginning of another', 'jobs 0\njobs_total 9\njobs:rate 9\n', 0],
    ['labels select', 'jobs{a="x",b="y"} 1\njobs{a="z",b="y"} 2\njobs 4\n', 1, [metric('jobs', { a: 'x' })]],
    [
      'series that are not selected may have any value',
      'jobs{a="x"} 1\njobs{a="y"} NaN\njobs{a="z"} -1\n',
      1,
      [metric('jobs', { a: 'x' })],
    ],
    ['a label that is not there is empty', 'jobs{a="x"} 1\njobs 4\n', 4, [metric('jobs', { a: '' })]],
    [
      'labels may hold what looks like syntax',
      'jobs{a="} 9 # \\"x\\\\\\n,b=",} 2\n',
      2,
      [metric('jobs', { a: '} 9 # "x\\\n,b=' })],
    ],
    [
      'times, exemplars and blanks are skipped',
      ' jobs { a = "1" }\t2 1700000000123\njobs 3 # {trace="x"} 0.5 1.7e9\r\n',
      5,
    ],
    ['numbers may be written in any way', 'jobs 1e2\njobs +.5\njobs 0.\njobs -0\n', 100.5],
    ['OpenMetrics ends with a comment', 'jobs 1.0\n# EOF\n', 1],
    ['lines of others are not read', 'other{ broken\n{"quoted",a="b"} 1\n\u0000\njobs 1\n', 1],
  ];
  for (const [title, text, sum, metrics] of right)
    it(title, () => {
      for (const size of [1, 7, 1_000]) assert.equal(sumOf(text, metrics && [...metrics], size), sum);
    });

  const wrong: readonly (readonly [title: string, text: string, why: RegExp])[] = [
    ['a metric that is not there is no 0', 'other 0\n', /^no metric jobs$/],
    ['NaN is no number of jobs', 'jobs NaN\n', /^malformed answer: jobs NaN/],
    ['an infinity is no number of jobs', 'jobs +Inf\n', /^malformed answer: jobs \+Inf/],
    ['a negative number is no number of jobs', 'jobs 1\njobs{a="b"} -1\n', /^malformed answer: jobs\{a="b"\} -1/],
    ['a sum that is too large is none', 'jobs 1e308\njobs{a="b"} 1e308\n', /^malformed answer: its sum/],
    ['a number that is too small for a double is no 0', 'jobs 1e-999\n', /^malformed answer: jobs 1e-999/],
    ['a line of digits is no number', `jobs ${'1'.repeat(65_000)}x\n`, /^malformed answer: jobs 1111/],
    ['a value that is missing is no 0', 'jobs\n', /^malformed answer: jobs/],
    ['a line that breaks off is not guessed at', 'jobs 1', /^malformed answer: its last line has no end/],
    ['labels that are never closed are malformed', 'jobs{a="b" 0\n', /^malformed answer/],
    ['what follows a value must be a time', 'jobs 0 x\n', /^malformed answer/],
    [
      'a line has 64 KiB at most',
      `# ${'x'.repeat(65_535)}\njobs 0\n`,
      /^malformed answer: one of its lines is too long/,
    ],
  ];
  for (const [title, text, why] of wrong)
    it(title, () => assert.match(String(sumOf(text, [metric('jobs')], 997)), why));

  it('the end of an answer with a length ends its last line', () => {
    const exposition = new Exposition([metric('jobs')]);
    exposition.take(Buffer.from('jobs 4'));
    assert.deepEqual(exposition.end(true), { problem: undefined, sum: 4 });
  });

  it('a missing metric is named with its labels', () => {
    assert.equal(sumOf('jobs{a="b"} 0\n', [metric('jobs', { a: 'x' })]), 'no metric jobs{a=x}');
  });

  it('no text makes it throw, and only zeros make 0', () => {
    const piece = fc.oneof(
      fc.constantFrom('jobs', '{', '}', '"', '\\', 'a="b"', ',', '=', ' ', '\n', '#', '0', '1', '-', 'NaN', '\r', 'e9'),
      fc.string({ maxLength: 4 }),
    );
    const sample = fc.constantFrom('jobs 0\n', 'jobs{a="b"} 0\n', 'jobs 1\n', 'jobs{a="b"} 1\n', 'other 1\n');
    const part = fc.oneof({ arbitrary: piece, weight: 2 }, { arbitrary: sample, weight: 1 });
    const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''));
    let zeros = 0;
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (text, size) => {
        const sum = sumOf(`${text}\n`, [metric('jobs')], size);
        assert.equal(sum, sumOf(`${text}\n`, [metric('jobs')], 1_000));
        if (sum !== 0) return;
        zeros += 1;
        const lines = text.split('\n');
        assert.ok(lines.some((line) => /^[ \t]*jobs.*0/s.test(line)));
        assert.ok(lines.every((line) => !/^jobs(\{a="b"\})? 1$/.test(line)));
      }),
      { numRuns: 2_000 },
    );
    assert.ok(zeros > 20, `${zeros} zeros`);
  });

  it('series that are written come back as their sum', () => {
    const label = fc.string({ maxLength: 6 });
    const series = fc.tuple(fc.constantFrom('jobs', 'other'), label, fc.nat(1_000));
    const escaped = (value: string) => value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
    fc.assert(
      fc.property(fc.array(series), label, (all, wanted) => {
        const lines = all.map(([name, a, value]) => `${name}{a="${escaped(a)}"} ${value} 1700000000\n`);
        const those = all.filter(([name, a]) => name === 'jobs' && a === wanted);
        const expected = those.length === 0 ? 'no metric' : those.reduce((sum, [, , value]) => sum + value, 0);
        const sum = sumOf(lines.join(''), [metric('jobs', { a: wanted })]);
        assert.equal(typeof sum === 'string' ? sum.slice(0, 9) : sum, expected);
      }),
    );
  });
});
