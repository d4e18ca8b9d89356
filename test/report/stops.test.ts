/** A stop is what one request began: what each source says of the same members is one and the same stop. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import { readText } from '../../src/report/input.ts';
import { type PodStop, podsOf } from '../../src/report/stop.ts';
import { podText } from '../../src/report/text.ts';
import { chainLines, sentenceOf } from '../../src/report/words.ts';
import { at, BEGAN_MS, podOf } from './pods.ts';

interface Life {
  readonly role?: 'main' | 'sidecar';
  readonly asked?: readonly [second: number, why: string];
  readonly died: number;
  readonly more?: object;
}
type Lives = Readonly<Record<string, Life>>;

const GRACE = { GraceMs: 20_000 };
const KILLED = { ExitCode: 137, Signal: 'SIGKILL' };
const BY_TERM = { ExitCode: 143, Signal: 'SIGTERM' };

/** The line that a member writes to its termination log. */
function evidenceOf(name: string, { role = 'main', asked, died, more }: Life): object {
  const stop = asked && {
    StopReason: asked[1],
    StopRequested: at(asked[0] * 1_000),
    StopMs: (died - asked[0]) * 1_000,
  };
  const phases = asked && { ...GRACE, Phases: [{ Phase: 'ladder', Signal: 'SIGTERM', Ms: (died - asked[0]) * 1_000 }] };
  const life = { Version: 1, Name: name, Role: role, Session: 'uid-1', Reason: 'stopped', ExitCode: 0, Restarts: 0 };
  return { Summary: 'x', ...life, ...stop, ...phases, Born: at(-60_000), Died: at(died * 1_000), ...more };
}

function tombstoneOf(name: string, { role = 'main', asked, died, more = {} }: Life): Tombstone {
  const over = { Event: 'over', ...(asked && GRACE), ...more };
  const { ForcedBy: _, ContainerExitCode: __, ...end } = { ForcedBy: 0, ContainerExitCode: 0, ...more };
  const sent = asked === undefined ? [] : [{ At: at(asked[0] * 1_000), Event: 'signal sent', Signal: 'SIGTERM' }];
  const stopping = sent.map((entry) => ({ At: entry.At, Event: 'phase', Phase: 'stopping' }));
  const history = [
    { At: at(-60_000), Event: 'started' },
    ...[...sent, ...stopping],
    ...[
      { At: at(died * 1_000), Event: 'exited' },
      { At: at(died * 1_000), ...over },
    ],
  ];
  return {
    ...{ Version: 1, Name: name, Role: role, Session: 'uid-1', Boot: 'b', Restarts: 0, Final: true, Phase: 'dead' },
    ...{
      RestartPolicy: 'Never',
      Reason: 'stopped',
      ExitCode: 0,
      Born: at(-60_000),
      Died: at(died * 1_000),
      DiedMonotonic: 1e6 + died * 1_000,
    },
    ...(asked && { StopRequested: at(asked[0] * 1_000), StopReason: asked[1] }),
    ...end,
    History: history,
  } as unknown as Tombstone;
}

const SOURCES: Readonly<Record<string, (lives: Lives) => readonly string[]>> = {
  'a graveyard': (lives) => Object.entries(lives).map(([name, life]) => formatTombstone(tombstoneOf(name, life))),
  'a log': (lives) => [
    Object.entries(lives)
      .map(([name, life]) => JSON.stringify({ message: 'dead', evidence: evidenceOf(name, life) }))
      .join('\n'),
  ],
  'kubectl get': (lives) => {
    const messages = Object.entries(lives).map(([name, life]) => [name, evidenceOf(name, life)]);
    return [JSON.stringify(podOf('web-0', Object.fromEntries(messages)))];
  },
};

