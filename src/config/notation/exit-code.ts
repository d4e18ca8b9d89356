/**
 * The exit code policy: `keep`, `zero-when-stopped`, or a map such as `143=0,2=1`.
 */
import type { ExitCodePolicy } from '../../core/config.ts';
import { nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, show } from './parse.ts';

export function parseExitCode(text: string): Parse<ExitCodePolicy> {
  if (text === 'keep' || text === 'zero-when-stopped') return good({ kind: text });
  if (!/\d/.test(text)) {
    const near = nearest(text, ['keep', 'zero-when-stopped']);
    return bad(
      `must be keep, zero-when-stopped or a map such as 143=0${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  const pairs = eachOf(text, parsePair);
  if (!pairs.ok) return pairs;
  const codes: Record<number, number> = {};
  for (const [from, to] of pairs.value) {
    if (codes[from] !== undefined) return bad(`${from} is mapped twice; map it once`);
    codes[from] = to;
  }
  return good({ kind: 'map', codes });
}

export function formatExitCode(policy: ExitCodePolicy): string {
  if (policy.kind !== 'map') return policy.kind;
  return Object.entries(policy.codes)
    .map(([from, to]) => `${from}=${to}`)
    .join(',');
}

function parsePair(text: string): Parse<readonly [number, number]> {
  const [, from, to] = /^(\d{1,9})=(\d{1,9})$/.exec(text) ?? [];
  if (from === undefined || to === undefined) {
    const [, code = '143', other = '0'] = /^(\d{1,3})(?:[:>-]+(\d{1,3}))?$/.exec(text) ?? [];
    return bad(`${show(text)} does not map one code to another; write ${code}=${other}`);
  }
  const wrong = [from, to].find((code) => Number(code) > 255);
  return wrong === undefined
    ? good([Number(from), Number(to)])
    : bad(`${wrong} is not an exit code; write one from 0 to 255`);
}
