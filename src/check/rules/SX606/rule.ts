import { signalName, signalNumber } from '../../../core/signals.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'error',
  title: 'A STOPSIGNAL that stops nothing gracefully',
  why: 'KILL ends everything at once, STOP freezes it until KILL, and what is no signal makes the container fail to stop.',
  remedy: 'Write the signal on which the program ends gracefully, mostly SIGTERM.',
  *find({ stage: { stopSignal } }) {
    if (stopSignal === undefined || stopSignal.text.includes('$')) return;
    const number = signalNumber(stopSignal.text);
    const name = number === undefined ? undefined : signalName(number);
    if (name === undefined) yield { at: stopSignal, what: 'is no signal' };
    if (name === 'SIGKILL') yield { at: stopSignal, what: 'ends the program at once' };
    if (name === 'SIGSTOP') yield { at: stopSignal, what: 'freezes the program until KILL' };
  },
  say: ({ what }, { stage }) => `STOPSIGNAL ${stage.stopSignal?.text} ${what}`,
});
