import { ordersOf } from '../../../src/core/orders.ts';
import { lastTurnMs } from '../../../src/core/pod/deadline.ts';
import type { Event } from '../../../src/core/state/events.ts';
import type { Child, RestartAsk } from '../../../src/core/state/state.ts';
import { alive, dead, instant } from '../helpers.ts';
import type { EventOf } from '../host.ts';
import type { Row } from './rows.ts';

export interface Column {
  readonly title: string;
  /** As few words as an arrow of the picture can carry. */
  readonly short: string;
  /** What happens, all in one moment; nothing: it cannot come in this state. */
  readonly events: (row: Row) => readonly Event[];
}

export interface Group {
  readonly title: string;
  readonly columns: readonly Column[];
}

export function restartAsked(requestedMs: number): EventOf {
  const ask: RestartAsk = { requestedMs, by: 'a test', graceMs: undefined, among: undefined, byRule: undefined };
  return { type: 'restartAsked', ask };
}

export const GROUPS: readonly Group[] = [
  {
    title: 'Requests',
    columns: [
      column('a stop request', 'stop request', ({ state }) => [signal(state.stop?.asked === undefined ? 15 : 2)]),
      column('the same stop signal again within 1 s', 'same signal', ({ state: { stop, now } }) =>
        stop?.asked === undefined || now.mono - stop.asked.atMs >= 1_000 ? [] : [signal(15)],
      ),
      column('a stop request that init has passed on by itself', 'stop request', ({ config, state }) => {
        const { id, rows } = ordersOf(config, state);
        const passed = { id, row: 'first', signal: 15, as: 15, senderPid: 0, receiverPid: 101 } as const;
        return rows.some(({ when }) => when === 'first') ? [{ type: 'ordered', ...passed }] : [];
      }),
      column('`sexton stop`', 'sexton stop', () => [{ type: 'stopAsked', graceMs: undefined, among: undefined }]),
      column('`sexton restart`', 'sexton restart', ({ state }) => [restartAsked(state.now.mono)]),
      column('another signal, HUP', 'another signal', () => [signal(1)]),
      column('a watched file has changed', 'file changed', () => [{ type: 'fileChanged', index: 0 }]),
      column('a new supervisor is there', 'new supervisor', () => [{ type: 'booted' }]),
    ],
  },
  {
    title: 'The child',
    columns: [
      ofChild('it was spawned', 'spawned', 'spawning', (id) => [{ type: 'spawned', id, pid: 101 }]),
      ofChild('it cannot be spawned', 'cannot be spawned', 'spawning', (id) => [
        { type: 'spawnFailed', id, errno: 'ENOENT' },
      ]),
      ofChild('it exited with 0, nothing is left', 'exit 0', 'alive', (id) => [
        exited(id, 0),
        { type: 'rootsGone', id },
      ]),
      ofChild('it exited with 1, nothing is left', 'exit 1', 'alive', (id) => [
        exited(id, 1),
        { type: 'rootsGone', id },
      ]),
      ofChild('it exited with 1, roots are left', 'exit 1', 'alive', (id) => [exited(id, 1)]),
      ofChild('it says `STOPPING=1`', 'STOPPING=1', 'alive', (id) => [
        { type: 'notified', id, dropped: 0, text: 'STOPPING=1' },
      ]),
      ofChild('it is silent for longer than its watchdog allows', 'silent', 'alive', (id) => [{ type: 'silent', id }]),
      ofChild('no root is left', 'roots gone', 'roots', (id) => [{ type: 'rootsGone', id }]),
    ],
  },
  {
    title: 'Actions, the others, time',
    columns: [
      column('its action has succeeded', 'action ok', (row) => taskEnded(row, true)),
      column('its action has failed', 'action failed', (row) => taskEnded(row, false)),
      { title: 'no connection has come for `quiet`', short: 'quiet', events: (row) => traffic(row, true) },
      { title: 'a connection has come', short: 'connection', events: (row) => traffic(row, false) },
      column('connections cannot be counted here', 'not counted', (row) =>
        row.state.traffic === undefined ? [] : [{ type: 'trafficUnavailable', why: 'it cannot be read' }],
      ),
      column('the others live', 'others live', () => [{ type: 'peersSeen', peers: [alive('db'), alive('work')] }]),
      column('one that was not asked says so', 'stopped alone', ({ state: { stop } }) =>
        stop?.asked === undefined
          ? []
          : [{ type: 'peersSeen', peers: [alive('work', { PodStopNotBefore: stop.atMs })] }],
      ),
      column('the mains have finished', 'mains finished', () => [{ type: 'peersSeen', peers: [dead('work', 0)] }]),
      {
        title: 'the next moment that it waits for',
        short: 'time',
        events: ({ wakeAtMs }) => (wakeAtMs === undefined ? [] : [{ type: 'ticked', at: instant(wakeAtMs) }]),
      },
      {
        title: '2 s before the deadline',
        short: '2 s before the deadline',
        events: ({ state }) =>
          state.deadline === undefined ? [] : [{ type: 'ticked', at: instant(lastTurnMs(state.deadline)) }],
      },
    ],
  },
];

/** Only a drain that waits for traffic hears of it. */
function traffic({ state, config }: Row, isQuiet: boolean): readonly Event[] {
  const { stop, now } = state;
  if (state.traffic === undefined || config.drain?.kind !== 'adaptive' || stop === undefined) return [];
  const at = instant(stop.atMs + config.drain.quietMs);
  return [
    {
      type: 'trafficSeen',
      at,
      lastMs: isQuiet ? now.mono : at.mono,
      connections: isQuiet ? 0 : 1,
      ignored: 0,
      byAddress: 0,
      open: undefined,
    },
  ];
}

function column(title: string, short: string, events: (row: Row) => readonly EventOf[]): Column {
  return { title, short, events: (row) => events(row).map((event) => ({ ...event, at: row.state.now }) as Event) };
}

function signal(number: number): EventOf {
  return { type: 'signal', signal: number, senderPid: 0, fromTerminal: false };
}

/** The events that can still come of a child that is in this state; those of an earlier one change nothing. */
function ofChild(title: string, short: string, is: Child['is'], events: (id: number) => readonly EventOf[]): Column {
  return column(title, short, ({ state: { child, births } }) => (child.is === is ? events(births) : []));
}

function exited(id: number, code: number): EventOf {
  return { type: 'exited', id, pid: 101, code, signal: undefined, core: false, oom: false };
}

function taskEnded({ state }: Row, ok: boolean): readonly EventOf[] {
  const task = state.tasks[0];
  return task === undefined ? [] : [{ type: 'taskEnded', id: task.id, ok, detail: '', output: '' }];
}
