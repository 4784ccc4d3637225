import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, ifPresent } from '../../../../api/client.ts';
import { ApiProblem } from '../../../../api/problem.ts';
import { useApi } from '../../../../session/session.ts';
import { mayLeave, useUnsavedInput } from '../../../../session/unsaved-input.ts';
import { useSubmission } from '../../../../session/use-submission.ts';
import type { SecretRef } from '../../queries.ts';
import { type Base, noVersion, type Rights, readBase } from './base.ts';
import { type Draft, dataOfDraft, draftOf, emptyDraft } from './draft.ts';
import { mergeChanges } from './removed-keys.ts';

/** A version that is being written, and the version on which it is based. */
export interface EditorState {
  base: Base;
  draft: Draft;
  /** The draft before anything was entered. */
  initial: Draft;
  /** After another version was written: keys that it has changed, too. */
  contested?: readonly string[];
}

/** The state of the editor of a secret. What is typed is in no cache, and forgotten once it is written. */
export function useSecretEditor(secret: SecretRef, rights: Rights, exists: boolean) {
  const api = useApi();
  const queries = useQueryClient();
  const first = { base: noVersion, draft: emptyDraft, initial: emptyDraft };
  const [editing, setEditing] = useState<EditorState | undefined>(exists ? undefined : first);
  const [written, setWritten] = useState<number>();
  const { isPending, error, run } = useSubmission();
  useUnsavedInput(editing !== undefined && editing.draft !== editing.initial);

  const open = () =>
    run(async () => {
      const base = await readBase(api, secret, rights);
      setWritten(undefined);
      const draft = draftOf(base.values ?? {});
      setEditing({ base, draft, initial: draft });
    });
  const rebase = (from: EditorState) =>
    run(async () => setEditing(rebased(from, await readBase(api, secret, rights))));
  const params = { path: { mount: secret.mount, path: secret.name } };
  const replace = (data: Record<string, unknown>, cas: number | undefined) =>
    api.POST('/v1/{mount}/data/{path}', {
      params,
      body: { data, options: cas === undefined ? {} : { cas } },
    });
  const patch = (data: Record<string, unknown>, cas: number | undefined) =>
    api.PATCH('/v1/{mount}/data/{path}', {
      params,
      body: { data, options: cas === undefined ? {} : { cas } },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });
  const send = async ({ replaces, version }: Base, data: Record<string, unknown>) => {
    if (replaces) return replace(data, version);
    const answer = await ifPresent(patch(data, version));
    return answer ?? replace(data, 0); // It did not exist, which this token could not know.
  };
  const write = (base: Base, data: Record<string, unknown>) =>
    run(async () => {
      const { version } = dataOf(await send(base, data));
      setEditing(undefined);
      setWritten(version);
      // Not awaited: the next version can be begun while the page reads this one.
      void queries.invalidateQueries({ queryKey: ['secrets'] });
      void queries.invalidateQueries({ queryKey: ['sync', 'associations', 'of-secret'] });
    });
  const close = () => mayLeave('Discard what you have entered?') && setEditing(undefined);
  return { editing, setEditing, open, close, rebase, write, written, isPending, error };
}

export type SecretEditor = ReturnType<typeof useSecretEditor>;

/** Whether another version was written since the one that the write is based on. */
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiProblem && error.status === 400 && /check-and-set .*did not match/.test(error.message);

/** Bases what was typed on another version. */
function rebased({ base, draft, initial }: EditorState, newest: Base): EditorState {
  const mine = dataOfDraft(draft);
  if (typeof mine === 'string' || !base.values || !newest.values) return { base: newest, draft, initial };
  const { merged, contested } = mergeChanges(base.values, mine, newest.values);
  return { base: newest, draft: draftOf(merged, draft.form), initial, contested };
}
