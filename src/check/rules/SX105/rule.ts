import { namedAt } from '../../input/objects.ts';
import { balancerOf } from '../common.ts';
import { ofWorkload } from '../rule.ts';

export const rule = ofWorkload({
  severity: 'info',
  title: 'Behind a Service with a grace period of less than 10 s',
  why: 'Endpoints and balancers take some seconds to leave a pod out, and requests that are under way need time as well.',
  remedy: 'Raise terminationGracePeriodSeconds, unless all requests are short and clients try again.',
  *find(about) {
    const { graceAt, graceSeconds } = about.pod;
    if (graceAt === undefined || graceSeconds < 2 || graceSeconds >= 10) return;
    const balancer = balancerOf(about);
    if (balancer !== undefined) yield { at: graceAt, atMs: graceSeconds * 1_000, balancer };
  },
  say: ({ balancer }, { pod }) =>
    `a grace period of ${pod.graceSeconds} s behind ${namedAt(balancer)} leaves little for requests that are under way`,
});
