/**
 * Drains: `5s`, `min=1s,quiet=2s,max=15s,ports=8080,8443,ignore=10.0.0.0/8`, `inflight`, `new-only`. What follows
 * `ports=` or `ignore=` without a name of its own is one more of them. Neighbours count where `neighbours` says so, or
 * where ports are named and nothing is said.
 */
import type { Drain } from '../../../core/config.ts';
import { formatDuration, parseDuration, parseSomeTime } from '../duration.ts';
import { didYouMean, nearest } from '../nearest.ts';
import { bad, good, type Parse, repeated, show } from '../parse.ts';
import { parsePort } from './action.ts';

export function parseDrain(text: string): Parse<Drain | undefined> {
  if (!/^(neighbours|inflight|new-only|[a-z-]+=)|,/.test(text)) return parseFixed(text);
  const taken: Taken = { times: {}, ports: [], ignore: [], words: {} };
  let list: List | undefined;
  for (const part of text.split(',')) {
    const [key = '', value] = part.split(/=(.*)/s);
    const more = value === undefined && /[0-9]/.test(part) ? list : undefined;
    const problem = more === undefined ? takeOption(taken, key, value) : takeItem(taken, more, part);
    if (problem !== undefined) return bad(problem);
    if (more === undefined) list = isList(key) ? key : undefined;
  }
  const twice = repeated(taken.ports) ?? repeated(taken.ignore);
  if (twice !== undefined) return bad(`${twice} is named twice; name it once`);
  return adaptiveDrain(taken);
}

export function formatDrain(drain: Drain | undefined): string {
  if (drain === undefined) return '0';
  if (drain.kind === 'fixed') return formatDuration(drain.ms);
  const { minMs, quietMs, maxMs, ports, ignore, neighbours, newOnly, inflight } = drain;
  return [
    `min=${formatDuration(minMs)}`,
    `quiet=${quietMs === 0 ? 'off' : formatDuration(quietMs)}`,
    `max=${formatDuration(maxMs)}`,
    ...(ports.length > 0 ? [`ports=${ports.join(',')}`] : []),
    ...(ignore.length > 0 ? [`ignore=${ignore.join(',')}`] : []),
    ...(neighbours === countsNeighbours(ports) ? [] : [neighbours ? 'neighbours' : 'neighbours=false']),
    ...(newOnly ? ['new-only'] : []),
    ...(inflight ? ['inflight'] : []),
  ].join(',');
}

const DEFAULTS = { min: 1_000, quiet: 2_000, max: 15_000 } as const;
const DRAIN_EXAMPLE = 'min=1s,quiet=2s,max=15s';
const OPTIONS = ['min', 'quiet', 'max', 'ports', 'ignore', 'neighbours', 'new-only', 'inflight'] as const;

const PLAIN_OPTIONS = ['neighbours', 'new-only', 'inflight'] as const;

type List = 'ports' | 'ignore';

interface Taken {
  readonly times: { -readonly [K in keyof typeof DEFAULTS]?: number };
  readonly ports: number[];
  readonly ignore: string[];
  readonly words: { [K in (typeof PLAIN_OPTIONS)[number]]?: boolean };
}

function parseFixed(text: string): Parse<Drain | undefined> {
  const time = parseDuration(text);
  if (time.ok) return good(time.value === 0 ? undefined : { kind: 'fixed', ms: time.value });
  const near = /[0-9]/.test(text) ? undefined : nearest(text, PLAIN_OPTIONS);
  return near === undefined ? time : bad(`is not a drain; did you mean ${near}?`);
}

/** Takes one option; returns the problem, if there is one. */
function takeOption(taken: Taken, key: string, value: string | undefined): string | undefined {
  const option = OPTIONS.find((one) => one === key);
  if (option === undefined) return unknownOption(key);
  if (value === undefined && !isWord(option)) return `${option} has no value; write ${EXAMPLES[option]}`;
  if (isList(option)) return takeItem(taken, option, value ?? '');
  const before = isWord(option) ? taken.words[option] : taken.times[option];
  if (before !== undefined) return `${option} is given twice; give it once`;
  if (isWord(option)) {
    // `neighbours=false` is useful only where ports are named.
    const instead = option === 'neighbours' ? 'write neighbours or neighbours=false' : 'leave it out';
    if (value !== undefined && value !== 'true' && value !== 'false') return `${option} takes no value; ${instead}`;
    taken.words[option] = value !== 'false';
    return undefined;
  }
  if (option === 'quiet' && value === 'off') {
    taken.times.quiet = 0;
    return undefined;
  }
  const time = option === 'min' ? parseDuration(value ?? '') : parseSomeTime(value ?? '');
  if (!time.ok) return `${option}: ${time.why}`;
  taken.times[option] = time.value;
  return undefined;
}

