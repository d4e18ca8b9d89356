/**
 * Answers /metrics: the text exposition format of Prometheus, version 0.0.4. Everything comes from the state, which
 * outlives a supervisor, so a counter is reset only with the container. Labels have few values, all known beforehand
 * but the member's own name.
 */
import type { MemberConfig } from '../../core/config.ts';
import { PHASES } from '../../core/format/tombstone.ts';
import { livenessOf, type OnDrain, readinessOf, startednessOf } from '../../core/lifecycle/ready/readiness.ts';
import type { State } from '../../core/state/state.ts';

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  /** undefined and NaN: the sample is absent. */
  readonly value: number | boolean | undefined;
}

export function metricsOf(member: MemberConfig, onDrain: OnDrain, state: State): string {
  const { restartPolicy: restart_policy, name, role, gracePeriodMs, probes } = member;
  const { chronicle, births, stop, deadline, now, vitals } = state;
  const { tally, last, born } = chronicle;
  const kinds = (['startup', 'readiness', 'liveness'] as const).filter((kind) => probes[kind] !== undefined);
  const results = (['success', 'failure'] as const).flatMap((result) =>
    kinds.map((probe) => ({ labels: { probe, result }, value: tally[`${probe} ${result}`] ?? 0 })),
  );
  const metrics = [
    gauge('member_info', 'Which member this is; always 1.', { labels: { name, role, restart_policy }, value: 1 }),
    gauge('live', 'What /livez says: 1 for status 200.', livenessOf(state).ok),
    gauge('started', 'What /startupz says: 1 for status 200.', startednessOf(state).ok),
    gauge('ready', 'What /readyz says: 1 for status 200.', readinessOf(state, onDrain).ok),
    gauge(
      'phase',
      'The phase of the member: 1 for the one that it is in, 0 for the others.',
      ...PHASES.map((phase) => ({ labels: { phase }, value: phase === state.phase })),
    ),
    gauge(
      'command_start_time_seconds',
      'When this life of the command began, Unix time.',
      Date.parse(born ?? '') / 1e3,
    ),
    counter('command_starts_total', 'Lives of the command in this container.', births),
    counter('command_restarts_total', 'Restarts of the command inside this container.', Math.max(0, births - 1)),
    gauge('last_exit_code', 'How the life before this one ended: its exit code, or 128 + the signal.', last?.status),
    counter('oom_kills_total', 'Lives of the command that the OOM killer has ended.', tally.oomKills ?? 0),
    counter('signals_received_total', 'Signals that have come from outside.', tally.signals ?? 0),
    counter(
      'supervisor_starts_total',
      'Starts of the supervisor in this container; more than 1: it has died.',
      tally.supervisors ?? 0,
    ),
    gauge('stop_requested', '1 since the member has been asked to stop, or has decided to.', stop !== undefined),
    gauge('stop_age_seconds', 'Time since the stop request; absent before it.', stop && (now.mono - stop.atMs) / 1_000),
    gauge(
      'grace_period_seconds',
      'The declared grace period; absent when none is.',
      gracePeriodMs && gracePeriodMs / 1_000,
    ),
    gauge(
      'grace_left_seconds',
      'Time to the deadline of the stop; absent when there is none.',
      deadline?.kills === true ? (deadline.atMs - now.mono) / 1_000 : undefined,
    ),
    gauge(
      'probe_up',
      'The verdict of a probe of this life of the command: 1 up, 0 down or not known yet.',
      ...kinds.map((probe) => ({ labels: { probe }, value: vitals[probe]?.verdict === 'up' })),
    ),
    counter('probe_results_total', 'Results of probes.', ...results),
  ];
  return metrics.join('');
}

function gauge(name: string, help: string, ...samples: readonly (Sample | Sample['value'])[]): string {
  return textOf('gauge', name, help, samples);
}

function counter(name: `${string}_total`, help: string, ...samples: readonly (Sample | Sample['value'])[]): string {
  return textOf('counter', name, help, samples);
}

/** Empty when there is no sample. */
function textOf(type: string, name: string, help: string, samples: readonly (Sample | Sample['value'])[]): string {
  const lines = samples.flatMap((sample) => {
    const { labels, value } = typeof sample === 'object' ? sample : { value: sample };
    return value === undefined || Number.isNaN(value) ? [] : [`sexton_${name}${labelsText(labels)} ${Number(value)}\n`];
  });
  return lines.length === 0 ? '' : `# HELP sexton_${name} ${help}\n# TYPE sexton_${name} ${type}\n${lines.join('')}`;
}

function labelsText(labels: Sample['labels']): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, escaped)}"`);
  return `{${pairs.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
