/**
 * Reload: a changed file is announced to the child by one signal for each change, after its validation if one is
 * declared. A child that does not run reads the new content when it starts.
 */
import { type Draft, note, say } from '../state/draft.ts';
import type { Event } from '../state/events.ts';
import type { Task } from '../state/state.ts';
import { sendSignal } from './stop/climb.ts';
import { beginTask, dropTask, indexOf, type Result } from './tasks.ts';

export function onFileChanged(draft: Draft, { index }: Event & { type: 'fileChanged' }): void {
  const reload = draft.config.reload[index];
  if (reload === undefined) return;
  note(draft, 'file changed', { Path: reload.path });
  if (reload.validate === undefined) return signalReload(draft, index);
  // The content that is being validated is outdated.
  dropTask(draft, `reload ${index}`);
  beginTask(draft, `reload ${index}`);
}

export function onValidated(draft: Draft, { key }: Task, { ok, detail, output }: Result): void {
  const index = indexOf(key);
  if (ok) return signalReload(draft, index);
  const path = draft.config.reload[index]?.path;
  note(draft, 'reload refused', { Path: path ?? '', Detail: detail });
  say(draft, 'error', `not telling the command that ${path} has changed: its validation failed`, { detail, output });
}

function signalReload(draft: Draft, index: number): void {
  const reload = draft.config.reload[index];
  if (reload === undefined || draft.state.child.is !== 'alive') return;
  say(draft, 'info', `${reload.path} has changed: telling the command`);
  sendSignal(draft, reload.signal);
}
