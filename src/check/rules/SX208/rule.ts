import { hookLine, unended } from '../hooks.ts';
import { ofContainer } from '../rule.ts';

/** Orders to stop that return before the program has ended. */
const STOPS =
  /nginx\s+-s\s+quit|(apache2?ctl|httpd\s+-k)\s+(-k\s+)?graceful-stop|(^|[;&|\s])kill\s+(-s\s+\S+|-\S+)\s+1(\s|;|&|$)/;

export const rule = ofContainer({
  severity: 'warning',
  title: 'A preStop hook starts the stop itself and does not wait for its end',
  why: 'When the hook has returned the kubelet sends TERM at once, and the graceful stop that the hook began becomes a fast one.',
  remedy:
    'Let the hook wait until the program has ended, or declare the graceful signal as the stop signal in place of the hook.',
  *find({ container, stopSignal }) {
    const text = hookLine(container);
    if (text === undefined) return;
    const waits = /(^|[;&|\s])(wait|while|until|tail)(\s|$)/.test(text) || /sleep\s+\S+$/.test(unended(text));
    // Where the platform then sends the same signal the hook changes nothing.
    if (waits || !STOPS.test(text) || stopSignal === 'SIGQUIT') return;
    yield { at: container.preStop?.node, atMs: 0 };
  },
  say: () => 'the hook asks the program to stop and returns; TERM comes at once and cuts what is under way',
});
