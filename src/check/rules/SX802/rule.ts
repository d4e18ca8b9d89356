import { insertKey } from '../../edits.ts';
import { wordAt } from '../../stop/plan.ts';
import { UID } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: "A graveyard without the pod's uid",
  why: 'Without SEXTON_POD_UID sexton cannot tell tombstones of this pod from those that an earlier one left, and ignores a death that it finds at its start for 10 s.',
  remedy: 'Set SEXTON_POD_UID to metadata.uid by the downward API.',
  *find({ container, sexton, member }) {
    if (member === undefined || member.session !== undefined || member.solo || sexton?.unsure.has('session')) return;
    yield { at: wordAt(container, 0) };
  },
  say: () => 'uses a graveyard, and SEXTON_POD_UID is not set',
  fix: (_, { pod, container }) => insertKey(pod.source, container.node, 'env', [UID]),
});
