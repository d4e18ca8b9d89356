/**
 * The flags by which a member can be observed, and by which its supervisor need not always be there.
 */

import type { Flag, Values } from './flag.ts';
import { addressText } from './notation/address.ts';
import { formatDuration } from './notation/duration.ts';
import { parseAddress, parseCollector, parseSleepAfter, parseTerminationLog } from './notation/observe.ts';
import { choice } from './notation/parse.ts';

const ON_DRAIN = ['keep', 'fail'] as const;

export const OBSERVE_FLAGS: {
  readonly [K in 'http' | 'readyzOnDrain' | 'terminationLog' | 'otlp' | 'sleepAfter']: Flag<Values[K]>;
} = {
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
    help: 'File that receives, at the end, how this container ended; JSON, at most 4096 bytes.',
  },
  otlp: {
    name: 'otlp',
    takes: 'URL',
    parse: parseCollector,
    format: (url) => url,
    defaultNote: 'none',
    help: 'Send how this member has stopped to an OpenTelemetry collector there, as a trace, before the container ends.',
  },
  sleepAfter: {
    name: 'sleep-after',
    takes: 'DURATION|never',
    parse: parseSleepAfter,
    format: (after) => (after === 'never' ? after : formatDuration(after)),
    default: '5s',
    help: 'After so long without anything to do only the init stays, and starts the supervisor when something happens.',
  },
};
