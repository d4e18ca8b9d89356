import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { applied } from '../../src/check/edits.ts';
import { diffOf } from '../../src/check/fix.ts';
import { makeSource } from '../../src/check/input/source.ts';
import { fixedText } from './rules.ts';
import { deployment, podJson } from './workloads.ts';

describe('--fix', () => {
  it('--fix keeps JSON as JSON', async () => {
    const lifecycle = { stopSignal: 'SIGQUIT', preStop: { exec: { command: ['sleep', '40'] } } };
    for (const indent of [undefined, 2, '\t']) {
      const after = JSON.parse(await fixedText(podJson({ lifecycle }, {}, indent)));
      assert.equal(after.spec.terminationGracePeriodSeconds, 70);
      assert.deepEqual(after.spec.os, { name: 'linux' });
      assert.deepEqual(after.spec.containers[0].lifecycle.preStop, { sleep: { seconds: 40 } });
    }
  });

  it('a key that --fix inserts stands above the comments of the first key, which stay with it', async () => {
    const lifecycle = '{stopSignal: SIGTERM, preStop: {sleep: {seconds: 40}}}';
    const web = `- name: web\n  image: nginx\n  command: [nginx]\n  lifecycle: ${lifecycle}\n`;
    const noted = '      # sexton-ignore SX202: clients retry\n\n      # one is enough\n      containers:';
    for (const end of ['\n', '\r\n']) {
      const text = deployment(web).replace('      containers:', noted).replaceAll('\n', end);
      const after = await fixedText(text);
      const added = '      terminationGracePeriodSeconds: 70\n      os: {name: linux}\n'.replaceAll('\n', end);
      assert.equal(after, text.replace('      # sexton-ignore', `${added}$&`));
    }
  });

  it('the second of two edits that overlap waits for the next pass', () => {
    const source = makeSource('a', 'abc');
    const edits = [
      { source, start: 0, end: 2, text: 'x' },
      { source, start: 1, end: 3, text: 'y' },
    ];
    assert.equal(applied('abc', edits), 'xc');
  });

  it('git applies the patch of a text that does not end in a newline', () => {
    const dir = mkdtempSync(join(tmpdir(), 'sexton-diff-'));
    try {
      for (const [text, from] of [
        ['a: 1\nb: 2', 'a: 1'],
        ['a: 1\nb: 2', 'b: 2'],
      ] as const) {
        const source = makeSource('x.yaml', text);
        const start = text.indexOf(from);
        const edits = [{ source, start, end: start + from.length, text: `${from}3` }];
        const fixed = applied(text, edits);
        writeFileSync(join(dir, 'x.yaml'), text);
        writeFileSync(join(dir, 'patch'), diffOf({ source, edits, text: fixed }));
        execFileSync('git', ['apply', 'patch'], { cwd: dir });
        assert.equal(readFileSync(join(dir, 'x.yaml'), 'utf8'), fixed);
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('--diff prints hunks with three lines of context and their line numbers', () => {
    const text = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('');
    const source = makeSource('a', text);
    const at = (line: number): number => source.lines[line - 1] ?? 0;
    const edits = [
      { source, start: at(2), end: at(2), text: 'new\n' },
      { source, start: at(15), end: at(16), text: 'LINE 15\n' },
    ];
    const diff = diffOf({ source, edits, text: applied(text, edits) });
    assert.match(diff, /^--- a\/a\n\+\+\+ b\/a\n@@ -1,4 \+1,5 @@\n line 1\n\+new\n line 2\n line 3/);
    assert.match(diff, /@@ -12,7 \+13,7 @@\n line 12\n line 13\n line 14\n-line 15\n\+LINE 15\n line 16/);
  });
});
