import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'The preStop hook of a native sidecar runs at the beginning of the stop',
  why: 'All hooks start at once. A native sidecar gets TERM after the mains have ended, but its hook has run long before.',
  remedy: 'Leave the hook out: the order keeps the sidecar until the mains have ended.',
  *find({ container: { isNative, preStop } }) {
    if (isNative && preStop !== undefined) yield { at: preStop.node, atMs: 0 };
  },
  say: () => 'its hook runs at 0 s, while the mains still serve',
});
