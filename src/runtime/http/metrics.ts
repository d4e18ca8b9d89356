/**
 * /metrics: the text exposition format of Prometheus, version 0.0.4. Everything comes from the state, which outlives a
 * supervisor, so a counter only starts anew with the container. Labels have few values, all known beforehand but the
 * member's own name.
 */
import type { MemberConfig, ProbeKind } from '../../core/config.ts';
import { PHASES } from '../../core/format/tombstone.ts';
import { livenessOf, type OnDrain, readinessOf, startednessOf } from '../../core/lifecycle/readiness.ts';
import type { State } from '../../core/state/state.ts';

interface Metric {
  readonly name: `sexton_${string}`;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export function metricsOf(member: MemberConfig, onDrain: OnDrain, state: State): string {
  const metrics = [...standingOf(member, onDrain, state), ...stopOf(member, state), ...probesOf(member, state)];
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(textOf)
    .join('');
}

function standingOf(member: MemberConfig, onDrain: OnDrain, state: State): readonly Metric[] {
  const { chronicle, births } = state;
  const { tally, last } = chronicle;
  return [
    gauge('sexton_member_info', 'Which member this is; always 1.', {
      labels: { name: member.name, role: member.role, restart_policy: member.restartPolicy },
      value: 1,
    }),
    gauge('sexton_live', 'What /livez says: 1 for status 200.', flag(livenessOf(state).ok)),
    gauge('sexton_started', 'What /startupz says: 1 for status 200.', flag(startednessOf(state).ok)),
    gauge('sexton_ready', 'What /readyz says: 1 for status 200.', flag(readinessOf(state, onDrain).ok)),
    gauge(
      'sexton_phase',
      'The phase of the member: 1 for the one that it is in, 0 for the others.',
      ...PHASES.map((phase) => ({ labels: { phase }, value: phase === state.phase ? 1 : 0 })),
    ),
    gauge('sexton_command_start_time_seconds', 'When this life of the command began, Unix time.', time(chronicle.born)),
    counter('sexton_command_starts_total', 'Lives of the command in this container.', { value: births }),
    counter('sexton_command_restarts_total', 'Restarts of the command inside this container.', {
      value: Math.max(0, births - 1),
    }),
    gauge('sexton_last_exit_code', 'How the life before this one ended: its exit code, or 128 + the signal.', {
      value: last?.status,
    }),
    counter('sexton_oom_kills_total', 'Lives of the command that the OOM killer has ended.', {
      value: tally.oomKills ?? 0,
    }),
    counter('sexton_signals_received_total', 'Signals that have come from outside.', { value: tally.signals ?? 0 }),
    counter('sexton_supervisor_starts_total', 'Starts of the supervisor in this container; more than 1: it has died.', {
      value: tally.supervisors ?? 0,
    }),
  ];
}

function stopOf({ gracePeriodMs }: MemberConfig, { stop, deadline, now }: State): readonly Metric[] {
  return [
    gauge(
      'sexton_stop_requested',
      '1 since the member has been asked to stop, or has decided to.',
      flag(stop !== undefined),
    ),
    gauge('sexton_stop_age_seconds', 'Time since the stop request; absent before it.', {
      value: stop === undefined ? undefined : (now.mono - stop.atMs) / 1_000,
    }),
    gauge('sexton_grace_period_seconds', 'The declared grace period; absent when none is.', {
      value: gracePeriodMs === undefined ? undefined : gracePeriodMs / 1_000,
    }),
    gauge('sexton_grace_left_seconds', 'Time to the deadline of the stop; absent when there is none.', {
      value: deadline?.kills === true ? (deadline.atMs - now.mono) / 1_000 : undefined,
    }),
  ];
}

function probesOf({ probes }: MemberConfig, { vitals, chronicle }: State): readonly Metric[] {
  const kinds = (['startup', 'readiness', 'liveness'] as const).filter((kind) => probes[kind] !== undefined);
  const results = (['success', 'failure'] as const).flatMap((result) =>
    kinds.map((probe) => ({ labels: { probe, result }, value: chronicle.tally[`${probe} ${result}`] ?? 0 })),
  );
  return [
    gauge(
      'sexton_probe_up',
      'The verdict of a probe of this life of the command: 1 up, 0 down or not known yet.',
      ...kinds.map((probe: ProbeKind) => ({ labels: { probe }, value: vitals[probe]?.verdict === 'up' ? 1 : 0 })),
    ),
    counter('sexton_probe_results_total', 'Results of probes.', ...results),
  ];
}

type Found = Omit<Sample, 'value'> & { readonly value: number | undefined };

function gauge(name: Metric['name'], help: string, ...samples: readonly Found[]): Metric {
  return { name, type: 'gauge', help, samples: samples.filter(isKnown) };
}

function counter(name: `sexton_${string}_total`, help: string, ...samples: readonly Found[]): Metric {
  return { name, type: 'counter', help, samples: samples.filter(isKnown) };
}

function isKnown(sample: Found): sample is Sample {
  return sample.value !== undefined && !Number.isNaN(sample.value);
}

function flag(is: boolean): Sample {
  return { value: is ? 1 : 0 };
}

function time(rfc3339: string | undefined): Found {
  return { value: rfc3339 === undefined ? undefined : Date.parse(rfc3339) / 1_000 };
}

function textOf({ name, type, help, samples }: Metric): string {
  const lines = samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelsText(labels: Sample['labels']): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, escaped)}"`);
  return `{${pairs.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
