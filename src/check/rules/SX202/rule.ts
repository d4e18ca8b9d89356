import { presetNamed } from '../../../config/notation/stop/stop-presets.ts';
import { ladderOf } from '../../../core/ladder.ts';
import { SIGTERM, signalName, signalNumber } from '../../../core/signals.ts';
import { at } from '../../input/located.ts';
import { gracefulSignalOf, wordAt } from '../../stop/plan.ts';
import { ofContainer } from '../rule.ts';

export const rule = ofContainer({
  severity: 'warning',
  title: 'The program cuts its requests on the signal that it gets',
  why: 'Some servers end at once on TERM and gracefully on another signal. The kubelet sends the STOPSIGNAL of the image, else TERM.',
  remedy: 'Declare the signal: STOPSIGNAL in the image, lifecycle.stopSignal in the pod, or sexton with --stop auto.',
  *find({ container, stopSignal, member, programArgs, program, stop, graceMs }) {
    const graceful = gracefulSignalOf(program, container.image);
    const signal = signalNumber(stopSignal ?? '');
    if (graceful === undefined || signal === undefined) return;
    const gets = member === undefined ? signal : (ladderOf(member, signal)[0].signal ?? SIGTERM);
    const { node } = container;
    const place = at(node, 'lifecycle', 'stopSignal') ?? wordAt(container, 0) ?? at(node, 'image');
    const common = { at: place, atMs: stop.told.minMs };
    const warning = presetNamed(graceful.preset).warning?.({ args: programArgs, beforeMs: 0, budgetMs: graceMs });
    const cuts = `${program} gets ${signalName(gets)}, on which it cuts its requests`;
    if (gets !== graceful.signal)
      yield { ...common, what: `${cuts}; it ends gracefully on ${signalName(graceful.signal)}` };
    else if (graceful.preset === 'uwsgi' && warning !== undefined) yield { ...common, what: warning };
  },
  say: ({ what }) => what,
});