const EXAMPLES = {
  min: 'min=1s',
  quiet: 'quiet=2s',
  max: 'max=15s',
  ports: 'ports=8080',
  ignore: 'ignore=10.1.2.3',
} as const;

function takeItem(taken: Taken, list: List, item: string): string | undefined {
  if (list === 'ports') {
    const port = parsePort(item);
    const commas = /^\d+([^\d,]\d+)+$/.test(item) ? item.replaceAll(/\D/g, ',') : undefined;
    if (commas !== undefined) return `ports: ${show(item)} needs commas; write ports=${commas}`;
    if (!port.ok) return `ports: ${port.why}`;
    taken.ports.push(port.value);
    return undefined;
  }
  const network = parseNetwork(item);
  if (!network.ok) return `ignore: ${network.why}`;
  taken.ignore.push(network.value);
  return undefined;
}

/** A named port stands for all of its clients: behind a proxy or a tunnel in the pod they all come by loopback. */
function countsNeighbours(ports: readonly number[]): boolean {
  return ports.length > 0;
}

function adaptiveDrain({ times, ports, ignore, words }: Taken): Parse<Drain> {
  const { neighbours = countsNeighbours(ports), 'new-only': newOnly = false, inflight = false } = words;
  const { max: maxMs = DEFAULTS.max } = times;
  // Default times that are longer than the given `max` become as short as it.
  const { min: minMs = Math.min(DEFAULTS.min, maxMs), quiet: quietMs = Math.min(DEFAULTS.quiet, maxMs) } = times;
  if (minMs > maxMs || quietMs > maxMs) {
    const [name, ms] = minMs > maxMs ? ['min', minMs] : ['quiet', quietMs];
    return bad(`max=${formatDuration(maxMs)} is shorter than ${name}=${formatDuration(ms)}; write a longer max`);
  }
  // No time but `off` is 0.
  const isOff = quietMs === 0;
  const needless = isOff && (ports.length > 0 || ignore.length > 0 || Object.keys(words).length > 0);
  if (needless) return bad('quiet=off: connections are not looked at; leave out what is about them');
  return good({ kind: 'adaptive', minMs, quietMs, maxMs, ports, ignore, neighbours, newOnly, inflight });
}

function unknownOption(key: string): string {
  if (key === '') return `a part of it is empty; write ${DRAIN_EXAMPLE}`;
  const known = /^[0-9]/.test(key)
    ? `a duration stands alone, or write ${DRAIN_EXAMPLE}`
    : `options are ${OPTIONS.join(', ')}`;
  return `${show(key)} is not an option of a drain; ${didYouMean(nearest(key, OPTIONS), known)}`;
}

function isWord(key: string): key is (typeof PLAIN_OPTIONS)[number] {
  return PLAIN_OPTIONS.some((word) => word === key);
}

function isList(key: string): key is List {
  return key === 'ports' || key === 'ignore';
}

/** An address or a network: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. */
function parseNetwork(text: string): Parse<string> {
  const [address = '', bits] = text.split(/\/(.*)/s);
  const version = process.getBuiltinModule('node:net').isIP(address);
  if (version === 0 || address.includes('%')) {
    return bad(`${show(text)} is neither an address nor a network; write one such as 10.1.2.3 or 10.0.0.0/8`);
  }
  if (bits === undefined) return good(text);
  const most = version === 4 ? 32 : 128;
  if (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= most) return good(`${address}/${Number(bits)}`);
  return bad(`${show(text)}: a network of IPv${version} has 0 to ${most} bits; write ${address}/${most / 2}`);
}
