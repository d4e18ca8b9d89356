import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { within } from '../helpers/wait.ts';
import { FileLimit } from './limit.ts';

test('a test file that something keeps alive is ended, and told with what does', async (t) => {
  const said: string[] = [];
  const limit = new FileLimit(2_000, (text) => void said.push(text));
  t.after(() => limit.close());
  const file = join(temporaryDirectory(), 'endless.test.ts');
  writeFileSync(file, 'setInterval(() => {}, 1_000);');
  const child = spawn(process.execPath, [...limit.execArgv, file], { stdio: 'ignore' });
  const [, signal] = await within('the end of the file', once(child, 'exit'));
  // The first signal ends a node that has not installed its handler yet.
  assert.match(String(signal), /^SIG(KILL|STKFLT)$/);
  assert.match(said[0] ?? '', /endless\.test\.ts has not ended in 2 s and is killed/);
  if (signal === 'SIGKILL') assert.match(said[0] ?? '', /"type":"timer"/);
});
