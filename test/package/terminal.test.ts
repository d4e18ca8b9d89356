/** `npx sexton run -- node server.js` at a terminal, in a folder that has nothing but the package. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { childrenOf, programOf, stateOf } from '../helpers/process.ts';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';
import { waitFor, waitForFile } from '../helpers/wait.ts';
import { environmentOn, installInto, MAJORS } from './installed.ts';

const CTRL_C = '\x03';

/** What a person does: the shell, the command, and after it something that needs the terminal as it was. */
const SESSION = `
  stty -g > before
  npx sexton run -- node server.js "$PWD/events"
  echo $? > status
  stty -g > after
  read -r line
  echo "$line" > line
`;

describe('the package at a terminal', () => {
  for (const major of MAJORS) {
    test(`P05 P14 on Node ${major} a Ctrl-C arrives once and nothing stays behind`, async (t) => {
      const { folder, type } = atTerminal(t, major, await tempGraveyard(t));
      const events = (): string => readFileSync(join(folder, 'events'), 'latin1');
      await waitFor('the server listens', () => existsSync(join(folder, 'events')) && /^listening/m.test(events()));
      const [, parent] = /^listening (\d+)$/m.exec(events()) ?? [];
      const init = Number(parent);
      assert.equal(programOf(init), join(folder, `node_modules/sexton/lib/sexton-linux-${process.arch}`));
      const [, orphan] = /^orphan (\d+)$/m.exec(events()) ?? [];
      await waitFor('the orphan is reaped', () => stateOf(Number(orphan)) === undefined);
      assert.ok(childrenOf(init).every((pid) => stateOf(pid) !== 'Z'));
      type(CTRL_C);
      await waitForFile(join(folder, 'after'));
      type('still here\n');
      await waitFor('the session goes on', () => read(folder, 'line') !== '');
      assert.equal(read(folder, 'line'), 'still here');
      assert.equal(read(folder, 'status'), '7');
      assert.equal(read(folder, 'after'), read(folder, 'before'));
      assert.deepEqual(events().match(/^SIG\w+$/gm), ['SIGINT']);
      assert.equal(stateOf(init), undefined);
    });
  }
});

function atTerminal(t: TestContext, major: string, scratch: Scratch) {
  const folder = scratch.path('folder');
  mkdirSync(folder);
  installInto(folder);
  copyFileSync(join(import.meta.dirname, 'server.cjs'), join(folder, 'server.js'));
  writeFileSync(join(folder, 'session'), SESSION);
  const args = ['--quiet', '--return', '--command', 'exec sh session', '/dev/null'];
  const session = spawn('script', args, { cwd: folder, env: environmentOn(major), stdio: ['pipe', 'pipe', 'inherit'] });
  session.stdout.resume();
  t.after(() => session.kill('SIGKILL'));
  return { folder, type: (text: string) => session.stdin.write(text) };
}

function read(folder: string, name: string): string {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'latin1').trim() : '';
}
