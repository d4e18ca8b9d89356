/**
 * What befalls a pod: faults and requests of sexton at any time, and races. These come just when init has acted unknown
 * to its supervisor, or lets it go, or when a container is started again. Chance would hardly ever hit that.
 */
import { formatRequest, RESTART_VERSION, requestFileOf, type StopRequest } from '../../src/core/format/stop-request.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import { rfc3339 } from '../../src/core/time.ts';
import { freeze } from './agenda.ts';
import type { Container } from './container.ts';
import { BY_FAULT } from './restarts.ts';
import { type Fault, lengthOf, type Race, type Request } from './scenario.ts';
import { drop } from './stale.ts';
import { ownTombstone } from './truth.ts';
import { Content } from './volume.ts';
import type { World } from './world.ts';

/** A fault of one member counts only when its container runs. */
export function befall(world: World, fault: Fault): void {
  const { agenda, count, kubelet, volume } = world;
  const target = 'who' in fault ? world.members[fault.who] : undefined;
  const container = target?.container?.isRunning === true ? target.container : undefined;
  // This also holds for later containers.
  if (fault.do === 'lose supervisors' && target !== undefined) target.loss = fault.how;
  if ('who' in fault && container === undefined) return;
  const who = target?.name ?? 'pod';
  const { do: what, atMs: _at, who: _who, ...details } = fault as Fault & { who?: number };
  world.tell(who, `fault: ${what} ${Object.values(details).join(' ')}`);
  count(nameOf(fault));
  const endMs = agenda.nowMs + lengthOf(fault);
  // A fault that was due while the machine stood still comes later than planned.
  world.calmAtMs = Math.max(world.calmAtMs, endMs);
  // Until it has ended: its timer may come late like any other.
  const isFull = fault.do === 'volume' && fault.how === 'full';
  const trouble = { atMs: agenda.nowMs, toMs: Number.POSITIVE_INFINITY, isFull };
  if (fault.do === 'volume' || fault.do === 'wipe') world.troubles.push(trouble);
  switch (fault.do) {
    case 'crash supervisor':
      return crash(container, fault);
    case 'starve supervisor':
      return container?.starve(endMs);
    case 'lose supervisors':
      if (fault.how !== 'cannot be started') return container?.brain?.doomByLoss();
      return container?.starve(Number.POSITIVE_INFINITY);
    case 'hang supervisor':
      return freeze(container?.brain?.actor, endMs);
    case 'kill container':
      return container?.end(137, 'killed');
    case 'kill command':
      return container?.killCommand(fault.oom);
    case 'freeze':
      return freeze(container?.actor, endMs);
    case 'pause':
      agenda.pausedUntilMs = endMs;
      return;
    case 'volume':
      volume.trouble = fault.how;
      agenda.in(fault.forMs, undefined, () => {
        if (volume.trouble === fault.how) volume.trouble = undefined;
        trouble.toMs = agenda.nowMs;
      });
      return;
    case 'wipe':
      world.laws.restarts.lost([...volume.files.keys()]);
      volume.wipe();
      // Whoever wiped the directory makes it again; a member that has something to write may do so earlier.
      agenda.in(fault.forMs, undefined, () => {
        volume.isThere = true;
        trouble.toMs = agenda.nowMs;
      });
      return;
    case 'deafen':
      return container?.brain?.access.deafen();
    case 'turn clock':
      if (target !== undefined) target.wallOffMs += fault.byMs;
      return;
    case 'litter':
      return drop(world, fault);
    case 'replace':
      return container && kubelet.replace(container, fault.graceMs);
    case 'signal':
      return container?.signal(fault.signal);
    case 'sexton stop':
      return ask(world, fault);
    case 'sexton restart':
      return askToRestart(world, fault);
    case 'delete':
      return kubelet.delete(fault.graceMs, fault.evicts);
    case 'reboot':
      return kubelet.reboot(fault.downMs);
    case 'restart all':
      return kubelet.restartAll(0);
    default:
      return fault satisfies never;
  }
}

function nameOf(fault: Fault): string {
  if (fault.do === 'volume') return `fault: volume ${fault.how}`;
  if (fault.do === 'lose supervisors') return `fault: supervisor that ${fault.how}`;
  if (fault.do === 'litter') return `fault: litter ${fault.what}`;
  if (fault.do === 'delete' && fault.evicts) return 'fault: evict';
  return `fault: ${fault.do}`;
}

