import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTable } from '../../src/text/table.ts';

describe('a table', () => {
  it('aligns its columns and has no blanks at the ends of lines', () => {
    assert.equal(
      formatTable(
        ['A', 'LONG'],
        [
          ['xyz', '1'],
          ['x', ''],
        ],
        80,
      ),
      'A    LONG\nxyz  1\nx\n',
    );
  });

  it('loses the end of its widest cells until it fits', () => {
    const text = formatTable(['NAME', 'WHY'], [['a'.repeat(40), 'b'.repeat(20)]], 40);
    assert.equal(text.split('\n')[1], `${'a'.repeat(18)}~  ${'b'.repeat(18)}~`);
  });

  it('replaces control characters, which may move the cursor', () => {
    assert.equal(formatTable(['A'], [['x\x1b[2Jy\n']], 80), 'A\nx?[2Jy?\n');
  });
});
