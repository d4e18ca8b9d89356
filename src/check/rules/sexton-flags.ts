/**
 * Flags of sexton in the command line of a container: where they stand, and how a fix writes them.
 */
import { insertItem, replaceValue } from '../edits.ts';
import type { Edit } from '../finding.ts';
import { at } from '../input/located.ts';
import type { Container, Pod } from '../input/pod.ts';
import { wordAt } from '../stop/plan.ts';

/** The word that gives the flag, else the beginning of the command line. */
export function flagPlace(container: Container, flag: string) {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  const index = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const value = words[index] === flag ? index + 1 : index;
  return wordAt(container, Math.max(0, value)) ?? container.node;
}

/** A flag of sexton right behind `run`, or its value where it is given. */
export function withFlag(pod: Pod, container: Container, flag: string, value: string): readonly Edit[] {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  const end = words.indexOf('--');
  const own = words.slice(0, end === -1 ? words.length : end);
  const given = own.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (given !== -1) {
    const isJoined = words[given]?.includes('=') === true;
    const node = wordAt(container, isJoined ? given : given + 1);
    if (node === undefined) return [];
    const text = isJoined ? `${flag}=${value}` : value;
    return [replaceValue(pod.source, node, /^[-A-Za-z0-9_./=+]+$/.test(text) ? text : JSON.stringify(text))];
  }
  const list = at(container.node, 'command');
  const index = words[1] === 'run' ? 2 : 1;
  return list?.kind === 'list' ? insertItem(pod.source, list, index, `${flag}=${value}`) : [];
}
