/**
 * Notations of exit codes. The policy is `keep`, `zero-when-stopped` or a map such as `143=0,2=1`. Restart rules of a
 * container are `42|43=restart,88=restart-all,!0=restart`. A restart of the pod is `exit:70,liveness,max=6`.
 */
import type { ExitCodePolicy, RestartPodOn, RestartRule } from '../../../core/config.ts';
import { didYouMean, nearest } from '../nearest.ts';
import { bad, eachOf, eachOnce, good, mapOf, type Parse, repeated, show } from '../parse.ts';

export function parseExitCode(text: string): Parse<ExitCodePolicy> {
  if (text === 'keep' || text === 'zero-when-stopped') return good({ kind: text });
  if (!/\d/.test(text)) {
    const near = nearest(text, ['keep', 'zero-when-stopped']);
    return bad(
      `must be keep, zero-when-stopped or a map such as 143=0${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  const codes = mapOf(text, parsePair, (from) => `${from} is mapped twice; map it once`);
  return codes.ok ? good({ kind: 'map', codes: codes.value }) : codes;
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
  const wrong = codeProblem(from, to);
  return wrong === undefined ? good([Number(from), Number(to)]) : bad(wrong);
}

function codeProblem(...codes: readonly (string | number)[]): string | undefined {
  const wrong = codes.find((code) => Number(code) > 255);
  return wrong === undefined ? undefined : `${wrong} is not an exit code; write one from 0 to 255`;
}

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
  const wrong = codeProblem(...numbers);
  if (wrong !== undefined) return bad(wrong);
  const twice = repeated(numbers);
  if (twice !== undefined) return bad(`${show(text)} names ${twice} twice; name it once`);
  return good({ action, codes: numbers, except: not === '!' });
}

function notAnAction(text: string, action: string): string {
  const near = POD_ACTIONS.get(action) ?? nearest(action, ['restart', 'restart-all']);
  const wrong = action === '' ? 'it has no action' : `${show(action)} is not an action`;
  return `${show(text)}: ${wrong}; ${didYouMean(near, 'write restart or restart-all')}`;
}

/** The actions by their names in a manifest. */
export const POD_ACTIONS: ReadonlyMap<string, RestartRule['action']> = new Map([
  ['Restart', 'restart'],
  ['RestartAllContainers', 'restart-all'],
]);

export function parseRestartPodOn(text: string): Parse<RestartPodOn> {
  const [, list = '', limit] = /^(.*?)(?:,max=([^,]*))?$/s.exec(text) ?? [];
  if (limit !== undefined && !/^[1-9][0-9]{0,8}$/.test(limit))
    return bad(`max=${show(limit)} is not a number of restarts; write max=6`);
  const causes = eachOnce(list, parseCause);
  if (!causes.ok) return causes;
  return good({
    codes: causes.value.filter((cause) => cause !== 'liveness'),
    liveness: causes.value.includes('liveness'),
    max: limit === undefined ? undefined : Number(limit),
  });
}

export function formatRestartPodOn({ codes, liveness, max }: RestartPodOn): string {
  const limit = max === undefined ? [] : [`max=${max}`];
  return [...codes.map((code) => `exit:${code}`), ...(liveness ? ['liveness'] : []), ...limit].join(',');
}

function parseCause(text: string): Parse<number | 'liveness'> {
  if (text === 'liveness') return good(text);
  const [, code] = /^exit:([0-9]{1,9})$/.exec(text) ?? [];
  if (code === undefined) {
    const near = nearest(text, ['liveness']) ?? (/^[0-9]{1,3}$/.test(text) ? `exit:${text}` : undefined);
    return bad(`${show(text)} is not a cause of a restart; ${didYouMean(near, 'write exit:70, or liveness')}`);
  }
  const wrong = codeProblem(code);
  return wrong === undefined ? good(Number(code)) : bad(wrong);
}
