import { randomUUID } from 'node:crypto';
import { seal } from '@secrets/seal';
import { type LoggingHarness, simulatedStores } from '@secrets/sync-worker/testing';
import { notesKv } from '../description/notes-kv.ts';
import { notesKvDriver } from '../src/driver.ts';
import { serveNotes } from './serve-notes.ts';

/** The driver with the simulated store. */
export async function startHarness(canary: string): Promise<LoggingHarness> {
  const { notes, notesUrl, stop } = await serveNotes();
  const { accessToken } = notes.credentials;
  const { connectDriver, ...shared } = simulatedStores({
    stores: [notes],
    reads: /^(Find|List)/,
    refusals: {
      forbidden: { status: 403, code: 'NoAccess' },
      unauthenticated: { status: 401, code: 'InvalidToken' },
      scopeGone: { status: 404, code: 'FolderNotFound' },
    },
    canary,
    description: notesKv,
    destination: { settings: { folder: 'main' }, credentials: seal({ access_token: accessToken }) },
  });
  const held = (name: string) => notes.secrets().find((secret) => secret.name === name);
  /** Calls the API as another client. */
  const stranger = async (method: string, path: string, content: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    const body = method === 'GET' ? null : JSON.stringify(content);
    const response = await fetch(`${notesUrl}/v1/folders/main/notes${path}`, { method, headers, body });
    return response.json();
  };
  return {
    ...shared,
    connect: (over) => connectDriver(notesKvDriver({ endpointUrl: notesUrl }), over),
    freshName: () => `secrets_kv_1_${randomUUID().replaceAll('-', '')}`,
    async external(name) {
      const secret = held(name);
      return secret && { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
    plantForeign: async (name, text) =>
      void (await stranger('POST', '', { name, text, tags: { theirs: 'x' } })),
    async changeOutside(change, name) {
      const { note } = (await stranger('GET', `?name=${name}`, {})) as { note: { id: string } };
      const changes: Record<string, object> = {
        value: { text: 'theirs' },
        tags: { remove_tags: ['managed-by'] },
      };
      const content = changes[change];
      await stranger(content === undefined ? 'DELETE' : 'PATCH', `/${note.id}`, content ?? {});
    },
    stop,
  };
}
