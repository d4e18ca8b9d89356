/**
 * The part of the table of flags that says how a member can be looked at: HTTP, and the word that it leaves at its end.
 */
import { addressText } from '../runtime/http.ts';
import type { Flag, Values } from './flag.ts';
import { parseAddress, parseTerminationLog } from './observe-values.ts';
import { choice } from './parse.ts';

const ON_DRAIN = ['keep', 'fail'] as const;

export const OBSERVE_FLAGS: { readonly [K in 'http' | 'readyzOnDrain' | 'terminationLog']: Flag<Values[K]> } = {
  http: {
    name: 'http',
    takes: ':PORT|HOST:PORT|unix:PATH',
    parse: parseAddress,
    format: addressText,
    defaultNote: 'none',
    help: 'Answer /livez, /readyz, /startupz, /metrics and /status over HTTP there.',
  },
  readyzOnDrain: {
    name: 'readyz-on-drain',
    takes: 'keep|fail',
    choices: ON_DRAIN,
    parse: choice(ON_DRAIN),
    format: (value) => value,
    default: 'keep',
    help: 'Whether /readyz goes on as before after a stop request, while the command serves on, or fails at once.',
  },
  terminationLog: {
    name: 'termination-log',
    takes: 'PATH',
    parse: parseTerminationLog,
    format: (path) => path,
    fileKey: 'terminationMessagePath',
    defaultNote: '/dev/termination-log if it exists',
    help: 'File in which to leave, at the end, how this container has ended; JSON, at most 4096 bytes.',
  },
};
