/** Against real pipes: with a reader, without one, full, and non-blocking. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { LineWriter } from '../../src/runtime/log/line-writer.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { FAR_MS, waitFor } from '../helpers/wait.ts';

/** What a pipe holds, and what is kept beside it: pipe(7), and the writer's own bound. */
const PIPE_BYTES = 64 * 1024;
const KEPT_BYTES = 256 * 1024;
const LINE = `${'x'.repeat(1_023)}\n`;

interface Pipe {
  readonly writing: number;
  readonly reading: number;
}

/** The reading end never blocks; the writing end does unless it is asked not to. */
function openPipe(t: TestContext, { isBlocking }: { readonly isBlocking: boolean }): Pipe {
  const path = join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(path, constants.O_WRONLY | (isBlocking ? 0 : constants.O_NONBLOCK));
  t.after(() => closeSync(writing));
  return { writing, reading };
}

function take(fd: number): string {
  const buffer = Buffer.alloc(PIPE_BYTES);
  let text = '';
  try {
    for (let length = readSync(fd, buffer); length > 0; length = readSync(fd, buffer))
      text += buffer.toString('latin1', 0, length);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
  }
  return text;
}

describe('a writer of lines', () => {
  for (const isBlocking of [true, false])
    it(`the writer keeps what a ${isBlocking ? 'blocking' : 'non-blocking'} pipe does not take, up to a bound, and writes it later`, async (t) => {
      const { writing, reading } = openPipe(t, { isBlocking });
      t.after(() => closeSync(reading));
      const writer = new LineWriter(writing);
      for (let count = 0; count < 1_000; count += 1) writer.write(LINE);
      let text = '';
      await waitFor('all is written', () => {
        text += take(reading);
        return !writer.isWriting;
      });
      text += take(reading);
      assert.equal(text.length % LINE.length, 0);
      assert.equal(text, LINE.repeat(text.length / LINE.length));
      // The writer writes in a later turn, so all lines were queued before the first was written.
      assert.equal(text.length, KEPT_BYTES);
    });

  it('the writer loses lines and nothing else when the last reader has gone', async (t) => {
    const { writing, reading } = openPipe(t, { isBlocking: true });
    closeSync(reading);
    const writer = new LineWriter(writing);
    for (let count = 0; count < 3; count += 1) writer.write(LINE);
    await writer.drained(FAR_MS);
    assert.equal(writer.isWriting, false);
  });

  it('the writer waits no longer than it must for a reader that has stalled', async (t) => {
    const { writing, reading } = openPipe(t, { isBlocking: false });
    t.after(() => closeSync(reading));
    const writer = new LineWriter(writing);
    for (let count = 0; count < 100; count += 1) writer.write(LINE);
    await writer.drained(50);
    assert.equal(writer.isWriting, true);
    // So that the process of this test can end.
    await waitFor('the rest is written', () => take(reading) !== undefined && !writer.isWriting);
  });

  it('the writer writes each line at once, so that no other output comes into its middle', async (t) => {
    const { writing, reading } = openPipe(t, { isBlocking: true });
    t.after(() => closeSync(reading));
    const other = `${'o'.repeat(4_000)}\n`;
    const writers = [new LineWriter(writing), new LineWriter(writing)];
    let text = '';
    for (let count = 0; count < 60; count += 1) {
      writers[0]?.write(`${'x'.repeat(4_000)}\n`);
      writers[1]?.write(other);
    }
    await waitFor('both have written', () => {
      text += take(reading);
      return writers.every(({ isWriting }) => !isWriting);
    });
    text += take(reading);
    const lines = text.split('\n').slice(0, -1);
    assert.equal(lines.length, 120);
    assert.ok(lines.every((line) => /^(?:x{4000}|o{4000})$/.test(line)));
  });
});
