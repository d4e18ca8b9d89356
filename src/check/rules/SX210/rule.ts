import { shellOf } from '../../stop/images.ts';
import { hasSleep } from '../common.ts';
import { sleepInstead, sleepSeconds } from '../hooks.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'info',
  title: 'A hook runs sleep where the kubelet can wait itself',
  why: 'From Kubernetes 1.30 on preStop has sleep, which needs no program in the image and no process in the container.',
  remedy: 'Write sleep: {seconds: N}.',
  *find({ container, minor, images }) {
    const { preStop, image } = container;
    const seconds = sleepSeconds(container);
    if (!hasSleep(minor) || preStop === undefined || seconds === undefined) return;
    // SX207 says more.
    if (shellOf(image, images) !== 'none') yield { at: preStop.node, seconds };
  },
  say: ({ seconds }) => `the hook only sleeps; sleep: {seconds: ${seconds}} needs nothing of the image`,
  fix: (_, { pod, container }) => sleepInstead(pod, container),
});
