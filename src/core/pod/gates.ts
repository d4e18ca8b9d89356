/** Start gates: what this member waits for before its child starts. */
import type { MemberConfig, ReadyAction, StartGate } from '../config.ts';
import type { Tombstone } from '../format/tombstone.ts';
import type { Peer } from '../state/peer.ts';
import { RESTART, type State } from '../state/state.ts';
import { isPast, nextLookMs, peerNamed, STALE_AFTER_MS, standingOf, whyIgnored } from './standing.ts';

export type GateState =
  | { readonly is: 'open' }
  /** `waitsFor` names the reason in words. */
  | { readonly is: 'shut'; readonly waitsFor: string; readonly untilMs: number | undefined }
  /** It can never open. */
  | { readonly is: 'barred'; readonly why: string };

/** All gates together: the first barred one, else the first shut one, else open. */
export function gatesOf(config: MemberConfig, state: State): GateState {
  const members = config.startAfter.map((gate) => gateOf(config, state, gate));
  const others = config.startReady.map((action, index) => readyGateOf(state, action, index));
  const gates = [...members, ...others];
  return gates.find((gate) => gate.is === 'barred') ?? gates.find((gate) => gate.is === 'shut') ?? { is: 'open' };
}

function gateOf(config: MemberConfig, state: State, gate: StartGate): GateState {
  const peer = peerNamed(state, gate.name);
  const standing = standingOf(config, state, peer);
  const shut = (why: string, untilMs?: number): GateState => ({
    is: 'shut',
    waitsFor: `${gate.name}=${gate.condition} (${why})`,
    untilMs,
  });
  switch (standing.is) {
    case 'absent':
      return gate.optional ? { is: 'open' } : shut(whyAbsent(config, state, gate.name));
    case 'waiting':
      return shut('it waits itself');
    case 'alive':
      if (peer?.tombstone.StopReason === RESTART) return shut('it restarts in place');
      if (!isMet(gate.condition, peer?.tombstone)) return shut(NOT_YET[gate.condition]);
      return isPast(state, settledMs(peer))
        ? { is: 'open' }
        : shut('it is back, but its tombstone is still that of its previous life', nextLookMs(state, settledMs(peer)));
    case 'unsure':
      return shut(
        peer?.tombstone.Died === undefined
          ? 'it has vanished'
          : 'it was found dead, perhaps from an earlier life of this volume',
        standing.untilMs,
      );
    case 'dead':
      if (gate.condition === 'completed' && standing.succeeded && standing.started) return { is: 'open' };
      if (!standing.final) return shut('it died and will be restarted');
      return {
        is: 'barred',
        why: `${gate.name} is dead (${deathInWords(state, gate.name)}), so ${gate.name}=${gate.condition} cannot come true`,
      };
    default:
      return standing satisfies never;
  }
}

function whyAbsent(config: MemberConfig, state: State, name: string): string {
  const why = whyIgnored(config, state, name);
  return why === undefined ? `no member ${name} has been seen` : `the tombstone of ${name} is ${why}`;
}

/** Only its own answers tell about a process that is no member. It never bars the gate, as it may still start. */
function readyGateOf({ looks }: State, { name, call }: ReadyAction, index: number): GateState {
  const { ok, detail = 'no answer yet' } = looks[index] ?? {};
  if (ok) return { is: 'open' };
  const where = name.includes('://') ? '' : `http://${call.host}:${call.port}${call.path}: `;
  return { is: 'shut', waitsFor: `${name}=ready (${where}${detail})`, untilMs: undefined };
}

const NOT_YET: Readonly<Record<StartGate['condition'], string>> = {
  started: 'it has not started',
  healthy: 'it is not healthy',
  completed: 'it still runs',
};

/** Whether a living member meets the condition. The format of kubexit has no more than Born. */
function isMet(condition: StartGate['condition'], tombstone: Tombstone | undefined): boolean {
  const { Phase, Started, Healthy } = tombstone ?? {};
  if (condition === 'completed') return false;
  if (Phase === undefined) return true;
  const time = condition === 'healthy' ? Healthy : Started;
  return time !== undefined && Phase !== 'backoff' && Phase !== 'starting';
}

/** By when a peer whose socket is held again has written its tombstone, or proves to be in the same life. */
function settledMs(peer: Peer | undefined): number {
  return peer?.backMs === undefined ? 0 : peer.backMs + STALE_AFTER_MS;
}

function deathInWords(state: State, name: string): string {
  const tombstone = peerNamed(state, name)?.tombstone;
  if (tombstone?.Reason === 'never-started') return 'it was never started';
  return tombstone?.ExitCode === undefined ? 'exit code unknown' : `exit code ${tombstone.ExitCode}`;
}
