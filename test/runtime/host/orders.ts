/** The command `orders` for the contract of the hosts, with TERM and INT as stop requests. */
import type { Order } from '../../../src/core/orders.ts';
import { SIGINT, SIGTERM } from '../../../src/core/signals.ts';
import type { HostCommand } from '../../../src/runtime/host/host.ts';

export function orders(...rows: readonly Order[]): HostCommand {
  return { type: 'orders', id: 1, stopSignals: [SIGTERM, SIGINT], rows };
}
