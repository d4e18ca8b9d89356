/** Real programs: nginx, and haproxy in front of two of them. A command on haproxy's own socket takes one out. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { NO_NAMESPACES } from '../runtime/traffic/places.ts';
import { OTHER, POD } from './network.ts';

export const NGINX = '/usr/sbin/nginx';
export const HAPROXY = '/usr/sbin/haproxy';
export const PORT = 8080;

/** Why the experiment cannot be made here; false: it can. */
export function whatIsMissing(): string | false {
  if (NO_NAMESPACES !== false) return NO_NAMESPACES;
  const missing = [NGINX, HAPROXY].find((it) => !existsSync(it));
  return missing === undefined ? false : `${missing} is not installed (apt-get install nginx-light haproxy)`;
}

/** The command of an nginx with its home in `home`. */
export function nginxIn(home: string, name: string): readonly string[] {
  mkdirSync(join(home, 'www'), { recursive: true });
  writeFileSync(join(home, 'www', 'index.html'), 'x'.repeat(1_024));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((it) => `${it}_temp_path tmp-${it};`);
  const config = `user root; daemon off; worker_processes 1; pid nginx.pid; error_log error.log; events {}
http {
  ${temporary.join(' ')}
  access_log off;
  server { listen ${PORT}; root www; add_header Served-By ${name}; }
}`;
  writeFileSync(join(home, 'nginx.conf'), config);
  return [NGINX, '-p', home, '-c', join(home, 'nginx.conf')];
}

/**
 * No second try, which would hide what fails. The exception is a kept connection that the server closes while a request
 * is on its way. Every client tries again then (RFC 9110, 9.2.2), so haproxy may, once.
 */
export function haproxyIn(home: string, keepsAlive: boolean): readonly string[] {
  mkdirSync(home, { recursive: true });
  const config = `global
  stats socket ${socketIn(home)} mode 600 level admin
defaults
  mode http
  timeout connect 60s
  timeout client 60s
  timeout server 60s
  retries ${keepsAlive ? 1 : 0}
  ${keepsAlive ? 'retry-on empty-response' : ''}
frontend web
  bind 127.0.0.1:${PORT}
  default_backend servers
backend servers
  balance roundrobin
  http-reuse ${keepsAlive ? 'safe' : 'never'}
  server a ${POD}:${PORT}
  server b ${OTHER}:${PORT}
`;
  writeFileSync(join(home, 'haproxy.cfg'), config);
  return [HAPROXY, '-db', '-q', '-f', join(home, 'haproxy.cfg')];
}

/** From now on it sends no new request to server a. */
export function takeOut(home: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketIn(home), () => socket.end('set server servers/a state maint\n'));
    socket.once('error', reject);
    socket.once('close', () => resolve());
    socket.resume();
  });
}

function socketIn(home: string): string {
  return join(home, 'admin.sock');
}
