/** The subjects of the bench: sexton, the other inits that are installed, no init at all, and bare Node. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { NODE, SEXTON } from '../helpers/paths.ts';

export interface Subject {
  readonly name: string;
  /** What stands before the application's own command line. */
  readonly before: readonly string[];
  /** sexton with Node beside it from the start, which says on stderr when it has settled. */
  readonly hasSupervisor: boolean;
}

export interface Subjects {
  /** tini first: the others are compared with it. */
  readonly inits: readonly Subject[];
  readonly bare: Subject;
  /** Not an init: for scale, and what memory is compared with. */
  readonly node: Subject;
  readonly missing: readonly string[];
}

export const TINI = 'tini';
/** A plain command, which has init alone. */
export const SEXTON_NAME = 'sexton';
export const WITH_NODE = 'sexton, with Node';
export const BARE_NODE = 'bare Node';

export function findSubjects(): Subjects {
  const there = PEERS.filter((name) => findProgram(name) !== undefined);
  const missing = PEERS.filter((name) => !there.includes(name));
  const inits: Subject[] = there.map((name) => ({
    name,
    before: [findProgram(name) ?? name, '--'],
    hasSupervisor: false,
  }));
  if (existsSync(SEXTON))
    inits.push(
      { name: SEXTON_NAME, before: [SEXTON, '--'], hasSupervisor: false },
      { name: WITH_NODE, before: [SEXTON, '--log-level', 'info', '--'], hasSupervisor: true },
    );
  else missing.push('dist/sexton/sexton (npm run build)');
  const bare = { name: 'bare exec', before: [], hasSupervisor: false };
  return { inits, bare, node: { name: BARE_NODE, before: sameNode(), hasSupervisor: false }, missing };
}

/** Begins with another subject each round, so that none always follows the same neighbour. */
export function rotated<T>(subjects: readonly T[], round: number): T[] {
  const first = round % Math.max(1, subjects.length);
  return [...subjects.slice(first), ...subjects.slice(0, first)];
}

/** The first in PATH; undefined: not installed. */
export function findProgram(name: string): string | undefined {
  const paths = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The Node that the supervisor runs on, in the way in which init starts it, without init's flags. */
function sameNode(): string[] {
  const directory = join(SEXTON, '..');
  const node = join(directory, 'bin', 'node');
  if (!existsSync(node)) return [NODE];
  const library = join(directory, 'lib');
  const loader = existsSync(library) ? readdirSync(library).find((name) => name.startsWith('ld-linux')) : undefined;
  return loader === undefined ? [node] : [join(library, loader), '--library-path', library, node];
}

const PEERS = [TINI, 'tini-static', 'dumb-init', 'catatonit'];
