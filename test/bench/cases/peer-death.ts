/**
 * KILL of a main's whole container: when a sidecar in another container and under another uid knows, and when its
 * application is asked to stop. In PID namespaces, and in containers of podman where it can run some.
 */
import { buildImages, type Images } from '../../../docker/build.ts';
import { buildFixtures } from '../../helpers/fixture.ts';
import { podman } from '../../helpers/podman.ts';
import { type Death, deathInNamespaces, deathInPodman } from '../../scale/death.ts';
import { type Case, type Measurement, Samples } from '../measurement.ts';

export const peerDeath: Case = {
  name: 'peer-death',
  rounds: 100,
  isLong: true,
  async run({ rounds }) {
    const books: Books = { known: new Samples([]), stopped: new Samples([]) };
    for (let done = 0; done < rounds; done += AT_ONCE) {
      const batch = Array.from({ length: Math.min(AT_ONCE, rounds - done) }, deathInNamespaces);
      for (const death of await Promise.all(batch)) note(books, 'namespaces', death);
    }
    const images = await imagesIfAny();
    try {
      for (let round = 0; images !== undefined && round < rounds; round++)
        note(books, 'containers', await deathInPodman(images.bare));
    } finally {
      await images?.remove();
    }
    return [
      table('the sidecar knows (the connection to the handle of the main is closed)', books.known),
      table('the application of the sidecar has its TERM', books.stopped),
    ];
  },
};

interface Books {
  readonly known: Samples;
  readonly stopped: Samples;
}

function note({ known, stopped }: Books, engine: string, { knownMs, stoppedMs }: Death): void {
  known.add(engine, knownMs * NS_PER_MS);
  stopped.add(engine, stoppedMs * NS_PER_MS);
}

function table(what: string, samples: Samples): Measurement {
  const figures = samples.figures();
  return {
    title: `peer-death: from KILL of PID 1 of the main until ${what}`,
    unit: 'ns',
    figures,
    notes: figures.map(
      ({ subject, samples: all }) => `${subject}: worst ${(Math.max(...all) / NS_PER_MS).toFixed(1)} ms`,
    ),
  };
}

async function imagesIfAny(): Promise<Images | undefined> {
  const hasPodman = await podman('info').then(
    () => true,
    () => false,
  );
  return hasPodman ? buildImages((await buildFixtures()).member) : undefined;
}

const AT_ONCE = 4;
const NS_PER_MS = 1e6;
