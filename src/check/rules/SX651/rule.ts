import { setKey } from '../../edits.ts';
import { secondsText } from '../../stop/interval.ts';
import { longestStopOf } from '../../stop/plan.ts';
import { argvOfService } from '../../stop/started.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  severity: 'warning',
  title: 'The stop takes longer than stop_grace_period',
  why: 'Compose sends KILL after stop_grace_period, 10 s if the file does not say.',
  remedy: 'Raise stop_grace_period above the drain and what the program needs.',
  *find({ service, images }) {
    const argv = argvOfService(service, images);
    const longest = argv && longestStopOf(argv, service);
    if (longest === undefined || longest.ms <= service.graceMs) return;
    yield { at: service.graceAt, atMs: service.graceMs, longest };
  },
  say: ({ longest, atMs }) =>
    `${longest.by} takes up to ${secondsText(longest.ms)}, and KILL comes after ${secondsText(atMs)}`,
  fix: ({ longest }, { service: { source, node, graceAt } }) => {
    const seconds = `${Math.ceil(longest.ms / 1_000) + (longest.isGrace ? 0 : 10)}s`;
    return setKey(source, node, 'stop_grace_period', graceAt, seconds);
  },
});
