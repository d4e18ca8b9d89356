import { itemsAt, wholeAt } from '../../input/located.ts';
import { referenceOf } from '../../stop/images.ts';
import type { ContainerView } from '../../stop/plan.ts';
import { flagAt, withFlag } from '../common.ts';
import { flagForMetrics, type IdleServer, idleServerOf } from '../idle.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'info',
  title: '--idle-when has a preset for this server',
  why: 'An inference server sends an answer for minutes without a new connection. A drain that does not ask it stops it in the middle.',
  remedy: 'Write --idle-when with the preset, and a grace period for the longest answer.',
  *find(one) {
    const { container, member } = one;
    const server = idleServerOf(one);
    if (member === undefined || server === undefined || member.idleWhen !== undefined) return;
    yield { at: flagAt(container, '--idle-when'), server, preset: `preset:${server.name}${portOf(one, server)}` };
  },
  say: ({ server, preset }, one) => {
    const flag = flagForMetrics(server, one);
    const needs = flag === undefined ? '' : `, which needs ${flag} for ${server.name}`;
    const instead = hasFixedDrain(one) ? ' in place of a fixed drain' : '';
    return `nothing asks ${server.name} whether it is idle before it is stopped; write --idle-when ${preset}${instead}${needs}`;
  },
  fix: ({ server, preset }, one) => {
    // sexton refuses it without a grace period or with a fixed drain, and without metrics it is always busy.
    const hasTime = one.member?.gracePeriodMs !== undefined && !hasFixedDrain(one);
    return hasTime && flagForMetrics(server, one) === undefined
      ? withFlag(one.pod, one.container, '--idle-when', preset)
      : [];
  },
});

function hasFixedDrain({ member }: ContainerView): boolean {
  return member?.drain?.kind === 'fixed';
}

/** By its own flag, else the only one that the container declares, else that of its image. */
function portOf({ programArgs, container }: ContainerView, server: IdleServer): string {
  const { node, image = '' } = container;
  const [, given] = /(?:^| )--port[ =](\d+)(?: |$)/.exec(programArgs.join(' ')) ?? [];
  const [declared, more] = itemsAt(node, 'ports');
  const only = more === undefined ? wholeAt(declared, 'containerPort') : undefined;
  const own = given ?? only ?? (server.image.test(referenceOf(image).repository) ? server.imagePort : undefined);
  return own === undefined || String(own) === String(server.port) ? '' : `:${own}`;
}
