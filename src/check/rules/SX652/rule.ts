import { signalName, signalNumber } from '../../../core/signals.ts';
import { insertKey, replaceValue } from '../../edits.ts';
import { at } from '../../input/located.ts';
import { factsOfImage } from '../../stop/images.ts';
import { gracefulSignalOf } from '../../stop/plan.ts';
import { programOfService } from '../../stop/started.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  severity: 'warning',
  title: 'stop_signal is not the graceful one of the program',
  why: 'Compose stops the container with this signal, on which this program cuts its requests.',
  remedy: "Write the program's own graceful signal.",
  *find({ service, images }) {
    const { image, stopSignal } = service;
    const node = at(service.node, 'stop_signal');
    const graceful = gracefulSignalOf(programOfService(service, images), image);
    const known = factsOfImage(image, images);
    const inherited = known && (known.stopSignal ?? 'SIGTERM');
    const number = signalNumber((node === undefined ? inherited : stopSignal) ?? '');
    if (graceful === undefined || number === undefined || graceful.preset === 'postgres') return;
    if (signalNumber(graceful.signal) !== number) yield { at: node, node, graceful, number };
  },
  say: ({ node, graceful: { preset, signal }, number }) => {
    const what = node === undefined ? 'the image says' : 'stop_signal is';
    return `${preset} ends gracefully on SIG${signal}, and ${what} ${signalName(number)}`;
  },
  fix: ({ node, graceful: { signal } }, { service }) =>
    node === undefined
      ? insertKey(service.source, service.node, 'stop_signal', `SIG${signal}`)
      : [replaceValue(service.source, node, `SIG${signal}`)],
});
