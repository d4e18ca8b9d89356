/**
 * The flags about what happens while the command runs: probes, hooks, reloads, quit calls.
 */
import type { ProbeKind } from '../core/config.ts';
import type { Flag, Values } from './flag.ts';
import { formatHook, parseHook } from './notation/hook.ts';
import { formatProbe, probeParser } from './notation/probe.ts';
import { formatQuits, parseQuits } from './notation/quit.ts';
import { formatReloads, parseReloads } from './notation/reload.ts';

type LifecycleKey = ProbeKind | 'postStart' | 'preStop' | 'reload' | 'quit';

export const LIFECYCLE_FLAGS: { readonly [K in LifecycleKey]: Flag<Values[K]> } = {
  startup: {
    name: 'startup',
    takes: 'PROBE',
    parse: probeParser('startup'),
    format: formatProbe,
    podKey: 'startupProbe',
    hasCommand: true,
    defaultNote: 'none',
    help: 'Probe until it succeeds once: only then has the command started. Failed: it is stopped and restarted.',
  },
  readiness: {
    name: 'readiness',
    takes: 'PROBE',
    parse: probeParser('readiness'),
    format: formatProbe,
    podKey: 'readinessProbe',
    hasCommand: true,
    defaultNote: 'none',
    help: 'Probe whether the command can serve, which opens the gate NAME=healthy of others.',
  },
  liveness: {
    name: 'liveness',
    takes: 'PROBE',
    parse: probeParser('liveness'),
    format: formatProbe,
    podKey: 'livenessProbe',
    hasCommand: true,
    defaultNote: 'none',
    help: 'Probe whether the command still works. Failed: it is stopped and restarted.',
  },
  postStart: {
    name: 'post-start',
    takes: 'HOOK',
    parse: parseHook,
    format: formatHook,
    podKey: 'lifecycle.postStart',
    hasCommand: true,
    defaultNote: 'none',
    help: 'Run beside the command when it was spawned; it has started when both say so. Failed: the command is stopped.',
  },
  preStop: {
    name: 'pre-stop',
    takes: 'HOOK',
    parse: parseHook,
    format: formatHook,
    podKey: 'lifecycle.preStop',
    hasCommand: true,
    defaultNote: 'none',
    help: 'Run after the drain and before the first rung, within the grace period. A failure is logged.',
  },
  reload: {
    name: 'reload',
    takes: 'PATH=SIGNAL[,validate=CMD]',
    parse: parseReloads,
    format: formatReloads,
    hasCommand: true,
    repeats: true,
    defaultNote: 'none',
    help: 'Send the signal when the file or directory changes, if CMD exits 0. May be given several times.',
  },
  quit: {
    name: 'quit',
    takes: 'PRESET|URL,..',
    parse: parseQuits,
    format: formatQuits,
    defaultNote: 'none',
    help: 'Main: sidecars that run without sexton (istio, linkerd, ..) and are asked to leave when it has ended for good.',
  },
};
