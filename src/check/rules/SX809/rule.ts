import { at, textAt } from '../../input/located.ts';
import type { ContainerView } from '../../stop/plan.ts';
import { bytesOf } from '../common.ts';
import { ofContainer } from '../rule.ts';
import { mayDrain } from '../sidecars.ts';

const MIB = 1024 * 1024;
/** What a wake of the supervisor needs above the command's own memory. */
const WAKE_MIB = 16;

export const rule = ofContainer({
  severity: 'warning',
  title: "The memory limit has no room for sexton's supervisor beside the command",
  why: `While the pod stops, the supervisor needs ${WAKE_MIB} MiB above what the command takes. Where these are not free init does not start it: it sends the stop signal on time, but cannot wait for connections, hooks or other members.`,
  remedy: `Raise the limit to what the command takes and ${WAKE_MIB} MiB, or let the command take less.`,
  *find(one) {
    const run = one.sexton?.run;
    const limit = at(one.container.node, 'resources', 'limits', 'memory');
    const bytes = bytesOf(textAt(limit));
    if (limit === undefined || bytes === undefined || run === undefined) return;
    // Else the supervisor has nothing to decide when the pod stops.
    if (run.graveyard === undefined && !mayDrain(one)) return;
    const { own, by, isGuess } = ownMemoryOf(one, bytes);
    if (own + WAKE_MIB * MIB <= bytes) return;
    yield { at: limit, severity: isGuess ? 'info' : 'warning', atMs: 0, limit: textAt(limit), by };
  },
  say: ({ limit, by }) =>
    `a limit of ${limit}${by}: less than ${WAKE_MIB} MiB are left for sexton's supervisor, so init stops the command without drain, hooks and order`,
});

/** What the command is known to take, and what the message says of it; nothing, where the manifest does not say it. */
function ownMemoryOf(one: ContainerView, limit: number) {
  const declared = declaredMemoryOf(one);
  if (declared !== undefined) return { own: declared.bytes, by: `, and ${declared.by}`, isGuess: false };
  const text = textAt(one.container.node, 'resources', 'requests', 'memory');
  const request = bytesOf(text);
  // A request as large as the limit is there for the class Guaranteed.
  if (request === undefined || request >= limit) return { own: 0, by: '', isGuess: false };
  // A request says what the scheduler sets aside; the command may take less, or more.
  return { own: request, by: `, and a request of ${text}`, isGuess: limit >= WAKE_MIB * MIB };
}

const FLAGS: Readonly<Record<string, readonly [variable: string, flag: RegExp]>> = {
  java: ['JAVA_TOOL_OPTIONS', /(?<=\s)-Xmx(\d+)([kmg])(?=\s|$)/gi],
  node: ['NODE_OPTIONS', /(?<=\s)--max-old-space-size=(\d+)(?=\s|$)/g],
};

/** By the command's own flags and variables; of several flags the last one counts. */
function declaredMemoryOf({ container: { env }, program = '', programArgs }: ContainerView) {
  const go = env.get('GOMEMLIMIT');
  const [, goCount, goUnit = ''] = /^(\d+)([KMGT]i)B$/.exec(go ?? '') ?? [];
  if (goCount !== undefined) return { bytes: bytesOf(goCount + goUnit) ?? 0, by: `GOMEMLIMIT=${go}` };
  const [variable = '', flag] = (Object.hasOwn(FLAGS, program) ? FLAGS[program] : undefined) ?? [];
  if (flag === undefined) return undefined;
  const line = ` ${env.get(variable) ?? ''} ${programArgs.join(' ')}`;
  const [word, count, unit = 'm'] = [...line.matchAll(flag)].at(-1) ?? [];
  return word === undefined ? undefined : { bytes: bytesOf(`${count}${unit.toUpperCase()}i`) ?? 0, by: word };
}
