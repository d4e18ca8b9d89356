/**
 * Reports to look at: of the demo, of a pod that has all that can be drawn, of one that goes on, and of a fleet; and
 * what checks draw. The browser's tests measure them, `screenshots.ts` takes pictures of them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../src/check/check.ts';
import { predictionFor } from '../../src/check/prediction.ts';
import type { Evidence } from '../../src/core/format/evidence.ts';
import { stopOfEvidence } from '../../src/report/evidence.ts';
import { htmlPage } from '../../src/report/html.ts';
import { readText } from '../../src/report/input.ts';
import { type PodStop, podsOf } from '../../src/report/stop.ts';
import { podSvg } from '../../src/report/svg.ts';
import { CHECK_DOCUMENTS } from '../check/pictures.ts';
import { deployment } from '../check/workloads.ts';
import { ROOT } from '../helpers/paths.ts';
import { at, BEGAN_MS, EVIDENCE } from './pods.ts';

type Phases = readonly (readonly [phase: string, ms: number, signal?: string])[];

interface Told {
  readonly born?: number;
  readonly asked?: number | undefined;
  readonly phases: Phases;
  readonly more?: Partial<Evidence>;
}

/** A member's evidence in a few numbers: milliseconds since the pod's stop began. */
function evidence(Name: string, { born = -60_000, asked = 0, phases, more = {} }: Told): object {
  const length = phases.reduce((sum, [, ms]) => sum + ms, 0);
  return {
    Summary: 'x',
    Version: 1,
    Name,
    Role: Name.startsWith('web') ? 'main' : 'sidecar',
    Reason: 'stopped',
    ExitCode: 0,
    StopReason: 'signal TERM',
    GraceMs: 30_000,
    GraceLeftMs: 30_000 - asked - length,
    Phases: phases.map(([Phase, Ms, Signal]) => ({ Phase, Ms, ...(Signal !== undefined && { Signal }) })),
    Restarts: 0,
    OomKills: 0,
    Born: at(born),
    StopRequested: at(asked),
    Died: at(asked + length),
    ...more,
  };
}

const BUSY: readonly object[] = [
  evidence('web', {
    phases: [
      ['drain', 9_000],
      ['pre-stop', 1_500],
      ['linger', 700],
      ['ladder', 4_000, 'SIGQUIT'],
      ['ladder', 5_000, 'SIGTERM'],
      ['ladder', 900, 'SIGKILL'],
      ['rest', 1_100, 'SIGTERM'],
    ],
    more: {
      ForcedBy: 'sexton',
      Signal: 'SIGKILL',
      ExitCode: 137,
      Connections: { New: 312, Ignored: 4, LastNewMs: 6_900, Ended: 'quiet' },
    },
  }),
  evidence('web-admin-with-a-name-as-long-as-a-name-may-ever-be-in-kubernetes', {
    asked: 3,
    phases: [['ladder', 40, 'SIGINT']],
  }),
  evidence('proxy', {
    asked: 5,
    phases: [
      ['hold', 22_200],
      ['ladder', 3, 'SIGTERM'],
    ],
  }),
  evidence('log-shipper', {
    asked: 8,
    born: 4_000 - 8_000,
    phases: [
      ['hold', 22_300],
      ['ladder', 8_192, 'SIGTERM'],
    ],
    more: { ForcedBy: 'an unknown sender', ExitCode: 143, GraceLeftMs: -500 },
  }),
  evidence('metrics', {
    asked: 20,
    phases: [
      ['start', 12],
      ['ladder', 600, 'SIGTERM'],
    ],
    more: { ExitCode: 3 },
  }),
];

export function podOfEvidence(all: readonly object[], pod: string, workload = pod): PodStop {
  const members = all.flatMap((one) => stopOfEvidence(one, { pod, workload }) ?? []);
  const [found] = podsOf(members, BEGAN_MS + 60_000);
  if (found === undefined) throw new Error('no evidence is understood');
  return found;
}

function demo(): PodStop {
  const members = ['job', 'proxy', 'shipper'].flatMap((name) => {
    const text = readFileSync(join(ROOT, 'test', 'report', 'demo', name), 'utf8');
    return readText(text, BEGAN_MS, () => undefined).members;
  });
  const [pod] = podsOf(members, BEGAN_MS);
  if (pod === undefined) throw new Error('the demo has left no tombstones');
  return pod;
}

/** 60 pods of three workloads. */
function fleet(): readonly PodStop[] {
  return Array.from({ length: 60 }, (_, index) => {
    const workload = ['shop/web', 'shop/checkout-with-a-rather-long-name', 'ops/batch'][index % 3] ?? '';
    const drain = 1_000 + ((index * 7_919) % 9_000);
    const forced = index % 20 === 7;
    const main = evidence('web', {
      phases: [
        ['drain', drain],
        ['ladder', forced ? 20_000 : 400 + index * 10, 'SIGTERM'],
        ...FORCED.slice(forced ? 0 : 1),
      ],
      more: {
        ...(forced && { ForcedBy: 'sexton', Signal: 'SIGKILL', ExitCode: 137 }),
        Connections: { New: index * 5, Ignored: 0, LastNewMs: drain / 2, Ended: 'quiet' },
      },
    });
    const proxy = evidence('proxy', {
      asked: 4,
      phases: [
        ['hold', drain + 1_000],
        ['ladder', 5, 'SIGTERM'],
      ],
    });
    return podOfEvidence([main, proxy], `${workload}-6d4cf56db6-${index.toString(36).padStart(5, 'x')}`, workload);
  });
}

const FORCED: Phases = [['ladder', 20, 'SIGKILL']];

export const DEMO: PodStop = demo();
export const BUSY_POD: PodStop = podOfEvidence(BUSY, 'shop/web-6d4cf56db6-abcde', 'shop/web');
export const PLAIN_POD: PodStop = podOfEvidence([EVIDENCE], 'shop/web-0');
export const FLEET: readonly PodStop[] = fleet();

/** What the manifest of the busy pod lets expect: some of it came otherwise. */
async function againstManifest(pod: PodStop): Promise<PodStop> {
  const containers = pod.members.map(({ name }) => {
    const flags = name === 'web' ? '--drain, 12s, --stop, "TERM:5s,KILL"' : '--grace-period, 30s';
    const command = `[/sexton/sexton, run, --name, ${name}, ${flags}, --graveyard, /graveyard, --, /bin/serve]`;
    return `- {name: ${name}, image: "example.com/any:1", command: ${command}}`;
  });
  const result = await check([{ path: 'shop/web.yaml', text: deployment(containers.join('\n')) }]);
  const prediction = predictionFor(pod, result);
  if (!prediction.ok) throw new Error(prediction.why);
  return { ...pod, prediction: prediction.value };
}
const COMPARED_POD = await againstManifest(BUSY_POD);

/** Name of the file and what is in it. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  'demo.svg': podSvg(DEMO),
  'busy.svg': podSvg(BUSY_POD),
  'compared.svg': podSvg(COMPARED_POD),
  'compared.html': htmlPage([COMPARED_POD]),
  'demo.html': htmlPage([DEMO]),
  'plain.html': htmlPage([PLAIN_POD]),
  'busy.html': htmlPage([BUSY_POD]),
  'fleet.html': htmlPage(FLEET),
  ...CHECK_DOCUMENTS,
};
