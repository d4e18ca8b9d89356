/**
 * A value of a configuration file in the notation of its flag: lists are joined by commas, maps as pairs.
 */

import { FLAGS, type Key } from '../flags.ts';
import { bad, good, type Parse } from '../notation/parse.ts';

export function flagTextOf(key: Key, value: unknown): Parse<string> {
  const flag = FLAGS[key];
  if (flag.fileSeconds) {
    // From YAML every scalar comes as its text.
    return Number.isSafeInteger(value) || (typeof value === 'string' && /^[0-9]{1,9}$/.test(value))
      ? good(`${value}s`)
      : bad('must be a whole number of seconds; write one such as 30');
  }
  if (value === null) return bad(`needs a value; write ${flag.takes}`);
  if (isScalar(value)) return value === '' ? bad(`needs a value; write ${flag.takes}`) : good(String(value));
  if (flag.podKey !== undefined)
    return bad(`must be a string, write ${flag.takes}; the shape of a Pod belongs under ${flag.podKey}`);
  if (takesList(key) && Array.isArray(value) && value.length > 0 && value.every(isScalar)) return good(value.join(','));
  const { pairs, pairsOfLists } = flag;
  const isValue = (to: unknown): boolean =>
    isScalar(to) || (pairsOfLists === true && Array.isArray(to) && to.length > 0 && to.every(isScalar));
  if (pairs !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    if (entries.length > 0 && entries.every(([, to]) => isValue(to))) {
      return good(entries.map(([from, to]) => `${from}${pairs}${String(to)}`).join(','));
    }
  }
  return bad(`cannot be read; write ${flag.takes}`);
}

/** Whether the value may be a list. */
export function takesList(key: Key): boolean {
  const { pairs, pairsOfLists, takes, podKey } = FLAGS[key];
  return podKey === undefined && ((pairs !== undefined && !pairsOfLists) || takes.includes(',..'));
}

export function describe(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
