import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/commands/commands.ts';
import { FLAGS, KEYS } from '../../src/config/flags.ts';
import { NODE, ROOT } from '../helpers/paths.ts';

function scriptFor(shell: string): string {
  const { stdout, stderr, status } = spawnSync(NODE, ['src/cli/main.ts', 'completion', shell], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.deepEqual([stderr, status], ['', 0]);
  return stdout;
}

function run(shell: string, args: readonly string[], input = ''): string {
  const { stdout, stderr, status } = spawnSync(shell, args, { input, encoding: 'utf8' });
  assert.deepEqual([stderr, status], ['', 0], stdout);
  return stdout;
}

function lacks(shell: string): string | false {
  return spawnSync(shell, ['--version']).error === undefined
    ? false
    : `${shell} is not installed (apt-get install ${shell})`;
}

/** What bash offers for a line of these words, whose last one is being typed. */
function offeredByBash(script: string, words: readonly string[]): readonly string[] {
  const line = words.map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sexton; printf '%s\n' "${'$'}{COMPREPLY[@]}"`;
  return run('bash', ['--norc', '-u'], `${script}\n${ask}\n`).split('\n').filter(Boolean);
}

describe('sexton completion (E5)', () => {
  it('the completion for bash offers subcommands, the flags of each and the values of a flag', () => {
    const script = scriptFor('bash');
    assert.deepEqual(offeredByBash(script, ['sexton', '']), COMMAND_NAMES);
    assert.deepEqual(offeredByBash(script, ['sexton', 'st']), ['status', 'stop']);
    for (const name of COMMAND_NAMES) {
      const offered = offeredByBash(script, ['sexton', name, '--']);
      for (const flag of COMMANDS[name].flags) assert.ok(offered.includes(`--${flag.name}`), `${name} ${flag.name}`);
    }
    const ofRun = offeredByBash(script, ['sexton', '--drain', '5s', '--']);
    for (const key of KEYS) assert.ok(ofRun.includes(`--${FLAGS[key].name}`), key);
    assert.deepEqual(offeredByBash(script, ['sexton', 'run', '--role', '']), ['main', 'sidecar']);
    assert.deepEqual(offeredByBash(script, ['sexton', 'run', '--role', '=', 's']), ['sidecar']);
    assert.deepEqual(offeredByBash(script, ['sexton', 'status', '--output', 'j']), ['json']);
    assert.deepEqual(offeredByBash(script, ['sexton', 'completion', 'z']), ['zsh']);
  });

  it('the completion for bash leaves the command and what follows it to the shell', () => {
    const script = scriptFor('bash');
    assert.deepEqual(offeredByBash(script, ['sexton', 'run', '--role', 'main', '--', 'ls', '--']), []);
    assert.deepEqual(offeredByBash(script, ['sexton', 'run', 'ls', '--']), []);
    assert.deepEqual(offeredByBash(script, ['sexton', 'run', '--graveyard', '']), []);
  });

  it('zsh loads the completion and binds it to sexton', { skip: lacks('zsh') }, () => {
    const ask = "autoload -U compinit; compinit -u -D; source /dev/fd/3 3<<'END'\n";
    const out = run('zsh', ['-f'], `${ask}${scriptFor('zsh')}END\nprint -r -- $_comps[sexton]\n`);
    assert.equal(out, '_sexton\n');
  });

  it('the completion for fish offers subcommands, flags and values', { skip: lacks('fish') }, () => {
    const offered = (line: string): readonly string[] =>
      run('fish', ['--no-config', '-c', `${scriptFor('fish')}\ncomplete -C '${line}'\n`])
        .split('\n')
        .map((it) => it.split('\t')[0] ?? '')
        .filter(Boolean);
    assert.deepEqual(offered('sexton st'), ['status', 'stop']);
    assert.ok(offered('sexton stop --').includes('--no-wait'));
    assert.ok(offered('sexton run --').includes('--readyz-on-drain'));
    assert.deepEqual(offered('sexton status --output '), ['json', 'text']);
  });

  it('sexton completion refuses another shell in one line', () => {
    const { stderr, status } = spawnSync(NODE, ['src/cli/main.ts', 'completion', 'tcsh'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const why = 'tcsh: must be one of bash, zsh, fish';
    assert.deepEqual([stderr, status], [`sexton: cannot run sexton completion: ${why}\n`, 125]);
  });
});
