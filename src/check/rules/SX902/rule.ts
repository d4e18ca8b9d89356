import { didYouMean, nearest } from '../../../config/notation/nearest.ts';
import { show } from '../../../config/notation/parse.ts';
import type { Located } from '../../input/located.ts';
import { annotationsOf } from '../../input/objects.ts';
import type { Pod } from '../../input/pod.ts';
import { DECLARATIONS, OF_CONTAINERS, PREFIX, parseDeclared } from '../../stop/declared.ts';
import { ofWorkload } from '../rule.ts';

export const rule = ofWorkload({
  severity: 'warning',
  title: 'An annotation for sexton check that cannot be read',
  why: 'What it declares does not count: the stop is predicted as if nothing were known of the program, the hook or the balancer.',
  remedy: 'Write a number of seconds ("90") or a duration ("1m30s"), and the name as docs/check.md has it.',
  *find({ workload, pod }) {
    for (const [name, { key, value }] of annotationsOf(workload.object)) {
      const wrong = name.startsWith(PREFIX) ? wrongWith(pod, name.slice(PREFIX.length), value) : undefined;
      // The value may be an alias, and stand somewhere else.
      if (wrong !== undefined) yield { at: key, name, wrong };
    }
  },
  say: ({ name, wrong }) => `${name}${wrong}`,
});

/** undefined: it can be read. */
function wrongWith(pod: Pod, name: string, value: Located): string | undefined {
  // Whether they ignore anything is SX901.
  if (/^ignore(-SX\d+)?$/.test(name)) return undefined;
  if (name.startsWith('ignore-')) return ': names no rule; write one such as ignore-SX301';
  const ofContainer = OF_CONTAINERS.find((one) => name.startsWith(`${one}.`));
  const container = ofContainer && name.slice(ofContainer.length + 1);
  const containers = [...pod.inits, ...pod.containers].map((one) => one.name);
  if (container !== undefined && !containers.includes(container))
    return `: this pod has no container ${show(container)}; it has ${containers.join(', ')}`;
  if (container === undefined && !DECLARATIONS.some((one) => one === name)) {
    const known = [...DECLARATIONS, 'ignore'];
    return `: no such annotation; ${didYouMean(nearest(name, known), `write one of ${known.join(', ')}`)}`;
  }
  const text = value.kind === 'scalar' ? value.text : pod.source.text.slice(value.start, value.end);
  const parsed = parseDeclared(text);
  return parsed.ok ? undefined : ` ${show(text)}: ${parsed.why}`;
}
