import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/commands/commands.ts';
import { manualPage } from '../../src/cli/commands/help/help.ts';
import { FLAGS, KEYS, variableOf } from '../../src/config/flags.ts';

const hasMan = spawnSync('man', ['--version']).status === 0;

describe('the manual page', () => {
  const page = manualPage();

  it('the manual page has every subcommand, every flag and every variable', () => {
    const text = page.replaceAll('\\-', '-');
    for (const name of COMMAND_NAMES) {
      assert.ok(text.includes(`\n.SS ${name}\n`), name);
      for (const { name: flag } of COMMANDS[name].flags) assert.match(text, new RegExp(`^\\.B --${flag}\\b`, 'm'));
    }
    for (const key of KEYS) {
      const { name, takes } = FLAGS[key];
      assert.ok(text.includes(`\n.B --${name} ${takes}\n`), name);
      assert.ok(text.includes(`Environment: ${variableOf(name)}.`), name);
    }
  });

  const skip = !hasMan && 'man is not installed';

  it('the manual page is rendered by man without a warning', { skip }, () => {
    const { status, stdout, stderr } = render(page);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^EXIT STATUS$/m);
    assert.match(stdout, /^ +--drain /m);
  });

  it('a manual page with a request that does not exist brings a warning', { skip }, () => {
    assert.match(render(`${page}.nosuch\n`).stderr, /nosuch/);
  });
});

function render(page: string) {
  return spawnSync('man', ['--warnings', '-l', '-'], {
    encoding: 'utf8',
    input: page,
    env: { ...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8' },
  });
}
