/**
 * The termination log: a file in which a container may leave a word when it ends. Kubernetes mounts one at /dev/termination-log and shows what
 * is in it with the container's last state. The evidence is left there.
 */
import type { FileHandle } from 'node:fs/promises';
import type { MemberConfig } from '../core/config.ts';
import { type Evidence, evidenceOf, formatEvidence } from '../core/evidence.ts';
import type { State } from '../core/state.ts';
import { isLate } from './late.ts';
import type { Log } from './log.ts';

export interface TerminationLog {
  readonly path: string;
  /** It was named: then it is made where it is not there, and what keeps it from being written is worth a line. */
  readonly isNamed: boolean;
}

export interface Witness {
  readonly member: MemberConfig;
  readonly terminationLog?: TerminationLog | undefined;
  readonly log: Log;
}

/** At the end of a life. It takes a bounded time: a file system that hangs holds up nobody's exit. */
export async function testify({ member, terminationLog, log }: Witness, state: State | undefined): Promise<void> {
  if (terminationLog === undefined || state === undefined) return;
  const trouble = await leaveEvidence(terminationLog, evidenceOf(member, state));
  if (trouble !== undefined) log.say('warn', trouble);
}

/** What went wrong, in words; undefined: nothing that anybody has to know. */
export async function leaveEvidence(to: TerminationLog, evidence: Evidence): Promise<string | undefined> {
  const written = write(to, formatEvidence(evidence));
  if (await isLate(written, MOST_WRITING_MS)) return `${to.path} does not answer: leaving without the evidence in it`;
  return written;
}

const MOST_WRITING_MS = 1_000;

async function write({ path, isNamed }: TerminationLog, text: string): Promise<string | undefined> {
  const { constants, promises } = process.getBuiltinModule('node:fs');
  let file: FileHandle | undefined;
  try {
    // Without blocking, should it be a pipe that nobody reads.
    const flags = constants.O_RDWR | constants.O_NONBLOCK | (isNamed ? constants.O_CREAT : constants.O_NOFOLLOW);
    file = await promises.open(path, flags, 0o644);
    if (!(await file.stat()).isFile()) return isNamed ? `cannot write ${path}: it is no regular file` : undefined;
    if (await hasOther(file)) return undefined;
    await file.truncate(0);
    await file.write(text, 0);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return isNamed ? `cannot write ${path}: ${code ?? message}; the evidence is in the log` : undefined;
  } finally {
    await file?.close().catch(() => {});
  }
}

/** The application has a word of its own to leave there: it comes first. What another life has left of ours goes. */
async function hasOther(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(OURS.length), 0, OURS.length, 0);
  return bytesRead > 0 && buffer.toString('latin1', 0, bytesRead) !== OURS;
}

/** How the evidence begins. */
const OURS = '{"Summary":"';
