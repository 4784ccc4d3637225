import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf } from '../../../../api/client.ts';
import { useApi } from '../../../../session/session.ts';
import { useSubmission } from '../../../../session/use-submission.ts';
import { readValues, type SecretRef } from '../../queries.ts';
import { type Draft, draftOf, emptyDraft } from './draft.ts';

interface Start {
  /** The newest version, 0 if there is none, undefined if the token may not know. */
  current: number | undefined;
  replaces: boolean;
}

/** The state of the form that writes a version. What is typed is in no cache, and forgotten once it is written. */
export function useWriting(secret: SecretRef, { current, replaces: replacesAtFirst }: Start) {
  const api = useApi();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [replaces, setReplaces] = useState(replacesAtFirst);
  const [checks, setChecks] = useState(true);
  const [written, setWritten] = useState<number>();
  const [writing, reading] = [useSubmission(), useSubmission()];

  const send = (data: Record<string, unknown>) => {
    const params = { path: { mount: secret.mount, path: secret.name } };
    const body = { data, ...(checks && current !== undefined && { options: { cas: current } }) };
    if (replaces) return api.POST('/v1/{mount}/data/{path}', { params, body });
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    return api.PATCH('/v1/{mount}/data/{path}', { params, body, headers });
  };
  const write = (data: Record<string, unknown>) =>
    writing.run(async () => {
      setWritten(undefined);
      const { version } = dataOf(await send(data));
      setDraft(emptyDraft);
      setWritten(version);
      await queries.invalidateQueries({ queryKey: ['secrets'] });
      await queries.invalidateQueries({ queryKey: ['sync', 'associations', 'of-secret'] });
    });
  const readNewest = () =>
    reading.run(async () => setDraft(draftOf(await readValues(api, secret), draft.form)));
  return {
    ...{ draft, setDraft, replaces, setReplaces, checks, setChecks, write, written, readNewest },
    isPending: writing.isPending,
    isReading: reading.isPending,
    error: writing.error ?? reading.error,
  };
}

export type Writing = ReturnType<typeof useWriting>;
