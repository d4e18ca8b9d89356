/** The kubelet of one pod, in virtual time: what `test/pods/kubelet.ts` does to real containers. */
import type { RestartRule } from '../../src/core/config.ts';
import { watchLoneStop } from './alone.ts';
import type { Container } from './container.ts';
import { comeBetween } from './faults.ts';
import type { Member, World } from './world.ts';

/** What a container gets between TERM and KILL when its hook has used up the grace period; the kubelet's own figure. */
const LEAST_MS = 2_000;
const MAX_BACKOFF_MS = 20_000;

export class Kubelet {
  readonly #world: World;
  readonly #replaced = new Set<Member>();
  /** When what still runs is killed. */
  #killAtMs: number | undefined;
  /** When the first deletion began. */
  deletedAtMs: number | undefined;
  #isDown = false;
  #isRebooting = false;
  #isAboutToRestart = false;
  #begun = 0;
  restartsOfAll = 0;
  /** When it was done last. */
  restartedAllAtMs = 0;

  constructor(world: World) {
    this.#world = world;
  }

  get isOver(): boolean {
    return this.#world.members.every((member) => member.isOver);
  }
  get isDeleting(): boolean {
    return this.#killAtMs !== undefined;
  }

  /** Its container has ended, and another one will be started. */
  bringsBack(member: Member): boolean {
    return !member.isOver && !this.isDeleting && member.container?.isRunning === false && !this.#isRebooting;
  }

