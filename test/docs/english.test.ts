import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commentsOf, findingsIn, heldFiles, titlesOf } from './english.ts';

describe('plain English', () => {
  it('every file is in plain English', () => {
    assert.deepEqual(
      heldFiles().flatMap((file) => findingsIn(file).map((it) => `${file}: ${it}`)),
      [],
    );
  });

  it('a sentence begins with no retired word and has no retired noun', () => {
    assert.deepEqual(findingsIn('src/a.ts', '// It waits. Who waits, so\n'), ['begins with Who: Who waits, so']);
    assert.deepEqual(findingsIn('docs/a.md', 'All\n\n* Of one\n\n```\nWho\n```\n'), ['begins with Of: * Of one']);
    assert.deepEqual(findingsIn('docs/a.md', '| As of now | the one who waits |\n'), ['begins with As of: As of now']);
    assert.equal(findingsIn('src/a.c', 'int vigil; /* The vigil of `vigil`. */\n').length, 1);
    assert.deepEqual(findingsIn('src/a.c', '/* It rises when a file is made. */ char *a = "// a vigil";\n'), []);
  });

  it('a page has no metaphor but tombstone and graveyard', () => {
    assert.equal(findingsIn('docs/a.md', 'It carves a tombstone. `cannot carve`\n```log\ncarved\n```\n').length, 1);
  });

  it('a sentence of a comment has at most 25 words, and a title at most 90 characters', () => {
    const words = (count: number) => `It ${'is '.repeat(count - 2)}so.`;
    assert.deepEqual(findingsIn('src/a.h', `// ${words(25)} ${words(25)}\n`), []);
    assert.equal(findingsIn('src/a.h', `/**\n * ${words(26).replace('is is', 'is\n * is')}\n */\n`).length, 1);
    assert.deepEqual(findingsIn('test/a.ts', `it('${'x'.repeat(90)}', f);`), []);
    assert.equal(findingsIn('test/a.ts', `it.skip("${'x'.repeat(91)}", f);`).length, 1);
  });

  it('comments and titles are found, whatever registers the tests', () => {
    const comments = `const a = '// none'; const b = \`/* \${\`none\`} */\`; const c = /[/*]\\/\\//; // one\n  // goes on\n`;
    assert.deepEqual(commentsOf(`${comments}\n/**\n * two\n * | a |\n * three\n */`), ['one goes on', 'two', 'three']);
    const own = `function own(title: string) {\n  it(title, f);\n}\nown(\`P04 \${a} b\`, f); no('no', f); run.test('no');`;
    const shared = `import { eachBuild } from './x.ts';\neachBuild(\n  'that', f);`;
    assert.deepEqual(titlesOf(`${own}\n${shared}`), ['P04 x b', 'that']);
  });
});
