/**
 * Member names: a name is also a file name in the graveyard and comes from other containers, so it is a DNS label as
 * Kubernetes uses it for containers, and nothing else.
 */
import { isMemberName, MAX_NAME } from '../../core/format/tombstone.ts';
import { bad, eachOnce, good, type Parse, show } from './parse.ts';

export function parseName(text: string): Parse<string> {
  if (isMemberName(text)) return good(text);
  const meant = makeName(text).replace(/-+/g, '-');
  const remedy = meant === '' ? 'write one such as web-1' : `write ${meant}`;
  return bad(`a name has only lowercase letters, digits and inner dashes, at most ${MAX_NAME}; ${remedy}`);
}

/** `a,b`: no blanks, each once. */
export function parseNames(text: string): Parse<readonly string[]> {
  return eachOnce(text, (part) => {
    const name = parseName(part);
    return name.ok ? name : bad(`${show(part)} is not a name: ${name.why}`);
  });
}

/** Derives the default name of a member from the basename of its command. It always finds a valid one. */
export function nameFromCommand(command: string): string {
  return makeName(command.slice(command.lastIndexOf('/') + 1)) || 'main';
}

function makeName(text: string): string {
  const plain = text.toLowerCase().replace(/[^a-z0-9-]/g, '-');
  return plain.replace(/^-+/, '').slice(0, MAX_NAME).replace(/-+$/, '');
}
