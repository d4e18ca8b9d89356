import { freeze } from './agenda.ts';
import type { Container } from './container.ts';
import { askToRestart } from './restarts.ts';
import { type Fault, lengthOf, type Request } from './scenario.ts';
import { drop } from './stale.ts';
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
  world.tell(agenda.nowMs, who, `fault: ${what} ${Object.values(details).join(' ')}`);
  count(nameOf(fault));
  const endMs = agenda.nowMs + lengthOf(fault);
  // A fault that was due while the machine stood still comes later than planned.
  world.calmAtMs = Math.max(world.calmAtMs, endMs);
  // Until it has ended: its timer may come late like any other.
  const trouble = { toMs: Number.POSITIVE_INFINITY };
  if (fault.do === 'volume' || fault.do === 'wipe') world.troubles.push(trouble);
  switch (fault.do) {
    case 'crash supervisor':
      return crash(container, fault);
    case 'starve supervisor':
      if (container === undefined) return;
      container.starvedUntilMs = Math.max(container.starvedUntilMs, endMs);
      return container.loseBrain();
    case 'lose supervisors':
      if (container === undefined || fault.how !== 'cannot be started') return container?.brain?.doomByLoss();
      container.starvedUntilMs = Number.POSITIVE_INFINITY;
      return container.loseBrain();
    case 'hang supervisor':
      return freeze(container?.brain?.actor, endMs);
    case 'kill container':
      return container?.end(137, 'killed');
    case 'kill command':
      return container?.killCommand(fault.oom);
    case 'freeze':
      return freeze(container?.actor, endMs);
    case 'pause':
      agenda.pausedUntilMs = agenda.nowMs + fault.forMs;
      return;
    case 'volume':
      volume.trouble = fault.how;
      agenda.in(fault.forMs, undefined, () => {
        if (volume.trouble === fault.how) volume.trouble = undefined;
        trouble.toMs = agenda.nowMs;
      });
      return;
    case 'wipe':
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
      return target === undefined ? undefined : kubelet.replace(target, fault.graceMs);
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

/** Leaves each running member a request, which is read twice if not removed in time. `first` reads it at once. */
export function ask(world: World, { graceMs, among }: Request, first?: Container): void {
  const { agenda, dice } = world;
  const atMs = agenda.monoMs;
  const times = dice.chance(0.1) ? 2 : 1;
  for (const { container, name } of world.members) {
    if (container?.isRunning !== true || (among !== undefined && !among.includes(name))) continue;
    container.requests.push({ atMs: agenda.nowMs, graceMs });
    if (container === first && container.brain?.take({ atMs, graceMs, among, by: 'sexton stop' }) === true) continue;
    for (let time = 0; time < times; time += 1) deliver(container, atMs, graceMs, among);
  }
}

function deliver(
  container: Container,
  atMs: number,
  graceMs: number | undefined,
  among: readonly string[] | undefined,
): void {
  const { agenda, dice } = container.world;
  agenda.in(1 + dice.short(300), container.actor, () => {
    if (container.brain?.actor.frozenUntilMs !== undefined && container.brain.actor.frozenUntilMs > agenda.nowMs)
      return deliver(container, atMs, graceMs, among);
    container.noticeRequest();
    if (container.brain?.take({ atMs, graceMs, among, by: 'sexton stop' }) !== true && container.isRunning)
      deliver(container, atMs, graceMs, among);
  });
}
