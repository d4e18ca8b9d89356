/**
 * The termination log: a file in which a container may leave a message when it ends. Kubernetes mounts one at
 * /dev/termination-log and shows its content with the container's last state. sexton writes the evidence there.
 */
import type { FileHandle } from 'node:fs/promises';
import type { TerminationLog } from '../../config/run-config.ts';
import type { MemberConfig } from '../../core/config.ts';
import { formatEvidence, MAX_EVIDENCE_BYTES, refusalOf } from '../../core/format/evidence.ts';
import { evidenceOf, terminationMessageOf } from '../../core/lifecycle/stop/record.ts';
import type { State } from '../../core/state/state.ts';
import { withTimeout } from '../timeouts.ts';
import type { Log } from './log.ts';

export interface TerminationLogOptions {
  readonly member: MemberConfig;
  readonly terminationLog?: TerminationLog | undefined;
  readonly log: Log;
}

/**
 * Writes the evidence from the stop request on, at each step of the stop, and once more at the end. A platform that
 * kills earlier than it declared leaves no time to write.
 */
export class TerminationLogWriter {
  readonly #options: TerminationLogOptions;
  #told = '';
  #latest: State | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: TerminationLogOptions) {
    this.#options = options;
  }

  follow(state: State): void {
    const { member, terminationLog } = this.#options;
    if (terminationLog === undefined || state.stop === undefined || state.child.is === 'gone') return;
    const { Phases, Unfinished, WaitsFor } = evidenceOf(member, state);
    const told = JSON.stringify([Phases?.length, Unfinished, WaitsFor]);
    if (told === this.#told) return;
    this.#told = told;
    this.#latest = state;
    this.#writing ??= this.#writeLatest();
  }

  /** Writes at the end of a life, in a bounded time: a file system that hangs does not hold up the exit. */
  async end(state: State | undefined): Promise<void> {
    const { member, terminationLog, log } = this.#options;
    if (terminationLog === undefined || state === undefined) return;
    this.#latest = undefined;
    const text = terminationMessageOf(member, state);
    const written = Promise.resolve(this.#writing).then(() => write(terminationLog, text));
    const trouble = (await withTimeout(written, MAX_WRITING_MS))
      ? `${terminationLog.path} does not answer: exiting without writing the evidence`
      : await written;
    if (trouble !== undefined) log.say('warn', trouble);
  }

  /** Logs no failure: the write at the end does, if it fails as well. */
  async #writeLatest(): Promise<void> {
    const { member, terminationLog } = this.#options;
    for (let state = this.#latest; state !== undefined && terminationLog !== undefined; state = this.#latest) {
      this.#latest = undefined;
      const text = withRoom(formatEvidence(evidenceOf(member, state)));
      await write(terminationLog, text, besideCommand);
    }
    this.#writing = undefined;
  }
}

/** Writes why the container starts nothing, in a bounded time. The reason is on stderr, so no failure is logged. */
export async function leaveRefusal(
  to: TerminationLog,
  name: string | undefined,
  problems: readonly string[],
): Promise<void> {
  await withTimeout(write(to, formatEvidence(refusalOf(name, problems))), MAX_WRITING_MS);
}

const MAX_WRITING_MS = 1_000;

/** Resolves to what went wrong, in words; undefined: nothing that is worth a line of the log. */
async function write(
  { path, isNamed }: TerminationLog,
  text: string,
  choose: typeof keptOf = keptOf,
): Promise<string | undefined> {
  const { constants, promises } = process.getBuiltinModule('node:fs');
  let file: FileHandle | undefined;
  try {
    // Opening a pipe without a reader would block. On a shared volume another container may leave a link.
    const { O_RDWR, O_NONBLOCK, O_NOFOLLOW, O_CREAT } = constants;
    file = await promises.open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | (isNamed ? O_CREAT : 0), 0o644);
    if (!(await file.stat()).isFile()) return isNamed ? `cannot write ${path}: it is no regular file` : undefined;
    const there = await readStart(file);
    const kept = choose(there, text);
    if (kept === undefined) return undefined;
    // The text is written before the rest is cut off: a KILL in between leaves more than nothing.
    await file.write(kept, 0, kept.length, 0);
    if (kept.length < there.length) await file.truncate(kept.length);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return isNamed ? `cannot write ${path}: ${code ?? message}; the evidence is in the log` : undefined;
  } finally {
    await file?.close().catch(() => {});
  }
}

async function readStart(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_READ), 0, MAX_READ, 0);
  return buffer.subarray(0, bytesRead);
}

/**
 * What the file is to contain: the application's own message if there is one, alone or behind ours, or else our text.
 * `undefined`: the file stays as it is.
 */
function keptOf(there: Buffer, text: string): Buffer | undefined {
  if (there.length > 0 && there.indexOf(OURS) !== 0) return undefined;
  const end = there.indexOf('\n') + 1;
  if (end === 0 || end === there.length) return Buffer.from(text);
  return there.length < MAX_READ ? there.subarray(end) : undefined;
}

/** The same while the command lives. It may append its own message, which must not be overwritten or cut off. */
function besideCommand(there: Buffer, text: string): Buffer | undefined {
  const isOursAlone = there.indexOf(OURS) === 0 && there.indexOf('\n') === there.length - 1;
  return there.length === 0 || isOursAlone ? Buffer.from(text) : undefined;
}

/** Pads the text with blanks before its last brace, so that the next text fits into the same length. */
function withRoom(text: string): string {
  const bytes = Buffer.byteLength(text);
  return text.replace(/}\n$/, `${' '.repeat(Math.ceil(bytes / ROOM) * ROOM - bytes)}}\n`);
}

const ROOM = 1_024;

/** Our evidence, and as much of the application's message as Kubernetes would keep. */
const MAX_READ = 2 * MAX_EVIDENCE_BYTES;

/** The first bytes of any evidence. */
const OURS = '{"Summary":"';