function crash(container: Container | undefined, { point, afterEvents }: Fault & { do: 'crash supervisor' }): void {
  if (container?.brain === undefined) return;
  if (point !== 'between') container.brain.doom = { point, events: afterEvents };
  else {
    container.world.count('supervisor killed between');
    container.loseBrain();
  }
}

/** `sexton stop` by any container of the pod. `first` reads its own at once. */
export function ask(world: World, request: Request, first?: Container): void {
  const asked = leaveRequests(world, request, { Version: 1, By: 'sexton stop' }, first);
  world.laws.requests.left(asked);
  for (const container of asked) container.requests.push({ atMs: world.agenda.nowMs, graceMs: request.graceMs });
}

/** `sexton restart`, in the same way. */
export function askToRestart(world: World, request: Request, first?: Container): void {
  const asked = leaveRequests(world, request, { Version: RESTART_VERSION, By: BY_FAULT }, first);
  if (asked.length === 0) return;
  const { graceMs, byRule } = request;
  const among = request.among && asked.map(({ member }) => member.name);
  const requestedMs = Math.round(world.agenda.monoMs);
  world.laws.restarts.asked({ requestedMs, by: BY_FAULT, graceMs, among, byRule }, asked);
}

type Words = Pick<StopRequest, 'Version' | 'By'>;

/** A file for each member that lives by its tombstone, and for `first`, whose end has come just now. Returns whose. */
function leaveRequests(world: World, request: Request, words: Words, first?: Container): readonly Container[] {
  const { graceMs, among, byRule } = request;
  const { agenda, dice, volume, bootId, count } = world;
  const isAlive = (container: Container): boolean => {
    const own = ownTombstone(container);
    return own !== undefined && own.Died === undefined;
  };
  const alive = world.members.flatMap(({ container, name }) => {
    const isMeant = container?.isRunning === true && (among === undefined || among.includes(name));
    return isMeant && (container === first || isAlive(container)) ? [container] : [];
  });
  // The command says that no file can be left, and fails.
  if (!volume.takesFiles || alive.length === 0) {
    count('request refused');
    return [];
  }
  for (const { hostId, member } of alive) {
    const text = formatRequest({
      ...words,
      Boot: bootId,
      Incarnation: hostId,
      ...(graceMs !== undefined && { GraceMs: graceMs }),
      ...(among !== undefined && { Among: alive.map((other) => other.member.name) }),
      ...(byRule !== undefined && { ByRule: byRule }),
      At: rfc3339(world.wallOf(member)),
      RequestedMonotonic: Math.round(agenda.monoMs),
    });
    const mark = dice.int(2 ** 30).toString(16);
    volume.put(requestFileOf(member.name, mark.padStart(12, '0')), new Content(text));
  }
  return alive;
}

/** Its init is at this point: what is to come then comes before anything else does. False: nothing is. */
export function comeBetween(container: Container, at: Race['at']): boolean {
  const { world, member } = container;
  const { race } = world.scenario;
  if (race?.at !== at || race.who !== member.index || world.hasRaced || !isReady(container, race)) return false;
  world.hasRaced = true;
  world.calmAtMs = Math.max(world.calmAtMs, world.agenda.nowMs);
  world.tell(member.name, `fault: ${race.what} at its ${at}`);
  world.count(`fault: ${race.what} at the ${at}`);
  befallWith(container, race);
  return true;
}

function befallWith(container: Container, race: Race): void {
  const { world } = container;
  const { agenda, dice, kubelet, scenario } = world;
  switch (race.what) {
    case 'sexton stop':
      return ask(world, race, container);
    case 'sexton restart':
      return askToRestart(world, race, container);
    case 'signal':
      return container.signal(race.signal);
    case 'end':
      return container.endCommand({ code: race.code, signal: undefined });
    case 'KILL':
      return container.endCommand({ code: undefined, signal: SIGKILL });
    case 'delete':
      return void agenda.in(dice.int(100), undefined, () => kubelet.delete(scenario.graceMs, false));
    default:
      return race satisfies never;
  }
}

function isReady({ world, brain, isCommandAlive }: Container, { fromMs, at }: Race): boolean {
  const { nowMs } = world.agenda;
  if (nowMs < fromMs) return false;
  if (at === 'return') return true;
  if (brain === undefined || brain.actor.frozenUntilMs > nowMs) return false;
  return at === 'prepared end' || isCommandAlive;
}
