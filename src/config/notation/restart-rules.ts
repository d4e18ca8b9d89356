/**
 * The restart rules of a container: `42|43=restart,88=restart-all,!0=restart`.
 */
import type { RestartRule } from '../../core/config.ts';
import { nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, repeated, show } from './parse.ts';

export function parseRestartRules(text: string): Parse<readonly RestartRule[]> {
  const rules = eachOf(text, parseRule);
  if (!rules.ok) return rules;
  const twice = repeated(rules.value.flatMap(({ codes, except }) => (except ? [] : codes)));
  return twice === undefined ? rules : bad(`${twice} is in two rules, the first counts; name it once`);
}

export function formatRestartRules(rules: readonly RestartRule[]): string {
  return rules.map(({ except, codes, action }) => `${except ? '!' : ''}${codes.join('|')}=${action}`).join(',');
}

function parseRule(text: string): Parse<RestartRule> {
  const [, not, codes, action] = /^(!?)([0-9]{1,9}(?:\|[0-9]{1,9})*)=(.*)$/s.exec(text) ?? [];
  if (codes === undefined || action === undefined)
    return bad(`${show(text)} is not a restart rule; write 42=restart, or !0=restart`);
  if (action !== 'restart' && action !== 'restart-all') return bad(notAnAction(text, action));
  const numbers = codes.split('|').map(Number);
  const wrong = numbers.find((code) => code > 255);
  if (wrong !== undefined) return bad(`${wrong} is not an exit code; write one from 0 to 255`);
  const twice = repeated(numbers);
  if (twice !== undefined) return bad(`${show(text)} names ${twice} twice; name it once`);
  return good({ action, codes: numbers, except: not === '!' });
}

function notAnAction(text: string, action: string): string {
  const near = PODS_WORDS.get(action) ?? nearest(action, ['restart', 'restart-all']);
  const remedy = near === undefined ? 'write restart or restart-all' : `did you mean ${near}?`;
  return `${show(text)}: ${action === '' ? 'it has no action' : `${show(action)} is not an action`}; ${remedy}`;
}

/** The actions by their names in a manifest. */
const PODS_WORDS: ReadonlyMap<string, RestartRule['action']> = new Map([
  ['Restart', 'restart'],
  ['RestartAllContainers', 'restart-all'],
]);
