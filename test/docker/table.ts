/**
 * `node test/docker/table.ts [ROUNDS]` measures what each way of delivery costs in each kind of image. It prints the
 * image's size, the bytes that are copied when a pod starts, and the time from `podman start` to the application's
 * first instruction. Both ends of that time are read from one clock, and times are medians. The first row of a kind is
 * the same container without sexton.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatTable } from '../../src/text/table.ts';
import { podman } from '../helpers/podman.ts';
import { buildDeliveryImages, TARGETS } from './images.ts';
import { type Delivered, deliver, installTo, WAYS, waysInto } from './ways.ts';

interface Subject {
  readonly cells: readonly string[];
  readonly delivered: Delivered | undefined;
  readonly image: string;
  readonly startMs: number[];
}

const MIB = 1 << 20;
const rounds = Number(process.argv[2] ?? 9);
const dir = await mkdtemp(join(tmpdir(), 'sx-table-'));
await chmod(dir, 0o777);
tell('building the images');
const images = await buildDeliveryImages();
try {
  const volume = join(dir, 'sexton');
  const installMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    tell(`installing, ${round + 1} of ${rounds}`);
    await rm(volume, { recursive: true, force: true });
    const began = performance.now();
    const said = await installTo(volume, images.sexton);
    installMs.push(performance.now() - began);
    if (round === 0) process.stdout.write(`${said}\n`);
  }
  process.stdout.write(`install with its container, podman run to its end: ${median(installMs)} ms\n\n`);
  const subjects = (await Promise.all(TARGETS.map(subjectsOf))).flat();
  // One more round first, which finds cold caches.
  for (let round = 0; round <= rounds; round += 1) {
    tell(`starting ${subjects.length} containers, round ${round} of ${rounds}`);
    for (const subject of subjects) {
      const took = await measure(subject);
      if (round > 0) subject.startMs.push(took);
    }
  }
  const rows = subjects.map(({ cells, startMs }) => [...cells, median(startMs)]);
  process.stdout.write(formatTable(['IMAGE', 'WAY', 'IMAGE MiB', 'COPIED MiB', 'START ms'], rows, 120));

  async function subjectsOf(target: (typeof TARGETS)[number]): Promise<Subject[]> {
    const image = images.targets[target];
    const none = {
      cells: [target, 'without sexton', await sizeOf(image), '0'],
      delivered: undefined,
      image,
      startMs: [],
    };
    const with_ = waysInto(target).map(async (way): Promise<Subject> => {
      const delivered = deliver(way, target, images, volume);
      const copied = way === 'init' ? await sizeOf(images.sexton) : '0';
      return {
        cells: [target, WAYS[way], await sizeOf(delivered.image), copied],
        delivered,
        image: delivered.image,
        startMs: [],
      };
    });
    return [none, ...(await Promise.all(with_))];
  }
} finally {
  await images.remove();
  await rm(dir, { recursive: true, force: true });
}

/** How far it is, apart from the table. */
function tell(what: string): void {
  process.stderr.write(`bench:delivery: ${what}\n`);
}

async function measure({ delivered, image }: Subject): Promise<number> {
  const log = join(dir, 'events');
  await writeFile(log, '');
  const program = delivered === undefined ? [] : [delivered.program, 'run', '--'];
  const [first = '', ...rest] = [...program, '/member', 'name=app', `log=${log}`, 'run=1'];
  const options = ['--network=none', `--volume=${dir}:${dir}`, ...(delivered?.options ?? [])];
  const container = await podman('create', ...options, `--entrypoint=${JSON.stringify([first])}`, image, ...rest);
  try {
    const beganMs = Number(process.hrtime.bigint()) / 1e6;
    await podman('start', container);
    await podman('wait', container);
    return Number((await readFile(log, 'utf8')).split(' ')[0]) - beganMs;
  } finally {
    await podman('rm', '--force', '--time=0', container);
  }
}

async function sizeOf(image: string): Promise<string> {
  return (Number(await podman('image', 'inspect', '--format={{.Size}}', image)) / MIB).toFixed(1);
}

function median(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(0);
}
