/**
 * Wrong inputs: command lines that cannot be read, and flags that are right alone and wrong together.
 */
import { DIR, type WrongInput } from './wrong.ts';

export function wrongCommandLines(): readonly WrongInput[] {
  return [
    {
      title: 'no command',
      argv: ['run', '--drain', '5s', '--'],
      whole: true,
      message: 'no command is given; write sexton [flags] -- COMMAND',
    },
    {
      title: 'an empty command',
      argv: ['--', ''],
      whole: true,
      message: 'empty command; write sexton [flags] -- COMMAND',
    },
    {
      title: 'settings that are too long to be kept',
      argv: ['--pre-stop', `exec:sh -c '${'x'.repeat(40_000)}'`],
      message: 'the settings take more than 32768 bytes; move long commands into scripts',
    },
    { title: 'a flag without a value', argv: ['--name'], message: '--name: needs a value; write --name NAME' },
    {
      title: 'a flag with an empty value',
      argv: ['--mains='],
      message: '--mains=: needs a value; write --mains NAME,..',
    },
    {
      title: 'a flag twice',
      argv: ['--drain', '5s', '--drain=9s'],
      message: '--drain 9s: --drain 5s was given before; give it once',
    },
    {
      title: 'a flag in camel case',
      argv: ['--gracePeriod', '30s'],
      message: 'unknown flag --gracePeriod; did you mean --grace-period?',
    },
    { title: 'a flag with one dash', argv: ['-drain', '5s'], message: 'unknown flag -drain; did you mean --drain?' },
    {
      title: 'D10 a flag that would deny another',
      argv: ['--no-drain'],
      message: 'unknown flag --no-drain; leave out --drain for its default: 0',
    },
    {
      title: 'D10 a flag that would deny another, whose default depends on the role',
      argv: ['--no-restart'],
      message: 'unknown flag --no-restart; leave out --restart for its default: main never, sidecar auto',
    },
    {
      title: 'a flag of another init',
      argv: ['-g'],
      message: 'unknown flag -g; see sexton help flags, or put -- before the command',
    },
  ];
}

/** Flags that are right alone and wrong together. */
export function wrongCombinations(): readonly WrongInput[] {
  const grave = ['--graveyard', `${DIR}/g`];
  return [
    {
      title: 'K18 a drain as long as the grace period',
      argv: ['--drain', '30s', '--grace-period', '30s'],
      message:
        '--drain 30s: must be shorter than --grace-period 30s, or no time is left to stop; write a shorter drain',
    },
    {
      title: 'C3 a grace floor beyond the grace period',
      argv: ['--grace-floor', '40s', '--grace-period', '30s'],
      message: '--grace-floor 40s: must not be longer than --grace-period 30s; write a shorter one, or leave it out',
    },
    {
      title: 'C3 a drain that never ends before the grace floor',
      argv: ['--drain', 'min=1s,quiet=10s,max=15s', '--grace-floor', '10s'],
      message:
        '--drain min=1s,quiet=10s,max=15s: must be shorter than --grace-floor 10s, by which it always ends; write a shorter drain',
    },
    {
      title: 'K18 a ladder longer than the grace period',
      argv: ['--stop', 'TERM:20s,INT:15s,KILL', '--grace-period', '30s'],
      message:
        '--stop TERM:20s,INT:15s,KILL: takes 35s, longer than --grace-period 30s; shorten the rungs or raise both grace periods',
    },
    {
      title: 'K18 a ladder that is too long after the drain',
      argv: ['--stop=TERM:20s,KILL', '--drain=15s', '--grace-period=30s'],
      message:
        '--stop TERM:20s,KILL: takes 35s with --drain 15s, longer than --grace-period 30s; shorten the rungs or raise both grace periods',
    },
    {
      title: 'a hold as long as the grace period',
      argv: ['--role', 'sidecar', ...grave, '--hold', '30s', '--grace-period', '30s'],
      message:
        '--hold 30s: must be shorter than --grace-period 30s, or it never ends in time; write a shorter hold, or always',
    },
    {
      title: 'a sidecar without a graveyard',
      argv: ['--role', 'sidecar'],
      message:
        '--role sidecar: a sidecar needs a graveyard; give --graveyard DIR, a volume that it shares with its mains',
    },
    {
      title: 'a start gate without a graveyard',
      argv: ['--start-after', 'db=started'],
      message: '--start-after db=started: needs a graveyard; give --graveyard DIR, a volume that it shares with them',
    },
    {
      title: 'a member that waits for itself',
      argv: [...grave, '--name', 'web', '--start-after', 'web=started'],
      message: '--start-after web=started: web is this member itself; leave it out, or give another --name',
    },
    {
      title: 'a sidecar in its own roster, by the name of its command',
      argv: [...grave, '--role', 'sidecar', '--mains', 'work,touch'],
      message: '--mains work,touch: touch is this sidecar itself; leave it out, or give another --name',
    },
    {
      title: 'a sidecar that starts after the end that stops it',
      argv: [...grave, '--role=sidecar', '--mains=work', '--start-after=work=completed'],
      message: '--start-after work=completed: work is also a main, whose end stops this sidecar; write work=started',
    },
    {
      title: 'a stop request that is dropped',
      argv: ['--signals', 'TERM:-'],
      message: '--signals TERM:-: drops TERM, which is a stop request; take TERM out of --stop-signals, or give --stop',
    },
    {
      title: 'a graveyard too deep for a socket',
      argv: ['--name', 'web', '--graveyard', `/${'deep/'.repeat(20)}g`],
      message: `--graveyard /${'deep/'.repeat(15)}deep...: the path of this member's socket in it has 112 bytes, at most 107 are possible; use a shorter one`,
    },
  ];
}
