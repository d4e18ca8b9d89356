/**
 * The idle check by HTTP: by the status alone, or by the sum of metrics. Unlike a probe it follows no redirect, and its
 * whole body counts, so node:http reads it. What has been read is not kept.
 */
import type { IncomingMessage } from 'node:http';
import type { GaugeAction } from '../../core/config.ts';
import { detailOf } from './detail.ts';
import { Exposition } from './exposition.ts';
import { connect } from './http.ts';
import { authorityOf, targetOf, USER_AGENT } from './request.ts';
import { type Attempt, NO_ANSWER, type Tell } from './tcp.ts';

export function attemptGauge({ call, metrics }: GaugeAction, tell: Tell): Attempt {
  const { request } = process.getBuiltinModule('node:http');
  const { method, path, headers } = call;
  const onResponse = (response: IncomingMessage): void => {
    const { statusCode = 0 } = response;
    const ok = statusCode >= 200 && statusCode <= 299;
    const detail = `status ${statusCode}`;
    // A server whose answer is cut off logs an error.
    if (metrics.length === 0) response.resume().on('end', () => tell(ok, detail));
    else if (ok) sumUp(response, new Exposition(metrics), tell);
    else tell(false, detail);
    response.on('error', (error) => tell(false, detailOf(error)));
    response.on('close', () => tell(false, NO_ANSWER));
  };
  const asking = request({
    method,
    path,
    headers: {
      host: authorityOf(call),
      'user-agent': USER_AGENT,
      accept: '*/*',
      connection: 'close',
      ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    },
    createConnection: () => connect(targetOf(call)),
  });
  asking.on('response', onResponse);
  asking.on('error', (error) => tell(false, detailOf(error)));
  asking.end();
  return { close: () => asking.destroy() };
}

function sumUp(response: IncomingMessage, exposition: Exposition, tell: Tell): void {
  // Without one of these an answer that breaks off looks like one that is complete.
  const { 'content-length': length, 'transfer-encoding': encoding } = response.headers;
  const isBounded = length !== undefined || encoding !== undefined;
  const isOpenMetrics = response.headers['content-type']?.startsWith('application/openmetrics-text') ?? false;
  response.on('data', (chunk: Buffer) => {
    exposition.take(chunk);
    if (exposition.problem !== undefined) tell(false, exposition.problem);
  });
  response.on('end', () => {
    const { problem, sum } = exposition.end(isBounded, isOpenMetrics);
    if (problem !== undefined) tell(false, problem);
    else tell(sum === 0, `${sum} running`, sum);
  });
}
