/**
 * What restarts the pod in place, and how often at most: `exit:70,exit:71,liveness,max=6`.
 */
import type { RestartPodOn } from '../../core/config.ts';
import { nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, repeated, show } from './parse.ts';

export function parseRestartPodOn(text: string): Parse<RestartPodOn> {
  const [, list = '', limit] = /^(.*?)(?:,max=([^,]*))?$/s.exec(text) ?? [];
  if (limit !== undefined && !/^[1-9][0-9]{0,8}$/.test(limit))
    return bad(`max=${show(limit)} is not a number of restarts; write max=6`);
  const causes = eachOf(list, parseCause);
  if (!causes.ok) return causes;
  const twice = repeated(causes.value.map(String));
  if (twice !== undefined) return bad(`${twice} is named twice; name it once`);
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
    const remedy = near === undefined ? 'write exit:70, or liveness' : `did you mean ${near}?`;
    return bad(`${show(text)} is not a cause of a restart; ${remedy}`);
  }
  return Number(code) > 255 ? bad(`${code} is not an exit code; write one from 0 to 255`) : good(Number(code));
}
