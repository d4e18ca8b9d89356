/**
 * Reloads: `/etc/nginx/conf.d=HUP,validate=nginx -t`. A path is taken as it is and a command to the end of the line, so
 * both may hold commas. Each reload has a line or a flag of its own.
 */
import type { Reload } from '../../core/config.ts';
import { signalNumber } from '../../core/signals.ts';
import { bad, good, notAbsolute, type Parse, show } from './parse.ts';
import { formatSignal, parseSignal } from './stop/signals.ts';
import { formatWords, parseWords } from './words.ts';

export function parseReloads(text: string): Parse<readonly Reload[]> {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const reloads: Reload[] = [];
  for (const line of lines) {
    const reload = parseReload(line);
    if (!reload.ok) return lines.length === 1 ? reload : bad(`${show(line)}: ${reload.why}`);
    reloads.push(reload.value);
  }
  return reloads.length > 0 ? good(reloads) : bad(`is blank; write ${RELOAD_EXAMPLE}`);
}

export function formatReloads(reloads: readonly Reload[]): string {
  const lines = reloads.map(({ path, signal, validate }) => {
    return `${path}=${formatSignal(signal)}${validate ? `,validate=${formatWords(validate.argv)}` : ''}`;
  });
  return lines.join('\n');
}

/** Makes a reload of its parts, which a file has apart. */
export function readReload(pathText: string, signalText: string, validate: Parse<Reload['validate']>): Parse<Reload> {
  const path = parseReloadPath(pathText);
  if (!path.ok) return path;
  const signal = parseSignal(signalText);
  if (!signal.ok) return signal;
  const name = formatSignal(signal.value);
  if (name === 'KILL' || name === 'STOP' || name === 'CHLD') {
    return bad(`${name} makes no program read its files again; write one such as HUP`);
  }
  if (!validate.ok) return bad(`validate: ${validate.why}`);
  return good({ path: path.value, signal: signal.value, validate: validate.value });
}

export function parseValidate(text: string): Parse<Reload['validate']> {
  const argv = parseWords(text.replace(/^exec:/, ''));
  return argv.ok ? good({ kind: 'exec', argv: argv.value }) : argv;
}

const RELOAD_EXAMPLE = '/etc/app.conf=HUP';

function parseReload(text: string): Parse<Reload> {
  const [, path, signal, validate] = /^(.*?)=([A-Za-z0-9+-]+)(?:,validate=(.*))?$/s.exec(text) ?? [];
  const slip = /=([A-Za-z0-9+-]+),([A-Za-z-]+)$/.exec(path ?? '');
  if (slip !== null && signalNumber(slip[1] ?? '') !== undefined) {
    return bad(`${slip[2]} is not an option; only ,validate=COMMAND can follow the signal`);
  }
  if (path !== undefined && signal !== undefined) {
    return readReload(path, signal, validate === undefined ? good(undefined) : parseValidate(validate));
  }
  const [, after = ''] = /=[A-Za-z0-9+-]+(,.*)$/s.exec(text) ?? [];
  if (after !== '') return bad(`${show(after)} after the signal; only ,validate=COMMAND can follow it`);
  if (/^\/[^=,]*$/.test(text)) return bad(`the signal is missing; write ${show(`${text}=HUP`)}`);
  return bad(`must be a path with a signal; write ${RELOAD_EXAMPLE} or ${RELOAD_EXAMPLE},validate=COMMAND`);
}

function parseReloadPath(text: string): Parse<string> {
  if (text.includes('\0')) return bad('must not contain a NUL byte; write a path such as /etc/app.conf');
  if (!text.startsWith('/')) return notAbsolute(text, '/etc/app.conf');
  return good(text.replace(/(?<=[^/]|^\/)\/+$/, ''));
}
