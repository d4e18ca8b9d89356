/**
 * Ways in which a pod is stopped that leave less time than it declares: `--scenario
 * delete,node-shutdown=30/15,spot=25`.
 */
import { bad, good, type Parse, show } from '../config/notation/parse.ts';

export interface Scenario {
  /** As the user wrote it. */
  readonly name: string;
  /** The most that the platform leaves; undefined: the pod's own grace period. */
  readonly capMs: number | undefined;
}

/** Sources: docs/stop.md. */
const CAPS: Readonly<Record<string, number | undefined>> = {
  delete: undefined,
  spot: 15_000,
  compose: 10_000,
  'node-shutdown': 0,
};

export function parseScenarios(text: string): Parse<readonly Scenario[]> {
  const scenarios: Scenario[] = [];
  for (const word of text.split(',')) {
    const [name = '', time] = word.split(/=(.*)/s);
    if (!Object.hasOwn(CAPS, name))
      return bad(`${show(word)}: no such scenario; write some of ${Object.keys(CAPS).join(', ')}, as in spot=25`);
    const [isRight, first, second] = /^(\d+)(?:\/(\d+))?$/.exec(time ?? '') ?? [];
    if (time !== undefined && isRight === undefined)
      return bad(`${show(word)}: ${show(time)} is no number of seconds; write ${name}=25`);
    if (second !== undefined && name !== 'node-shutdown')
      return bad(`${show(word)}: only node-shutdown takes two times`);
    const seconds = first === undefined ? undefined : Number(first) - Number(second ?? 0);
    if (seconds !== undefined && seconds < 0) return bad(`${show(word)}: the critical pods take more than there is`);
    scenarios.push({ name: word, capMs: seconds === undefined ? CAPS[name] : seconds * 1_000 });
  }
  return good(scenarios);
}
