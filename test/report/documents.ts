/** Reports to look at, and the pictures of checks. The browser's tests measure them; `screenshots.ts` draws them. */
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

interface Told {
  readonly born?: number;
  readonly asked?: number | undefined;
  /** `drain 9000, SIGQUIT 4000, rest 1100 SIGTERM`: a phase, or the signal of a rung, and its milliseconds. */
  readonly phases: string;
  readonly more?: Partial<Evidence>;
}

/** A member's evidence in a few numbers: milliseconds since the pod's stop began. */
function evidence(Name: string, { born = -60_000, asked = 0, phases, more = {} }: Told): object {
  const Phases = phases.split(', ').map((phase) => {
    const [what = '', ms, signal] = phase.split(' ');
    const isRung = what.startsWith('SIG');
    return { Phase: isRung ? 'ladder' : what, Ms: Number(ms), Signal: isRung ? what : signal };
  });
  const length = Phases.reduce((sum, { Ms }) => sum + Ms, 0);
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
    Phases,
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
    phases: 'drain 9000, pre-stop 1500, linger 700, SIGQUIT 4000, SIGTERM 5000, SIGKILL 900, rest 1100 SIGTERM',
    more: {
      ForcedBy: 'sexton',
      Signal: 'SIGKILL',
      ExitCode: 137,
      Connections: { New: 312, Ignored: 4, LastNewMs: 6_900, Ended: 'quiet' },
    },
  }),
  evidence('web-admin-with-a-name-as-long-as-a-name-may-ever-be-in-kubernetes', { asked: 3, phases: 'SIGINT 40' }),
  evidence('proxy', { asked: 5, phases: 'hold 22200, SIGTERM 3' }),
  evidence('log-shipper', {
    asked: 8,
    born: 4_000 - 8_000,
    phases: 'hold 22300, SIGTERM 8192',
    more: { ForcedBy: 'an unknown sender', ExitCode: 143, GraceLeftMs: -500 },
  }),
  evidence('metrics', { asked: 20, phases: 'start 12, SIGTERM 600', more: { ExitCode: 3 } }),
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

function fleet(): readonly PodStop[] {
  return Array.from({ length: 60 }, (_, index) => {
    const workload = ['shop/web', 'shop/checkout-with-a-rather-long-name', 'ops/batch'][index % 3] ?? '';
    const drain = 1_000 + ((index * 7_919) % 9_000);
    const forced = index % 20 === 7;
    const main = evidence('web', {
      phases: `drain ${drain}, ${forced ? 'SIGTERM 20000, SIGKILL 20' : `SIGTERM ${400 + index * 10}`}`,
      more: {
        ...(forced && { ForcedBy: 'sexton', Signal: 'SIGKILL', ExitCode: 137 }),
        Connections: { New: index * 5, Ignored: 0, LastNewMs: drain / 2, Ended: 'quiet' },
      },
    });
    const proxy = evidence('proxy', { asked: 4, phases: `hold ${drain + 1_000}, SIGTERM 5` });
    return podOfEvidence([main, proxy], `${workload}-6d4cf56db6-${index.toString(36).padStart(5, 'x')}`, workload);
  });
}

export const DEMO: PodStop = demo();
export const BUSY_POD: PodStop = podOfEvidence(BUSY, 'shop/web-6d4cf56db6-abcde', 'shop/web');
export const PLAIN_POD: PodStop = podOfEvidence([EVIDENCE], 'shop/web-0');
export const FLEET: readonly PodStop[] = fleet();

/** Adds the prediction of a manifest, which some members did not follow. */
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
