/** What is known of the servers that `--idle-when` can ask by a preset. */
import { IDLE_PRESETS, type IdlePreset } from '../../config/notation/actions/idle-presets.ts';
import { referenceOf } from '../stop/images.ts';
import type { ContainerView } from '../stop/plan.ts';

export interface IdleServer extends IdlePreset {
  readonly name: string;
}

/** By its command line, or behind a shell by its image. */
export function idleServerOf({ program, programArgs, shell, container }: ContainerView): IdleServer | undefined {
  const line = [program ?? '', ...programArgs].join(' ');
  const { repository } = referenceOf(container.image ?? '');
  return (
    presetWhere(({ command }) => command.test(line)) ??
    (shell === undefined ? undefined : presetWhere(({ image }) => image.test(repository)))
  );
}

/** The server that has the metrics that are asked for. */
export function idleServerAsked({ member }: ContainerView): IdleServer | undefined {
  const action = member?.idleWhen?.action;
  if (action?.kind !== 'gauge') return undefined;
  const names = action.metrics.map(({ name }) => name);
  return presetWhere(({ metric }) => names.join('+') === metric);
}

/** undefined: nothing says that the metrics are off. */
export function flagForMetrics({ enable }: IdleServer, one: ContainerView): string | undefined {
  const { programArgs, shell, container } = one;
  const isElsewhere = programArgs.includes('--config') || container.env.has('LLAMA_ARG_ENDPOINT_METRICS');
  return shell !== undefined || isElsewhere || programArgs.includes(enable ?? '') ? undefined : enable;
}

function presetWhere(isIt: (preset: IdlePreset) => boolean): IdleServer | undefined {
  const [name, preset] = Object.entries(IDLE_PRESETS).find(([, one]) => isIt(one)) ?? [];
  return name === undefined || preset === undefined ? undefined : { name, ...preset };
}
