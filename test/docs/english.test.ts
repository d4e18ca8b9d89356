/**
 * Comments, test titles and pages are plain English, as far as patterns can tell: see `english.ts`.
 *
 * Files that still have findings are listed in `english.pending`, which `node test/docs/english.ts --pending` writes.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commentsOf, findingsIn, heldFiles, pendingFiles, titlesOf } from './english.ts';

describe('plain English', () => {
  it('is what every file has that is not listed as pending', () => {
    const pending = new Set(pendingFiles());
    const held = heldFiles().filter((file) => !pending.has(file));
    assert.deepEqual(
      held.flatMap((file) => findingsIn(file).map((finding) => `${file}: ${finding}`)),
      [],
    );
  });

  it('is missing in every file that is listed as pending', () => {
    const held = heldFiles();
    const mended = pendingFiles().filter((file) => !held.includes(file) || findingsIn(file).length === 0);
    assert.deepEqual(mended, [], 'run node test/docs/english.ts --pending');
  });

  it('has no sentence that begins with a retired word', () => {
    assert.deepEqual(findingsIn('src/a.ts', '// It waits. Who waits, waits.\n'), ['begins with Who: Who waits, waits.']);
    assert.deepEqual(findingsIn('docs/a.md', 'All\n\n* Of these, one.\n\n```\nWho\n```\n'), ['begins with Of: * Of these, one.']);
    assert.deepEqual(findingsIn('docs/a.md', '| As of now | the one who waits |\n'), ['begins with As of: As of now']);
  });

  it('has no retired noun', () => {
    assert.equal(findingsIn('src/a.c', 'int vigil; /* The vigil of `vigil`. */\n').length, 1);
    assert.deepEqual(findingsIn('src/a.c', '/* It rises when a file is made. */ char *a = "// a vigil";\n'), []);
  });

  it('has comments of at most 25 words a sentence and titles of at most 90 characters', () => {
    const words = (count: number) => `It ${'is '.repeat(count - 2)}so.`;
    assert.deepEqual(findingsIn('src/a.h', `// ${words(25)} ${words(25)}\n`), []);
    assert.equal(findingsIn('src/a.h', `/**\n * ${words(26).replace('is is', 'is\n * is')}\n */\n`).length, 1);
    assert.deepEqual(findingsIn('test/a.ts', `it('${'x'.repeat(90)}', f);`), []);
    assert.equal(findingsIn('test/a.ts', `it.skip("${'x'.repeat(91)}", f);`).length, 1);
  });

  it('is read from comments and titles, whatever registers the tests', () => {
    const source = [
      "const a = '// none'; const b = `/* ${`none`} */`; const c = /[/*]\\/\\//; // one",
      '// goes on\n',
      '/**\n * two\n *\n * three\n */',
      "function own(title: string) {\n  it(title, f);\n}\nown(`P04 ${a} b`, f);\nother('no', f); run.test('no');",
      "import { eachBuild } from './x.ts';\neachBuild(\n  'that', f);",
    ].join('\n');
    assert.deepEqual(commentsOf(source), ['one goes on', 'two', 'three']);
    assert.deepEqual(titlesOf(source), ['P04 x b', 'that']);
  });
});
