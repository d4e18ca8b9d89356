/** docs/reference.md and docs/sidecars.md have what the tables in the code have, and nothing else. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { COMMAND_NAMES } from '../../src/cli/commands/commands.ts';
import { EXIT_CODES, OTHER_VARIABLES, TOPIC_NAMES } from '../../src/cli/commands/help/help.ts';
import { defaultTextOf, FLAGS, KEYS } from '../../src/config/flags.ts';
import { SIDECARS } from '../../src/config/notation/sidecars.ts';
import { PHASES, TOMBSTONE_KEYS } from '../../src/core/format/tombstone.ts';
import { textOf } from './pages.ts';

const PAGE = textOf('docs/reference.md');

describe('docs/reference.md', () => {
  it('docs/reference.md has every subcommand and every help topic', () => {
    const named = rowsOf('Subcommands').flatMap(([first = '']) =>
      [...first.matchAll(/`sexton ([a-z]+)/g)].map(([, name]) => name),
    );
    assert.deepEqual([...new Set(named)].sort(), [...COMMAND_NAMES].sort());
    const topics = rowsOf('Subcommands').find(([first]) => first?.includes('help'))?.[1] ?? '';
    assert.deepEqual(
      [...topics.matchAll(/`([a-z-]+)`/g)].map(([, topic]) => topic),
      TOPIC_NAMES,
    );
  });

  it('docs/reference.md has every flag of run with its value and its default, and no other', () => {
    const known = KEYS.map((key) => [`--${FLAGS[key].name} ${FLAGS[key].takes}`, defaultTextOf(key)]);
    const shown = rowsOf('Flags of `sexton run`').map(([flag = '', standard]) => [flag.replaceAll('`', ''), standard]);
    assert.deepEqual(shown, [...known, ['--config FILE', 'none']]);
  });

  it('docs/reference.md has every variable that is no twin of a flag', () => {
    const shown = rowsOf('Environment').map(([first]) => first);
    const named = [...OTHER_VARIABLES.matchAll(/\b[A-Z]+_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
    assert.deepEqual(
      named.filter((name) => !shown.join().includes(`\`${name}\``)),
      [],
    );
  });

  it('docs/reference.md has every exit code', () => {
    const known = [...EXIT_CODES.matchAll(/^(\d+(?:\+n)?|the command's own)/gm)].map(([, code]) => code);
    const shown = rowsOf('Exit codes').map(([code = '']) => code.replaceAll(' + ', '+'));
    assert.deepEqual(shown.sort(), known.sort());
  });

  it('docs/reference.md has every key of a tombstone in the order of the file, and every phase', () => {
    const keys = rowsOf('The tombstone').flatMap(([first = '']) =>
      [...first.matchAll(/`(\w+)`/g)].map(([, key]) => key),
    );
    assert.deepEqual([...keys].sort(), [...TOMBSTONE_KEYS].sort());
    const phases = rowsOf('The tombstone').find(([first]) => first === '`Phase`')?.[1] ?? '';
    assert.deepEqual(
      [...phases.matchAll(/`(\w+)`/g)].map(([, phase]) => phase),
      PHASES,
    );
  });
});

test('docs/sidecars.md has every known sidecar with the ports and paths that sexton calls', () => {
  const rows = textOf('docs/sidecars.md').matchAll(/^\| `([a-z-]+)`(?: \(v2\))? \| (.*?) \| (.*?) \|/gm);
  const known = Object.entries(SIDECARS).map(([name, { quit, ready }]) => {
    const paths = quit.paths.map((path) => `\`:${quit.port}${path}\``).join(', ');
    return [name, paths, `\`:${ready.port}${ready.path}\``];
  });
  assert.deepEqual(
    [...rows].map(([, ...cells]) => cells),
    known,
  );
});

function rowsOf(heading: string): string[][] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [body = ''] = section.split('\n## ');
  const rows = body.split('\n').filter((line) => line.startsWith('|'));
  assert.ok(rows.length > 2, `no table below ${heading}`);
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}
