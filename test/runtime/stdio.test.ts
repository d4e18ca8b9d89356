/** What the supervisor shares with the application: the pipe behind stderr, and whoever reads it, or does not. */
import assert from 'node:assert/strict';
import { execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, read, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startContainer } from '../helpers/container.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';
import { within } from '../helpers/wait.ts';

const FLAGS = [
  ['--log-level', 'info'],
  ['--graveyard', 'GRAVEYARD', '--name', 'main', '--restart-policy', 'Never'],
];

for (const flags of FLAGS) {
  test(`P06 the pipe that the application has as stderr stays blocking: ${flags.join(' ')}`, async (t) => {
    const scratch = await tempGraveyard(t);
    const pipe = openPipe(t, scratch);
    const own = flags.map((flag) => (flag === 'GRAVEYARD' ? scratch.graveyard : flag));
    const stdio: StdioOptions = ['ignore', 'ignore', pipe];
    const container = startContainer(scratch, { flags: own, command: ['sleep', '60'], stdio });
    const begun = promisify(read)(pipe, Buffer.alloc(4_096), 0, 4_096, null);
    const { bytesRead, buffer } = await within('the log begins', begun);
    assert.match(buffer.toString('utf8', 0, bytesRead), /"started"/);
    assert.equal(isBlocking(pipe), true);
    await container.kill();
  });
}

const OPEN_LOG = `
  import { once } from 'node:events';
  import { Log } from ${JSON.stringify(join(ROOT, 'src/runtime/log/log.ts'))};
  const log = new Log({ level: 'info', format: 'json', member: 'main' });`;
const READER_GOES = `
  process.stdout.write('open');
  await once(process.stdin.resume(), 'end');`;
/** Without pino, the log writes the first line on a thread, and the second as the process exits. */
const END = "log.say('info', 'one'); void log.flush(1_000); log.say('info', 'two'); process.exit(7);";
const END_WITH_PINO = `log.open(); log.say('info', 'one'); while (log.isWriting) await new Promise((done) => setTimeout(done, 5)); ${END}`;

for (const end of [END, END_WITH_PINO])
  test(`P06 a failing supervisor ends without a reader of stderr, ${end === END ? 'without' : 'with'} pino`, async (t) => {
    const child = spawn(NODE, ['--input-type=module', '--eval', OPEN_LOG + READER_GOES + end]);
    t.after(() => child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    await once(child.stdout, 'data');
    child.stderr.destroy();
    await once(child.stderr, 'close');
    child.stdout.resume();
    child.stdin.end();
    assert.deepEqual(await within('it ends', once(child, 'exit'), 20_000), [7, null]);
  });

test('P06 a supervisor that fails before pino is loaded ends although the pipe is full', async (t) => {
  const pipe = openPipe(t, await tempGraveyard(t));
  fill(pipe);
  const script = `${OPEN_LOG} log.say('info', 'one'); process.exit(7);`;
  const child = spawn(NODE, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'ignore', pipe] });
  t.after(() => child.kill('SIGKILL'));
  assert.deepEqual(await within('it ends', once(child, 'exit'), 20_000), [7, null]);
  assert.equal(isBlocking(pipe), true);
});

for (const flags of [['--nosuch'], ['--config', '/nowhere']]) {
  test(`P06 a refusal ends the container although nobody reads its stderr: ${flags.join(' ')}`, async (t) => {
    const scratch = await tempGraveyard(t);
    const pipe = openPipe(t, scratch);
    fill(pipe);
    const stdio: StdioOptions = ['ignore', 'ignore', pipe];
    assert.equal((await startContainer(scratch, { flags, command: ['true'], stdio }).exit()).status, 125);
  });
}

/** A pipe whose both ends this process holds, and the very description that the container gets. */
function openPipe(t: TestContext, scratch: Scratch): number {
  const path = scratch.path('pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, 'r+');
  t.after(() => closeSync(pipe));
  return pipe;
}

/** `flags` of proc_pid_fdinfo(5), octal: those of the open file description, which all who inherited it share. */
function isBlocking(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
  assert.ok(flags !== undefined);
  return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) === 0;
}

/** To the last byte, by another description, so that nothing of `fd` is changed. */
function fill(fd: number): void {
  const filler = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    for (const size of [4_096, 1]) for (;;) if (!writes(filler, size)) break;
  } finally {
    closeSync(filler);
  }
}

function writes(fd: number, size: number): boolean {
  try {
    return writeSync(fd, Buffer.alloc(size, 'x')) > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
    throw error;
  }
}
