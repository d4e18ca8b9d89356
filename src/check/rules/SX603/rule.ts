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
    const number = signalNumber(stopSignal?.text ?? '');
    if (stopSignal === undefined || graceful === undefined || number === undefined) return;
    if (graceful.preset === 'postgres' || signalNumber(graceful.signal) === number) return;
    yield { at: stopSignal, graceful, number };
  },
  say: ({ graceful: { preset, signal }, number }) =>
    `${preset} ends gracefully on SIG${signal}, and STOPSIGNAL is ${signalName(number)}`,
  fix: ({ at, graceful }, { stage }) => [replaceValue(stage.source, at, `SIG${graceful.signal}`)],
});
