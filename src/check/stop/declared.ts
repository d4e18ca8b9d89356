/** What a person declares by annotations, as no manifest shows it: how long a program, a hook or a balancer takes. */
import { parseDuration } from '../../config/notation/duration.ts';
import { good, type Parse } from '../../config/notation/parse.ts';
import type { Pod } from '../input/pod.ts';

export const PREFIX = 'check.sexton.dev/';

/** These are declared for one container, or for all of them. */
export const OF_CONTAINERS = ['stop-seconds', 'prestop-seconds'] as const;
export const DECLARATIONS = [...OF_CONTAINERS, 'lb-seconds'] as const;

/** undefined: not declared, or by an unreadable value, which SX902 reports. */
export function declaredMs(pod: Pod, what: (typeof DECLARATIONS)[number], container?: string): number | undefined {
  const own = container === undefined ? undefined : pod.annotations.get(`${PREFIX}${what}.${container}`);
  const text = own ?? pod.annotations.get(`${PREFIX}${what}`);
  const parsed = text === undefined ? undefined : parseDeclared(text);
  return parsed?.ok ? parsed.value : undefined;
}

/** Milliseconds from a number of seconds, as the names say, or from a duration as flags have it. */
export function parseDeclared(text: string): Parse<number> {
  const plain = text.trim();
  const [, whole] = /^(\d+)(?:\.\d+)?$/.exec(plain) ?? [];
  if (whole === undefined) return parseDuration(plain);
  const bounded = parseDuration(`${whole}s`);
  return bounded.ok ? good(Number(plain) * 1_000) : bounded;
}
