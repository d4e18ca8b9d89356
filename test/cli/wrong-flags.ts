/**
 * Wrong inputs: one flag whose value is wrong in itself.
 */
import { NAME_RULE, type WrongInput } from './wrong.ts';

export function wrongFlags(): readonly WrongInput[] {
  return [
    one('a duration without a unit', 'drain', '5', 'a duration needs a unit; write 5s or 5ms'),
    one('a negative duration', 'linger', '-5s', 'a duration cannot be negative; write 0 or a time such as 30s'),
    one('a duration with a fraction', 'drain', '1.5s', 'not a duration; write 1s500ms'),
    one('a duration in words', 'grace-period', '30sec', 'not a duration; write 30s'),
    one('no duration at all', 'drain', 'soon', 'not a duration; write one such as 500ms, 30s or 1m30s'),
    one('a duration beyond all timers', 'drain', '1000h', 'longer than a timer can be; write at most 596h'),
    one(
      'a grace period beyond all timers',
      'grace-period',
      '999999m',
      'longer than a timer can be; write at most 596h',
    ),
    one(
      'a graveyard that Kubernetes did not expand',
      'graveyard',
      '/graves/$(POD)',
      "$(POD) was not expanded; declare that variable before this one in the Pod's env",
    ),
    one('a grace period of nothing', 'grace-period', '0', 'must be longer than 0; write a time such as 30s'),
    one('a role that does not exist', 'role', 'sidcar', 'not one of main, sidecar; did you mean sidecar?'),
    one('a policy in lowercase', 'restart-policy', 'never', 'not one of Never, OnFailure, Always; did you mean Never?'),
    one(
      'a restart mode with a capital',
      'restart',
      'Always',
      'not one of auto, never, on-failure, always; did you mean always?',
    ),
    one('K17 a name that leads out of the graveyard', 'name', '../x', `${NAME_RULE}; write x`),
    one('K17 two names for one member', 'name', 'x, main', `${NAME_RULE}; write x-main`),
    one('K17 a blank in a list of names', 'mains', 'x, main', `" main" is not a name: ${NAME_RULE}; write main`),
    one('a name twice', 'mains', 'a,b,a', 'a is named twice; name it once'),
    one('a relative graveyard', 'graveyard', './graves', 'not an absolute path; write /graves'),
    one('the root as graveyard', 'graveyard', '/', 'not the root itself; write a directory such as /graveyard'),
    one('a signal that does not exist', 'stop-signals', 'TREM', 'TREM is not a signal; did you mean TERM?'),
    one(
      'a signal that cannot be caught',
      'stop-signals',
      'TERM,KILL',
      'KILL cannot be caught, the kernel acts on it; leave it out',
    ),
    one('none beside a signal', 'stop-signals', 'none,TERM', 'none stands alone; write none or the signals'),
    one(
      'a translation without a target',
      'signals',
      'TERM',
      'TERM is not a translation; write TERM:QUIT, or TERM:- to drop it',
    ),
    one('a translation with an equals sign', 'signals', 'TERM=QUIT', 'TERM=QUIT is not a translation; write TERM:QUIT'),
    one('a signal translated twice', 'signals', 'TERM:QUIT,15:INT', 'TERM is translated twice; translate it once'),
    one('KILL before the end of the ladder', 'stop', 'KILL,TERM:5s', 'KILL ends the ladder; put it last'),
    one('KILL with a time', 'stop', 'TERM:5s,KILL:5s', 'KILL takes no time, nothing can follow it; write KILL'),
    one(
      'a rung that never ends',
      'stop',
      'TERM,KILL',
      'TERM has no time, so what follows it never comes; write TERM:20s',
    ),
    one('a rung without a unit', 'stop', 'TERM:20,KILL', 'TERM:20: a duration needs a unit; write 20s or 20ms'),
    one('a preset that does not exist', 'stop', 'preset:ngnix', 'there is no preset ngnix; did you mean preset:nginx?'),
    one(
      'a drain that ends too early to be quiet',
      'drain',
      'quiet=20s',
      'max=15s is shorter than quiet=20s; write a longer max',
    ),
    one('a drain with a number for a time', 'drain', 'min=1', 'min: a duration needs a unit; write 1s or 1ms'),
    one(
      'a drain with a time beside its options',
      'drain',
      '5s,inflight',
      '5s is no option of a drain; a time of its own stands alone, or write min=1s,quiet=2s,max=15s',
    ),
    one(
      'a drain with an option that does not exist',
      'drain',
      'quite=2s',
      'quite is no option of a drain; did you mean quiet?',
    ),
    one('a drain with an option twice', 'drain', 'max=5s,max=9s', 'max is there twice; leave one of them out'),
    one(
      'a drain with a port that cannot be',
      'drain',
      'ports=8080,84430',
      'ports: 84430 is no port; write a number from 1 to 65535',
    ),
    one('a drain with a port twice', 'drain', 'ports=80,80', '80 is named twice; name it once'),
    one(
      'a drain with a name for an address',
      'drain',
      'ignore=node1',
      'ignore: node1 is no address and no network; write one such as 10.1.2.3 or 10.0.0.0/8',
    ),
    one(
      'a drain with a network that is too narrow',
      'drain',
      'ignore=10.0.0.0/33',
      'ignore: 10.0.0.0/33: a network of IPv4 has 0 to 32 bits; write 10.0.0.0/16',
    ),
    one(
      'a drain with an address that was not expanded',
      'drain',
      'ignore=$(HOST_IP)',
      "$(HOST_IP) was not expanded; declare that variable before this one in the Pod's env",
    ),
    one(
      'a drain with a rate of nothing',
      'drain',
      'unseen=0/s',
      'unseen: not so many in a time; write one such as 1/2s',
    ),
    one('a drain with an empty part', 'drain', 'min=1s,', 'a part of it is empty; write min=1s,quiet=2s,max=15s'),
    one('a drain in other words', 'drain', 'in-flight', 'not a drain; did you mean inflight?'),
    one(
      'a gate without a condition',
      'start-after',
      'proxy',
      'proxy is not a start gate; write proxy=started, proxy=healthy or proxy=completed',
    ),
    one(
      'a condition in the words of others',
      'start-after',
      'proxy=service_healthy?',
      'service_healthy is not a condition; did you mean healthy?',
    ),
    one('a misspelt condition', 'start-after', 'db=complete', 'complete is not a condition; did you mean completed?'),
    one('an exit code with a colon', 'exit-code', '143:0', '143:0 does not map one code to another; write 143=0'),
    one('an exit code beyond 255', 'exit-code', '256=0', '256 is no exit code; write one from 0 to 255'),
    one(
      'an unknown exit code policy',
      'exit-code',
      'zero',
      'not keep, zero-when-stopped or a map such as 143=0; did you mean zero-when-stopped?',
    ),
    one('a hold of no time', 'hold', '0', 'a hold of no time is none; write never'),
    one(
      'a log level of another tool',
      'log-level',
      'warning',
      'not one of debug, info, warn, error, silent; did you mean warn?',
    ),
    one(
      'a session with a blank',
      'session',
      'my pod',
      "letters, digits, '-', '_' and '.' only, at most 128; write the pod's uid",
      '"my pod"',
    ),
    one(
      'a reference that Kubernetes did not expand',
      'session',
      '$(POD_UID)',
      "$(POD_UID) was not expanded; declare that variable before this one in the Pod's env",
    ),
  ];
}

export function one(
  title: string,
  flag: string,
  value: string,
  why: string,
  shown = /[\s]/.test(value) ? JSON.stringify(value) : value,
): WrongInput {
  return { title, argv: [`--${flag}`, value], message: `--${flag} ${shown}: ${why}` };
}
