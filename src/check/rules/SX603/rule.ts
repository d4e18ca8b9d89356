import { signalName, signalNumber } from '../../../core/signals.ts';
import { replaceValue } from '../../edits.ts';
import { gracefulSignalOf } from '../../stop/plan.ts';
import { programOfStage } from '../../stop/started.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'warning',
  title: 'STOPSIGNAL is not the graceful one of the program',
  why: 'The platform stops the container with this signal, on which this program cuts its requests.',
  remedy: "Write the program's own graceful signal, or leave it to sexton with --stop auto.",
  *find({ stage, images }) {
    const { stopSignal, base } = stage;
    const graceful = gracefulSignalOf(programOfStage(stage, images), base);
    const gets = signalNumber(stopSignal?.text ?? '');
    if (stopSignal === undefined || graceful === undefined || gets === undefined) return;
    if (gets !== graceful.signal) yield { at: stopSignal, graceful, gets };
  },
  say: ({ graceful: { preset, signal }, gets }) =>
    `${preset} ends gracefully on ${signalName(signal)}, and STOPSIGNAL is ${signalName(gets)}`,
  fix: ({ at, graceful }, { stage }) => [replaceValue(stage.source, at, signalName(graceful.signal))],
});
