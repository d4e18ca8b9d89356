import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { subcommandOf } from '../../src/cli/commands/subcommand.ts';
import { isRun } from '../../src/config/subcommand.ts';

describe('the command line', () => {
  const MEANT: Readonly<Record<string, string>> = {
    '': 'run',
    run: 'run',
    'run status': 'run',
    '-- status': 'run',
    '--drain 5s x': 'run',
    '-g x': 'run',
    '-': 'run',
    status: 'status',
    'explain x': 'explain',
    schema: 'schema',
    version: 'version',
    '--version': 'version',
    '-V': 'version',
    'run --version': 'version',
    help: 'help',
    '--help': 'help',
    '-h': 'help',
    'run -h': 'help',
    'status --help': 'help',
    'stop --grace 5s web -h': 'help',
    'help --help': 'help',
    'explain --help': 'help',
    'explain -- ls --help': 'explain',
    'run ls --help': 'run',
  };
  for (const [line, name] of Object.entries(MEANT)) {
    it(`\`sexton ${line}\` means ${name}`, () => {
      const argv = line.split(' ').filter(Boolean);
      assert.equal(isRun(argv) ? 'run' : subcommandOf(argv).name, name);
    });
  }
});
