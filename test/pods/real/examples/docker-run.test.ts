/** examples/docker-run: the lines of its README, by podman. Both base images become that of the tests. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../../../../examples/stage.ts';
import { NODE, ROOT } from '../../../helpers/paths.ts';
import { podman } from '../../../helpers/podman.ts';
import { sharedImages } from '../images.ts';

const run = promisify(execFile);
const images = sharedImages();
const README = readFileSync(join(ROOT, 'examples', 'docker-run', 'README.md'), 'utf8');
const LIMIT_MS = 120_000;

test('the README of docker-run serves a request after TERM, in its drain', async () => {
  const name = `sx-web-${randomBytes(4).toString('hex')}`;
  const [, lines = ''] = /<!-- the tests run these lines -->\n```sh\n(.*?)```/s.exec(README) ?? [];
  const [, shown = ''] = /\n\n```\n(.*?)```/s.exec(README) ?? [];
  const script = adapted(lines, name, await freePort());
  try {
    const { stdout } = await run('sh', ['-euc', script], { cwd: ROOT, timeout: LIMIT_MS });
    // What podman says besides: ids and names.
    const said = stdout.split('\n').filter((line) => /^(served|exit code .*)$/.test(line));
    assert.deepEqual(said, shown.trim().split('\n'), `${script}\n${stdout}`);
  } finally {
    await podman('rm', '--force', '--ignore', '--time=0', name);
    await podman('rmi', '--force', `localhost/${name}`);
  }
});

/**
 * Podman for docker, unique names, the images and the network of this machine, and no times that a slow machine could
 * miss. The drain goes on until the second request is served, and then ends by a second stop signal.
 */
function adapted(lines: string, name: string, port: number): string {
  const args = ['BASE', 'SEXTON'].map((key) => `--build-arg ${key}=${images().busybox}`).join(' ');
  const times = '--env SEXTON_DRAIN=10m --env SEXTON_GRACE_PERIOD=20m --stop-timeout 1200';
  const command = `httpd -f -p 127.0.0.1:${port} -h /www`;
  const logged = (text: string): string => `until docker logs ${name} 2>&1 | grep -q '${text}'; do sleep 0.1; done`;
  const changed = [
    ['docker build --tag web', `docker build --quiet --pull=never ${args} --tag localhost/${name}`],
    [
      '--name web --publish 8080:8080 --stop-timeout 30 web',
      `--name ${name} --network=host ${times} localhost/${name} ${command}`,
    ],
    ['curl http://127.0.0.1:8080/\n', `until served; do sleep 0.1; done\n`],
    ['sleep 2', logged('asked to stop')],
    ['curl http://127.0.0.1:8080/\n', `served\ndocker kill --signal INT ${name}\n`],
    ['docker stop web', `docker stop ${name}`],
    ["}}' web", `}}' ${name}`],
    ['docker rm web', `docker rm ${name}`],
  ].reduce((text, [from = '', to = '']) => {
    assert.ok(text.includes(from), `the README has no longer '${from}'`);
    return text.replace(from, () => to);
  }, lines);
  const ask = `fetch("http://127.0.0.1:${port}").then((it) => it.text()).then((it) => process.stdout.write(it), () => process.exit(1))`;
  return `docker() { podman "$@"; }\nserved() { '${NODE}' -e '${ask}'; }\n${changed}`;
}
