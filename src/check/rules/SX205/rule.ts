import { signalName, signalNumber } from '../../../core/signals.ts';
import { wordAt } from '../../stop/plan.ts';
import { withFlag } from '../common.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'error',
  title: 'The stop signal of the image is no stop request for sexton',
  why: 'The kubelet sends the STOPSIGNAL of the image. sexton passes a signal that is none of its --stop-signals on as any other: there is no drain, no order and no ladder.',
  remedy: 'Add the signal to --stop-signals, or let --stop auto do so.',
  *find({ container, sexton, member, stopSignal }) {
    const signal = signalNumber(stopSignal ?? '');
    if (member === undefined || signal === undefined || sexton?.unsure.has('stop-signals')) return;
    if (member.stopSignals.includes(signal)) return;
    yield { at: wordAt(container, 0), atMs: 0, all: [...member.stopSignals, signal].map(signalName) };
  },
  say: ({ all }) =>
    `the platform sends ${all.at(-1)}, which is no stop request for sexton; its drain and order are skipped`,
  fix: ({ all }, { pod, container }) =>
    withFlag(pod, container, '--stop-signals', all.map((name) => name.slice('SIG'.length)).join(',')),
});
