/**
 * What probes cost: the same container without a probe, with an exec probe and with an http probe every second. CPU
 * time is that of init, the supervisor and all that they have reaped, from the scheduler's own count; the application's
 * is not in it.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../examples/stage.ts';
import { isSupervisor } from '../../helpers/container.ts';
import { NODE } from '../../helpers/paths.ts';
import { childrenOf } from '../../helpers/process.ts';
import { footprintOf } from '../../scale/footprint.ts';
import { type Container, withContainers } from '../container.ts';
import { type Case, Samples } from '../measurement.ts';
import { SEXTON_NAME, type Subject } from '../subjects.ts';
import { ranOf } from './drain.ts';
import { IDLE } from './start.ts';

export const probes: Case = {
  name: 'probes',
  rounds: 1,
  async run({ programs, subjects, rounds }) {
    const [cpu, memory] = [new Samples([]), new Samples([])];
    for (let round = 0; round < rounds; round++) {
      for (const sexton of subjects.inits.filter(({ hasSupervisor }) => hasSupervisor)) {
        const ports = new Map<string, number>();
        const all: Subject[] = [];
        for (const kind of KINDS) all.push(await withProbe(sexton, kind, ports));
        const commandOf = ({ name }: Subject) => [NODE, '-e', serverOn(ports.get(name) ?? 0)];
        await withContainers(programs.launch, all, commandOf, async (containers) => {
          for (const container of containers) await container.settled();
          await sleep(SETTLING_MS);
          const before = containers.map(cpuOf);
          const things = containers.map(thingsOf);
          await sleep(SECONDS * 1_000);
          const spent = containers.map((container, index) => cpuOf(container) - (before[index] ?? 0));
          const [idle = 0] = spent;
          for (const [index, container] of containers.entries()) {
            const { name } = container.subject;
            // The first container has no probes: its figure is what it spends in a second.
            cpu.add(name, ((spent[index] ?? 0) - (index === 0 ? 0 : idle)) / SECONDS);
            memory.add(name, privateOf(container));
            if (thingsOf(container) > (things[index] ?? 0) + SLACK)
              throw new Error(`${name} has left descriptors or processes`);
          }
        });
      }
    }
    const notes = [`${SECONDS} s with a probe every second, all three containers at the same time`];
    const references = [`sexton, ${KINDS[0]}`];
    return [
      { title: 'probes: CPU time of one probe', unit: 'ns', figures: cpu.figures(), notes },
      {
        title: 'probes: private memory behind them',
        unit: 'KiB',
        figures: memory.figures(),
        references,
        notes,
      },
    ];
  },
};

const SECONDS = 60;
/** Start-up, and the first probes, which load what all others use. */
const SETTLING_MS = 4_000;
/** A probe may be under way when it is counted. */
const SLACK = 6;
const KINDS = ['without probes', 'exec probe', 'http probe'] as const;

async function withProbe(subject: Subject, kind: (typeof KINDS)[number], ports: Map<string, number>): Promise<Subject> {
  const port = await freePort();
  const [program = '', ...rest] = subject.before;
  const probe = { 'without probes': [], 'exec probe': ['exec:/bin/true'], 'http probe': [`http://:${port}/`] }[kind];
  const flags = probe.flatMap((action) => ['--readiness', `${action},period=1s`]);
  const name = `${SEXTON_NAME}, ${kind}`;
  ports.set(name, port);
  // Without probes it would sleep: what is compared is a supervisor that is there.
  return { ...subject, name, before: [program, '--sleep-after', 'never', ...flags, ...rest] };
}

function serverOn(port: number): string {
  return `${IDLE}\nrequire('node:http').createServer((request, response) => response.end()).listen(${port}, '127.0.0.1');`;
}

function supervisorOf({ pid1 }: Container): number {
  const supervisor = childrenOf(pid1).find(isSupervisor);
  if (supervisor === undefined) throw new Error('cannot measure the supervisor: it is not there');
  return supervisor;
}

/** Nanoseconds. What was reaped is counted in whole ticks: proc_pid_stat(5). */
function cpuOf(container: Container): number {
  return ranOf(container.pid1) + ranOf(supervisorOf(container)) + reapedOf(container.pid1);
}

function reapedOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * NS_PER_TICK;
}

/** USER_HZ is 100 on Linux wherever this runs. */
const NS_PER_TICK = 1e7;

function privateOf(container: Container): number {
  return footprintOf(container.pid1).privateKb + footprintOf(supervisorOf(container)).privateKb;
}

/** Open descriptors of both programs, and processes. */
function thingsOf(container: Container): number {
  const descriptors = [container.pid1, supervisorOf(container)].map((pid) => footprintOf(pid).descriptors);
  return descriptors.reduce((sum, count) => sum + count, childrenOf(container.pid1).length);
}
