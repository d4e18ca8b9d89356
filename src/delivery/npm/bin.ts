/**
 * The command `sexton` of the npm package. On Linux it becomes sexton-init, in the very process that was started, and
 * init starts Node again for the supervisor. Where there is no init to become, this process is the supervisor.
 *
 * Whatever Node is there starts this file. So the build writes it in the language of 2015, and only the first step runs
 * on a Node that is too old.
 */
import { accessSync, constants, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../core/exit.ts';
import { tellWhyWithoutInit } from '../../runtime/host/without-init.ts';
import { type Handover, handover } from './handover.ts';

/** `engines.node` of the manifest, `>=22.22`; the build writes it in. */
declare const __SEXTON_ENGINE__: string;

const LIB = join(import.meta.dirname, '../lib');

main();

function main(): void {
  const needed = __SEXTON_ENGINE__.replace('>=', '');
  if (!isAtLeast(process.versions.node, needed)) {
    refuse(`cannot run on Node ${process.versions.node}: install Node ${needed} or newer`);
    return;
  }
  const init = join(LIB, `sexton-${process.platform}-${process.arch}`);
  const why = whyNot(init);
  if (why !== undefined) {
    tellWhyWithoutInit(why);
    // Evaluated in this process: it takes its arguments from process.argv as it does under init.
    require(join(LIB, 'app', 'main.cjs'));
    return;
  }
  const over = handover(process, readRaw);
  if (over.ok) become(init, over);
  else refuse(over.why);
}

/** Why this program cannot be executed; asked first, because Node 22 and 24 crash when execve(2) fails. */
function whyNot(init: string): string | undefined {
  const machine = `${process.platform} ${process.arch}`;
  try {
    accessSync(init, constants.F_OK);
  } catch {
    return `the package has none for ${machine}`;
  }
  try {
    // Says no on a file system that is mounted noexec as well: access(2).
    accessSync(init, constants.X_OK);
  } catch {
    return `${init} may not be executed (noexec, or its mode)`;
  }
  if (process.execve === undefined) return `Node ${process.versions.node} has no process.execve`;
  return undefined;
}

/** Does not return. The warning that this is experimental would be written in the next turn, which never comes. */
function become(init: string, { argv, env }: Extract<Handover, { ok: true }>): void {
  process.execve?.(init, argv, env);
}

function readRaw(name: 'cmdline' | 'environ'): Buffer | undefined {
  try {
    return readFileSync(`/proc/self/${name}`);
  } catch {
    return undefined;
  }
}

/** Writes to the descriptor: process.stderr would make an inherited pipe non-blocking for all that share it. */
function refuse(why: string): void {
  process.exitCode = EXIT.sexton;
  try {
    writeSync(2, `sexton: ${why}\n`);
  } catch {
    // Nothing reads it: the exit code has to do.
  }
}

function isAtLeast(version: string, needed: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}
