/** What the supervisor orders and hears of the connections that its host holds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SystemClock } from '../../../src/runtime/clock.ts';
import { Contacts } from '../../../src/runtime/host/contacts.ts';
import type { HostCommand } from '../../../src/runtime/host/host.ts';

const [A, B] = ['/graveyard/.a.sock', '/graveyard/.b.sock'];

function laid(): { contacts: Contacts; orders: HostCommand[] } {
  const orders: HostCommand[] = [];
  return { contacts: new Contacts(new SystemClock(), (order) => orders.push(order)), orders };
}

function held(path: string): Parameters<Contacts['hear']>[0] {
  return { type: 'contact', path, errno: undefined };
}

describe('the connections that the host holds', () => {
  it('are ordered as a whole list whenever it changes', async () => {
    const { contacts, orders } = laid();
    const [first, second] = [contacts.connect(A), contacts.connect(B)];
    contacts.hear(held(A));
    contacts.hear({ type: 'contact', path: B, errno: 'ENOENT' });
    await assert.rejects(second, { code: 'ENOENT' });
    (await first).destroy();
    assert.deepEqual(
      orders.map((order) => order.type === 'connections' && order.paths),
      [[A], [A, B], [A], []],
    );
  });

  it('serve all who ask for the same socket, until the last hangs up', async () => {
    const { contacts, orders } = laid();
    const both = [contacts.connect(A), contacts.connect(A)];
    contacts.hear(held(A));
    const [first, second] = await Promise.all(both);
    const third = await contacts.connect(A);
    first?.destroy();
    second?.destroy();
    assert.equal(orders.length, 1);
    let isClosed = false;
    third.once('close', () => {
      isClosed = true;
    });
    contacts.hear({ type: 'contact', path: A, errno: 'EPIPE' });
    await setImmediate();
    assert.ok(isClosed);
    assert.equal(orders.length, 2);
  });

  it('are not mixed up with an earlier one to the same socket that ends late', async () => {
    const { contacts } = laid();
    const first = contacts.connect(A);
    contacts.hear(held(A));
    (await first).destroy();
    const second = contacts.connect(A);
    contacts.hear({ type: 'contact', path: A, errno: 'EPIPE' });
    contacts.hear(held(A));
    await second;
  });
});