const STOPS: readonly (readonly [title: string, lives: Lives, sentence: string])[] = [
  [
    'a main that ends long after the stop of its sidecar has ended is no part of it',
    {
      main: { died: 12 },
      ship: { role: 'sidecar', asked: [0, 'signal TERM'], died: 0.1, more: { ...BY_TERM, ContainerExitCode: 0 } },
    },
    'graceful; ship: exit 0 (SIGTERM) 12 s before',
  ],
  [
    'the stop of a sidecar begins with its own request, and not with the end of the mains',
    {
      main: { died: -1 },
      ship: { role: 'sidecar', asked: [0, 'mains finished'], died: 20, more: { ...KILLED, ForcedBy: 'sexton' } },
    },
    'forced: ship by sexton, 20 s of 20 s; ship took 20 s to end after TERM',
  ],
  [
    'a main that crashed long before the stop of the others is no part of it',
    {
      main: { died: -6, more: { ExitCode: 3 } },
      ship: { role: 'sidecar', asked: [0, 'signal TERM'], died: 1, more: BY_TERM },
    },
    'failed: main (exit 3), 1.0 s of 20 s; main: exit 3 6.0 s before; ship took 1.0 s to end after TERM',
  ],
  [
    'a stop of one member that has ended is none of the pod',
    { main: { asked: [6, 'signal TERM'], died: 7 }, other: { asked: [0, 'request'], died: 0.1, more: BY_TERM } },
    'graceful, 1.0 s of 20 s; other: SIGTERM 5.9 s before; main took 1.0 s to end after TERM',
  ],
  [
    'containers that a platform asks one after the other within the grace period have one stop',
    { main: { asked: [15, 'signal TERM'], died: 16 }, other: { asked: [0, 'signal TERM'], died: 0.1 } },
    'graceful, 16 s of 20 s; main took 1.0 s to end after TERM',
  ],
];

describe('a stop', () => {
  for (const [title, lives, sentence] of STOPS)
    it(title, () => {
      const chains = Object.entries(SOURCES).map(([source, textsOf]) => {
        const pod = onlyPod(textsOf(lives));
        assert.equal(sentenceOf(pod), sentence, source);
        return chainLines(pod);
      });
      for (const chain of chains) assert.deepEqual(chain, chains[0]);
    });

  it('two restarts of different members are two, and the last one is reported', () => {
    const restarted = (name: string, second: number): string => {
      const event = (after: number, Event: string) => ({ At: at(second * 1_000 + after), Event, By: 'x' });
      const { Died, DiedMonotonic, Reason, ...alive } = tombstoneOf(name, { died: 99 });
      const History = [...[event(0, 'restart requested'), event(100, 'ended for a restart'), event(400, 'started')]];
      return formatTombstone({ ...alive, Phase: 'running', PodRestarts: 1, RestartBy: 'x', Final: false, History });
    };
    const pod = onlyPod([restarted('main', 0), restarted('ship', 8)]);
    assert.equal(
      sentenceOf(pod),
      'restart in place: graceful, 400 ms; main: exit 0, runs again 7.9 s before; restarted in place once, asked for by x',
    );
  });

  it('the row of a container that exits with another code than its command has both', () => {
    const [, lives = {}] = STOPS[0] ?? [];
    for (const textsOf of Object.values(SOURCES))
      assert.match(podText(onlyPod(textsOf(lives)), STYLE), /^ship \(sidecar\) .* exit 0 \(SIGTERM\)$/m);
  });

  it('the row of a main shows its end before the request to its sidecar', () => {
    const lives: Lives = { main: { died: -3 }, ship: { role: 'sidecar', asked: [0, 'mains finished'], died: 1 } };
    assert.match(podText(onlyPod(SOURCES['a log']?.(lives) ?? []), STYLE), /^main +\.+ .* exit 0$/m);
  });

  it('a pod whose source does not name it is called by its main', () => {
    const lives: Lives = { ship: { role: 'sidecar', died: 1 }, main: { died: 0 } };
    for (const source of ['a graveyard', 'a log'])
      assert.match(podText(onlyPod(SOURCES[source]?.(lives) ?? []), STYLE), /^pod of main \(session uid-1\): graceful/);
  });
});

const STYLE = { width: 100, colours: false, ascii: true };

function onlyPod(texts: readonly string[]): PodStop {
  const [pod, ...more] = podsOf(
    texts.flatMap((text) => readText(text, BEGAN_MS, () => undefined).members),
    BEGAN_MS + 60_000,
  );
  assert.ok(pod !== undefined && more.length === 0);
  return pod;
}
