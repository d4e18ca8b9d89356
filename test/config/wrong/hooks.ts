/**
 * Wrong inputs: hooks, reloads and healthy gates, as flags and as variables.
 */

import { one } from './flags.ts';
import { SHELL } from './probes.ts';
import { DIR, type WrongInput } from './wrong.ts';

const HOOKS = 'exec:CMD, http://:8080/stop, "POST http://:8080/stop" or sleep:5s';

export function wrongHooks(): readonly WrongInput[] {
  return [
    one('a quit call to nobody', 'quit', 'isto', 'unknown sidecar isto; did you mean istio?'),
    one(
      'a quit call to an unknown sidecar',
      'quit',
      'zzz',
      'unknown sidecar zzz; write one of istio, linkerd, cloud-sql-proxy, dapr, vault-agent, envoy, consul-dataplane, or a URL',
    ),
    one('a quit call to no port', 'quit', 'istio:0', '0 is not a port; write a number from 1 to 65535'),
    one('a quit call by ftp', 'quit', 'ftp://x:1/', 'is not a quit call; write one such as http://127.0.0.1:8080/quit'),
    one('two quit calls to one', 'quit', 'istio,istio', 'istio is given twice; give it once'),
    one('a hook of no kind', 'pre-stop', 'nginx -s quit', `is not a hook; write one such as ${HOOKS}`),
    one('a hook by grpc', 'post-start', 'grpc://:80', `a hook cannot be grpc; write one such as ${HOOKS}`),
    one(
      'a hook that deletes',
      'pre-stop',
      'DELETE http://:80/',
      'DELETE is not possible for a hook; write GET or POST',
    ),
    one('a hook that posts a command', 'pre-stop', 'POST exec:up', 'POST goes before http:// only; leave it out'),
    one('a sleep without a unit', 'pre-stop', 'sleep:5', 'a duration needs a unit; write 5s or 5ms'),
    one(
      'a hook with a timeout',
      'pre-stop',
      'exec:up,timeout=5s',
      'timeout: a hook has no such option, its time is the grace period; leave it out (if it is part of the action: quote it)',
    ),
    {
      title: 'K18 a hook that sleeps as long as the grace period',
      argv: ['--pre-stop', 'sleep:30s', '--grace-period', '30s'],
      message:
        '--pre-stop sleep:30s: must be shorter than --grace-period 30s, or no time is left to stop; write a shorter sleep',
    },
    {
      title: 'K18 a hook and a drain that leave no time',
      argv: ['--pre-stop=sleep:20s', '--drain=15s', '--grace-period=30s'],
      message:
        '--pre-stop sleep:20s: takes 35s with --drain 15s, must be shorter than --grace-period 30s, or no time is left to stop; write a shorter sleep',
    },
    {
      title: 'K18 a ladder that is too long after a hook',
      argv: ['--stop=TERM:20s,KILL', '--pre-stop=sleep:15s', '--grace-period=30s'],
      message:
        '--stop TERM:20s,KILL: takes 35s with --pre-stop sleep:15s, longer than --grace-period 30s; shorten the rungs or raise both grace periods',
    },
    one('a reload without a signal', 'reload', '/etc/app', 'the signal is missing; write /etc/app=HUP'),
    one(
      'a reload of a relative path',
      'reload',
      'app.conf=HUP',
      'app.conf must be an absolute path; write one such as /etc/app.conf',
    ),
    one(
      'a reload by KILL',
      'reload',
      '/etc/app=KILL',
      'KILL makes no program read its files again; write one such as HUP',
    ),
    one('a reload by a signal that does not exist', 'reload', '/etc/app=HPU', 'HPU is not a signal; did you mean HUP?'),
    one(
      'a reload with a misspelt option',
      'reload',
      '/a=HUP,valdate=x',
      'valdate is not an option; only ,validate=COMMAND can follow the signal',
    ),
    one('a reload with a check that needs a shell', 'reload', '/a=HUP,validate=a&&b', `validate: & ${SHELL}`),
    {
      title: 'a reload twice',
      argv: ['--reload', '/a=HUP', '--reload', '/a=USR1'],
      message: '--reload: /a is named twice; name it once',
    },
    {
      title: 'the second of two reloads',
      argv: ['--reload', '/a=HUP', '--reload', '/b'],
      message: '--reload /b: the signal is missing; write /b=HUP',
    },
    {
      title: 'one of several reloads in a variable',
      argv: [],
      env: { SEXTON_RELOAD: '/a=HUP\n/b' },
      message: 'SEXTON_RELOAD="/a=HUP\\n/b": /b: the signal is missing; write /b=HUP',
    },
    {
      title: 'a member that waits for its own health',
      argv: ['--graveyard', `${DIR}/g`, '--name', 'web', '--start-after', 'db=started,web=healthy?'],
      message: '--start-after db=started,web=healthy?: web is this member itself; leave it out, or give another --name',
    },
    {
      title: 'a gate of health named twice',
      argv: ['--graveyard', `${DIR}/g`, '--start-after', 'db=started,db=healthy'],
      message: '--start-after db=started,db=healthy: db is named twice; name it once',
    },
    {
      title: 'a healthy gate without a graveyard',
      argv: ['--start-after', 'db=healthy'],
      message: '--start-after db=healthy: needs a graveyard; give --graveyard DIR, a volume that it shares with them',
    },
    {
      title: 'a gate on a member with the name of a sidecar, without a graveyard',
      argv: ['--start-after', 'envoy=healthy'],
      message:
        '--start-after envoy=healthy: needs a graveyard; give --graveyard DIR, a volume that it shares with them; where envoy runs without sexton write envoy=ready',
    },
    one(
      'ready of a member',
      'start-after',
      'db=ready',
      'ready is for sidecars without sexton (istio, linkerd, cloud-sql-proxy, dapr, vault-agent, envoy, consul-dataplane, or a URL); for the member db write healthy',
    ),
    one(
      'ready of a misspelt sidecar',
      'start-after',
      'istoi=ready',
      'unknown sidecar istoi; did you mean istio=ready?',
    ),
    one(
      'ready of a port of nobody',
      'start-after',
      'db:5432=ready',
      'unknown sidecar db; write one of istio, linkerd, cloud-sql-proxy, dapr, vault-agent, envoy, consul-dataplane, or a URL',
    ),
    one(
      'healthy of a port',
      'start-after',
      'istio:15021=healthy',
      'istio:15021=healthy: healthy is for members, which have no port and no URL; write istio:15021=ready',
    ),
    one(
      'started of a URL',
      'start-after',
      'http://:80/up=started?',
      'http://:80/up=started?: started is for members, which have no port and no URL; write http://:80/up=ready',
    ),
    one(
      'a URL without a condition',
      'start-after',
      'http://:80/up',
      'http://:80/up: it is not a start gate; write http://:80/up=ready',
    ),
    one(
      'ready of a URL without a port',
      'start-after',
      'http:///up=ready',
      'has no port; write one such as http://:8080/up',
    ),
    one(
      'ready of a gRPC server',
      'start-after',
      'grpc://:80=ready',
      'a readiness URL cannot be grpc; write one such as http://127.0.0.1:15021/healthz/ready=ready',
    ),
    one('ready of no port', 'start-after', 'istio:x=ready?', 'x is not a port; write a number from 1 to 65535'),
    one('ready twice', 'start-after', 'istio=ready,istio=ready?', 'istio is named twice; name it once'),
    one(
      'a gate on a sidecar without a condition',
      'start-after',
      'istio',
      'istio is not a start gate; write istio=ready, or of a member istio=started, istio=healthy or istio=completed',
    ),
    one('a misspelt health', 'start-after', 'db=helthy', 'helthy is not a condition; did you mean healthy?'),
  ];
}
