/**
 * A pod in virtual time: members, their containers, the volume, the kubelet and the faults. It depends on a scenario
 * and nothing else.
 *
 * Theory of operation: whatever happens is an entry of the agenda. Supervisors see only what the real ones can see:
 * what init tells them and what they read in the graveyard. `Laws` sees everything, and judges every step.
 */
import type { AccessWorld } from './access.ts';
import { Agenda } from './agenda.ts';
import { Container } from './container.ts';
import type { Count } from './coverage.ts';
import { Dice } from './dice.ts';
import { befall } from './faults.ts';
import { Kubelet } from './kubelet.ts';
import { Laws } from './laws.ts';
import { expectRecords } from './on-record.ts';
import { type Fault, type Life, type Loss, lengthOf, type MemberScenario, type Scenario } from './scenario.ts';
import { litter } from './stale.ts';
import { type Holder, Volume } from './volume.ts';

/** What happened, for the timeline. */
export type Told = (atMs: number, who: string, what: string) => void;

/** The uptime when a run begins: the machine was booted long before. */
const UPTIME_MS = 1_000_000;
const HOUR_MS = 3_600_000;

export class Member {
  readonly world: World;
  readonly scenario: MemberScenario;
  readonly config: MemberScenario['config'];
  readonly name: string;
  readonly index: number;
  /** By what its wall clock is off, and was turned. */
  wallOffMs: number;
  births = 0;
  /** How many containers of it have ended. */
  exits = 0;
  /** When its last container ended. */
  endedAtMs = 0;
  container: Container | undefined;
  /** No container of it will be started any more. */
  isOver = false;
  /** After so long without an event its supervisor may sleep; undefined: it never does. */
  readonly sleepAfterMs: number | undefined;
  /** What becomes of all its supervisors from now on. */
  loss: Loss | undefined;
  /** A command of it could not be started once. */
  hasFailedStarts = false;

  constructor(world: World, scenario: MemberScenario, index: number, sleepAfterMs: number | undefined) {
    this.world = world;
    this.sleepAfterMs = sleepAfterMs;
    this.scenario = scenario;
    this.config = scenario.config;
    this.name = scenario.config.name;
    this.index = index;
    this.wallOffMs = scenario.skewMs;
  }

  get signalTo(): MemberScenario['signalTo'] {
    return this.scenario.signalTo;
  }

  nextLife(): Life {
    const { lives } = this.scenario;
    this.births += 1;
    return lives[Math.min(this.births, lives.length) - 1] ?? {};
  }
}

export class World {
  readonly scenario: Scenario;
  readonly agenda: Agenda;
  readonly dice: Dice;
  readonly members: readonly Member[];
  readonly containers: Container[] = [];
  readonly laws = new Laws(this);
  readonly kubelet = new Kubelet(this);
  hasRaced = false;
  readonly count: Count;
  readonly tell: (who: string, what: string) => void;
  readonly isTold: boolean;
  /** After that no fault is at work any more. */
  calmAtMs: number;
  /** From when until when the volume failed, each time; until Infinity: it does. */
  readonly troubles: { readonly atMs: number; toMs: number; readonly isFull: boolean }[] = [];
  volume: Volume;
  reductions = 0;
  #boots = 1;
  parts: AccessWorld;

  constructor(scenario: Scenario, count: Count, tell?: Told) {
    this.scenario = scenario;
    this.count = count;
    this.tell = (who, what) => tell?.(this.agenda.nowMs, who, what);
    this.isTold = tell !== undefined;
    this.agenda = new Agenda(-UPTIME_MS, new Dice(scenario.seed, 1));
    this.dice = new Dice(scenario.seed, 2);
    const rest = new Dice(scenario.seed, 7);
    // Short times are more frequent, so that many sleep as soon as nothing is due, wherever that is.
    const sleepOf = ({ config }: MemberScenario): number | undefined => {
      const { readiness, liveness } = config.probes;
      const mayEver = readiness === undefined && liveness === undefined && config.reload.length === 0;
      return rest.chance(0.8) && mayEver ? 1 + rest.short(5_000) : undefined;
    };
    this.members = scenario.members.map((member, index) => new Member(this, member, index, sleepOf(member)));
    this.calmAtMs = Math.max(0, ...scenario.faults.map((fault) => fault.atMs + lengthOf(fault)));
    this.volume = new Volume(scenario.volume.sockets);
    this.parts = this.#partsOf(this.volume);
    litter(this);
  }

  get bootId(): string {
    return `5d7c1b52-0000-4000-8000-00000000000${this.#boots}`;
  }

  /** Runs until nothing is left; the laws record what was wrong. */
  run(): void {
    this.kubelet.start();
    for (const fault of this.scenario.faults) this.agenda.at(fault.atMs, undefined, () => befall(this, fault));
    expectRecords(this);
    this.agenda.at(this.scenario.lastMs, undefined, () => this.kubelet.endWhatIsLeft());
    const endMs = this.scenario.lastMs + HOUR_MS;
    while (!this.kubelet.isOver && this.agenda.step(endMs)) if (this.laws.breach !== undefined) return;
    this.laws.podEnded(this.kubelet.isOver);
  }

  startContainer(member: Member): Container {
    this.tell(member.name, 'container starts');
    const container = new Container(this, member);
    this.containers.push(container);
    member.container = container;
    return container;
  }

  /** Another boot; its monotonic clock starts again near zero. */
  reboot(): void {
    this.#boots += 1;
    this.agenda.bootAtMs = this.agenda.nowMs - 7_000;
    if (!this.scenario.volume.inMemory) return;
    this.volume = new Volume(this.scenario.volume.sockets);
    this.parts = this.#partsOf(this.volume);
  }

  wallOf({ wallOffMs }: Member): string {
    return `${1_800_000_000_000 + Math.round(this.agenda.nowMs + wallOffMs)}000000`;
  }

  /** When the volume failed last; Infinity: it does now. */
  get failedUntilMs(): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...this.troubles.map(({ toMs }) => toMs));
  }

  /** At any time of the run. */
  meets(fault: Fault['do']): boolean {
    return this.scenario.faults.some((it) => it.do === fault);
  }

  /** The case of this law has come up, and the law is checked next. */
  judges(law: string): void {
    this.count(`law ${law}`);
  }

  memberNamed(name: string): Member | undefined {
    return this.members.find((member) => member.name === name);
  }

  #partsOf(volume: Volume): AccessWorld {
    const { agenda, dice, count, scenario } = this;
    const onEnd = (holder: Holder, then: () => void): void => {
      if (holder instanceof Container) holder.onEnd(then);
    };
    return { agenda, volume, dice, count, scenario: scenario.volume, onEnd };
  }
}