  start(): void {
    this.#begin();
    for (const member of this.#world.members) this.#startIn(member, member.scenario.startMs);
  }

  /** Deletes the pod. A later deletion counts only if it leaves less time than an earlier one. */
  delete(graceMs: number, evicts: boolean): void {
    const { agenda, members, dice, tell, count } = this.#world;
    const killAtMs = agenda.nowMs + graceMs;
    tell('pod', `${evicts ? 'evicted' : 'deleted'}, grace ${graceMs} ms`);
    const isFirst = !this.isDeleting;
    if ((this.#killAtMs ?? Number.POSITIVE_INFINITY) <= killAtMs) return;
    this.#killAtMs = killAtMs;
    this.deletedAtMs ??= agenda.nowMs;
    if (!isFirst) count('grace shortened');
    agenda.at(killAtMs, undefined, () => {
      for (const { container, scenario } of members)
        if (scenario.kubeletHookMs < graceMs) this.#kill(container, 'the grace period');
    });
    if (!isFirst) return;
    const spreadMs = dice.chance(0.1) ? 1_500 : 200;
    for (const member of members) {
      if (member.container?.isRunning !== true) member.isOver = true;
      // A container that is being stopped already gets no second TERM.
      const isAsked = this.#replaced.has(member) && member.container?.isRunning === true;
      if (isAsked) count('deleted while one is replaced');
      else agenda.in(dice.short(spreadMs), undefined, () => this.#stop(member, graceMs));
    }
  }

  /** Stops this container alone; it is started again unless the policy is Never. */
  replace(container: Container, graceMs: number): void {
    const { agenda } = this.#world;
    if (this.isDeleting) return;
    this.#replaced.add(container.member);
    this.#ask(container);
    watchLoneStop(container);
    agenda.in(graceMs, undefined, () => this.#kill(container, 'its own grace period'));
  }

  /** All end at once, without a grace period. Then init containers run, and all start again, also what was over. */
  restartAll(afterMs: number): void {
    const { agenda, members, dice, tell, count, laws } = this.#world;
    if (this.#isDown || this.isDeleting || this.#isAboutToRestart) return;
    this.#isAboutToRestart = true;
    agenda.in(afterMs, undefined, () => {
      if (!this.#isAboutToRestart || this.isDeleting) return;
      this.#isAboutToRestart = false;
      this.#isDown = true;
      tell('pod', 'all containers are restarted');
      count('all restarted');
      this.restartsOfAll += 1;
      this.restartedAllAtMs = agenda.nowMs;
      this.#killAll();
      const goOn = (): void => {
        if (this.isDeleting) return;
        // An init container that fails is run again.
        if (!this.#begin()) return void agenda.in(500, undefined, goOn);
        this.#isDown = false;
        laws.allRestarted();
        for (const member of members) {
          member.isOver = false;
          this.#startIn(member, dice.short(400));
        }
      };
      agenda.in(10 + dice.int(1_000), undefined, goOn);
    });
  }

  /** Everything ends in the same instant. */
  reboot(downMs: number): void {
    const { agenda, members, scenario } = this.#world;
    if (this.#isDown) return;
    this.#isDown = true;
    this.#isRebooting = true;
    this.#isAboutToRestart = false;
    this.#killAll();
    agenda.in(downMs, undefined, () => {
      this.#isDown = false;
      this.#isRebooting = false;
      this.#world.reboot();
      this.#begin();
      this.#world.laws.rebooted();
      for (const member of members) {
        if (member.isOver) continue;
        if (this.isDeleting || scenario.policy === 'Never') member.isOver = true;
        else this.#startIn(member, this.#world.dice.int(300));
      }
    });
  }

  #killAll(): void {
    for (const { container } of this.#world.members) container?.end(137, 'killed');
    this.#replaced.clear();
  }

  /** Deletes the pod in the end, because one whose mains do not end would run for ever. */
  endWhatIsLeft(): void {
    const { agenda, scenario, laws } = this.#world;
    if (agenda.nowMs < scenario.lastMs || this.isOver || this.isDeleting || laws.isSomebodyDue) return;
    this.delete(scenario.graceMs, false);
  }

  hearOfExit(container: Container, code: number, how: 'left' | 'killed'): void {
    const { member } = container;
    const { scenario, tell } = this.#world;
    tell(member.name, `container ${how === 'left' ? 'left' : 'killed'} with ${code}`);
    if (this.#isDown) return;
    member.exits += 1;
    const isReplaced = this.#replaced.delete(member) && scenario.policy !== 'Never';
    const rule = this.isDeleting ? undefined : ruleFor(container, code);
    if (rule !== undefined) this.#world.count(`restarted by a rule: ${rule.action}`);
    // The kubelet hears of an end a little later.
    if (rule?.action === 'restart-all') return this.restartAll(this.#backoffMs(member));
    member.isOver = this.isDeleting || !(isReplaced || rule !== undefined || this.#runsAgain(code));
    if (!member.isOver) this.#startIn(member, this.#backoffMs(member));
  }

  #backoffMs({ exits }: Member): number {
    return Math.min(this.#world.scenario.backoffMs * 2 ** (exits - 1), MAX_BACKOFF_MS);
  }

  /** Whether it could be written. */
  #begin(): boolean {
    const { scenario, volume } = this.#world;
    if (!scenario.begins) return true;
    if (!volume.takesFiles) return false;
    this.#begun += 1;
    volume.generation = `generation-${this.#begun}`;
    return true;
  }

  #runsAgain(code: number): boolean {
    const { policy } = this.#world.scenario;
    return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
  }

  #startIn(member: Member, ms: number): void {
    this.#world.agenda.in(ms, undefined, () => {
      if (member.isOver || this.#isDown || member.container?.isRunning === true) return;
      member.isOver = this.isDeleting;
      if (member.isOver) return;
      const isBack = member.container !== undefined;
      const container = this.#world.startContainer(member);
      if (isBack) comeBetween(container, 'return');
    });
  }

  /** Its hook, then TERM. */
  #stop({ container, scenario }: Member, graceMs: number): void {
    if (container?.isRunning !== true) return;
    const { agenda } = this.#world;
    const hookMs = Math.min(scenario.kubeletHookMs, graceMs);
    if (hookMs === 0) return this.#ask(container);
    agenda.in(hookMs, undefined, () => {
      this.#ask(container);
      if (scenario.kubeletHookMs < graceMs) return;
      agenda.in(LEAST_MS, undefined, () => this.#kill(container, 'the rest of the grace period'));
    });
  }

  /** Some platforms send it twice. */
  #ask(container: Container): void {
    const { agenda, dice, count } = this.#world;
    container.signal(15);
    if (!dice.chance(0.1)) return;
    count('TERM doubled');
    agenda.in(dice.short(40), undefined, () => container.signal(15));
  }

  #kill(container: Container | undefined, why: string): void {
    if (container?.isRunning !== true) return;
    this.#world.tell(container.member.name, `killed by the kubelet: ${why} is over`);
    this.#world.laws.killedInTime(container);
    container.end(137, 'killed');
  }
}

function ruleFor({ member }: Container, code: number): RestartRule | undefined {
  return member.config.restartRules.find(({ codes, except }) => codes.includes(code) !== except);
}
