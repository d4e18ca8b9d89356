import { at } from '../../input/located.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'stopSignal on a cluster that may not know it',
  why: 'lifecycle.stopSignal is alpha from Kubernetes 1.33 on and off by default before 1.37: the field is dropped without a word, and the program gets the signal of its image.',
  remedy: 'Set STOPSIGNAL in the image as well, or switch the feature gate ContainerStopSignals on.',
  flags: ['--kubernetes-version', '1.35'],
  *find({ container, minor }) {
    const node = at(container.node, 'lifecycle', 'stopSignal');
    if (minor !== undefined && minor < 37 && node !== undefined) yield { at: node, minor };
  },
  say: ({ minor }) => `stopSignal has no effect on Kubernetes 1.${minor} unless the gate ContainerStopSignals is on`,
});
