/** `inject.sexton.dev/drain: 5s`, `inject.sexton.dev/drain.web: 5s`: what a person says about a pod and its containers. */
import type { Pod } from '../check/input/pod.ts';
import { FLAGS, KEYS, type Key } from '../config/flags.ts';
import { didYouMean, nearest } from '../config/notation/nearest.ts';
import { show } from '../config/notation/parse.ts';
import { refuse } from './refusal.ts';

export const PREFIX = 'inject.sexton.dev/';
export const UNDO = `${PREFIX}undo`;
const SWITCH = 'inject';
export const ROLES = ['main', 'sidecar', 'skip'] as const;
export type Word = (typeof ROLES)[number];

/** These follow from what is injected. */
const OWN: readonly Key[] = ['graveyard', 'session', 'role', 'name', 'mains'];
/** Those that a person may give. */
export const GIVEN = KEYS.filter((key) => !OWN.includes(key));

export function isDisabled({ annotations }: Pod): boolean {
  return annotations.get(PREFIX + SWITCH) === 'disabled';
}

export function roleOf({ annotations }: Pod, container: string): Word | undefined {
  const text = annotations.get(`${PREFIX}role.${container}`);
  return ROLES.find((role) => role === text);
}

/** The flags that the annotations give a container; those that name it beat those of the pod. */
export function flagsOf({ annotations }: Pod, container: string): ReadonlyMap<Key, string> {
  const given = GIVEN.map((key) => {
    const name = `${PREFIX}${FLAGS[key].name}`;
    return [key, annotations.get(`${name}.${container}`) ?? annotations.get(name)] as const;
  });
  return new Map(given.flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const])));
}

/** A word that is none would be passed over in silence. */
export function refuseUnknown({ annotations, containers }: Pod): void {
  const words = [SWITCH, 'undo', 'role', ...GIVEN.map((key) => FLAGS[key].name)];
  const names = containers.map(({ name }) => name);
  for (const [annotation, text] of annotations) {
    if (!annotation.startsWith(PREFIX)) continue;
    const [, word = '', container] = /^([^.]*)(?:\.(.*))?$/s.exec(annotation.slice(PREFIX.length)) ?? [];
    if (!words.includes(word)) {
      const near = nearest(word, words);
      refuse(`${annotation}: no such annotation; ${didYouMean(near && PREFIX + near, 'see docs/inject.md')}`);
    }
    const problem = problemOf(word, text);
    if (problem !== undefined) refuse(`${annotation}: ${show(text)}: ${problem}`);
    if (word === SWITCH && container !== undefined)
      refuse(`${annotation}: names a container; write ${PREFIX}role.${container}: skip`);
    if (word === 'role' && container === undefined)
      refuse(`${annotation}: names no container; write ${PREFIX}role.NAME`);
    if (container !== undefined && !names.includes(container))
      refuse(`${annotation}: there is no container ${show(container)}; name one of ${names.join(', ')}`);
  }
}

function problemOf(word: string, text: string): string | undefined {
  const choices = word === SWITCH ? ['enabled', 'disabled'] : word === 'role' ? ROLES : undefined;
  if (choices !== undefined)
    return choices.some((one) => one === text) ? undefined : `must be one of ${choices.join(', ')}`;
  const key = GIVEN.find((one) => FLAGS[one].name === word);
  const parsed = key && FLAGS[key].parse(text);
  return parsed?.ok === false ? parsed.why : undefined;
}
