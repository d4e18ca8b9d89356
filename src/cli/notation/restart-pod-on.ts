/**
 * What restarts the pod in place: `exit:70,exit:71,liveness`.
 */
import type { RestartPodOn } from '../../core/config.ts';
import { nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, repeated, show } from './parse.ts';

export function parseRestartPodOn(text: string): Parse<RestartPodOn> {
  const causes = eachOf(text, parseCause);
  if (!causes.ok) return causes;
  const twice = repeated(causes.value.map(String));
  if (twice !== undefined) return bad(`${twice} is named twice; name it once`);
  return good({
    codes: causes.value.filter((cause) => cause !== 'liveness'),
    liveness: causes.value.includes('liveness'),
  });
}

export function formatRestartPodOn({ codes, liveness }: RestartPodOn): string {
  return [...codes.map((code) => `exit:${code}`), ...(liveness ? ['liveness'] : [])].join(',');
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
