/** Like `mutations.ts`, for the shell, which the simulator runs as it ships. */
import type { Mutation } from './mutations.ts';

export const SHELL_MUTATIONS: readonly Mutation[] = [
  {
    breaks: 'what is asked for during a write is written after it',
    file: 'runtime/graveyard/store.ts',
    from: '    this.#next ??= this.#running.then(() => {\n      this.#next = undefined;\n      return this.#schedule();\n    });\n    return this.#next;',
    to: '    return this.#running;',
  },
  {
    breaks: 'a write that has failed is tried again',
    file: 'runtime/graveyard/store.ts',
    from: "if (found === 'file' || found === 'unknown') return 'idle';",
    to: "if (found !== 'missing') return 'idle';",
  },
  {
    breaks: 'a tombstone that is gone is written again',
    file: 'runtime/graveyard/store.ts',
    from: "if (found === 'file' || found === 'unknown') return 'idle';",
    to: "if (found !== false) return 'idle';",
  },
  {
    breaks: 'on a full volume a text goes over the old one',
    file: 'runtime/graveyard/store.ts',
    from: 'const isWritten = ONLY_NEW_FILES.has(error.code) &&',
    to: 'const isWritten = error.code === undefined &&',
  },
  {
    breaks: 'the exit waits for the last tombstone',
    file: 'runtime/membership.ts',
    from: 'await Promise.all([this.#own.settle(), this.#graveyard?.settle()]);',
    to: 'await this.#graveyard?.settle();',
  },
  {
    breaks: 'who is woken knows which handles the one before held',
    file: 'runtime/membership.ts',
    from: '      ...(heldBefore !== undefined && { heldBefore }),\n',
    to: '',
  },
  {
    breaks: 'a request is for one life',
    file: 'runtime/graveyard/inbox.ts',
    from: 'if (isMeantFor(parsed.request, me)) onAsked',
    to: 'onAsked',
  },
  {
    breaks: 'a stop request is reported before it is removed',
    file: 'runtime/graveyard/inbox.ts',
    from: 'if (isMeantFor(parsed.request, me)) onAsked',
    to: 'if (isMeantFor(parsed.request, me) && parsed.request.Version === RESTART_VERSION) onAsked',
  },
  {
    breaks: 'everything is read once more when init watches',
    file: 'runtime/graveyard/graveyard.ts',
    from: '    await sleep(this.#options.clock.timers, MAX_TICK_MS);\n    await this.rescan();',
    to: '    await sleep(this.#options.clock.timers, MAX_TICK_MS);',
  },
  {
    breaks: 'init gets the handles that it is to watch',
    file: 'runtime/graveyard/file-events.ts',
    from: 'number: this.#order.number + 1, quiet, sockets }',
    to: 'number: this.#order.number + 1, quiet, sockets: [] }',
  },
  {
    breaks: 'a reflex is taken back with the state that it was made from',
    file: 'runtime/sleep/reflexes.ts',
    from: 'return [NO_ENDS, NO_MAINS];',
    to: 'return [];',
  },
  {
    breaks: 'init knows when the supervisor is due',
    file: 'runtime/supervisor.ts',
    from: "const due = this.#leaving ? [] : [{ type: 'due', atMs: wakeAtMs } as const];",
    to: "const due = this.#leaving || wakeAtMs !== undefined ? [] : [{ type: 'due', atMs: wakeAtMs } as const];",
  },
  {
    breaks: 'who was paused looks at the others before it acts',
    file: 'runtime/supervisor.ts',
    from: 'if (isLong || this.#state?.stop !== undefined) {',
    to: 'if (isLong && this.#state === undefined) {',
  },
  {
    breaks: 'what init tells late counts from when it happened',
    file: 'runtime/supervisor.ts',
    from: 'const at = instantAt(now, Math.min(event.at, now.mono));',
    to: 'const at = now;',
  },
  {
    breaks: 'the generation is known before anything is written',
    file: 'runtime/supervisor.ts',
    from: 'if (generation !== undefined) this.#dispatch',
    to: 'if (generation === null) this.#dispatch',
  },
  {
    breaks: 'the next supervisor knows that init holds its socket',
    file: 'runtime/supervisor.ts',
    from: 'this.#isHeld = resumed?.isHeld ?? false;',
    to: 'this.#isHeld = false;',
  },
  {
    breaks: 'what is known goes into the memo with the acknowledgement',
    file: 'runtime/supervisor.ts',
    from: 'memo: isNews ? memo : undefined, commands',
    to: 'memo: isNews && ack === undefined ? memo : undefined, commands',
  },
  {
    breaks: 'the effects of an event are carried out in their order',
    file: 'runtime/effects.ts',
    from: 'return { commands, afterCommit };',
    to: 'return { commands: commands.toReversed(), afterCommit };',
  },
  {
    breaks: 'the socket of an earlier life makes room for the own one',
    file: 'runtime/own-tombstone.ts',
    from: '    this.#isClear = await this.#removeSocket();\n    // Where',
    to: '    this.#isClear = true;\n    // Where',
  },
  {
    breaks: 'a socket that is gone is made again',
    file: 'runtime/own-tombstone.ts',
    from: 'if (isMissing && this.#trouble === undefined) this.#listen();',
    to: 'if (isMissing && this.#trouble !== undefined) this.#listen();',
  },
];
