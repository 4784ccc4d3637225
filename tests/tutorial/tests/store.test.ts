import { expect, test } from '@jest/globals';
import { simulateNotes } from '../store/simulate-notes.ts';
import { serveNotes } from './serve-notes.ts';

test('notes survive a restart, from the records of the changes and from a snapshot', async () => {
  const records: object[] = [];
  const { notes, notesUrl, stop } = await serveNotes((record) => records.push(record));
  const call = async (method: string, path: string, content?: object) => {
    const headers = {
      authorization: `Bearer ${notes.credentials.accessToken}`,
      'content-type': 'application/json',
    };
    const body = content === undefined ? null : JSON.stringify(content);
    const response = await fetch(`${notesUrl}/v1/folders/main/notes${path}`, { method, headers, body });
    return [response.status, await response.json()] as [number, { id: string; code: string }];
  };
  const note = { name: 'kept', text: 'one', tags: { team: 'a' } };
  const [, { id }] = await call('POST', '', note);
  const [, gone] = await call('POST', '', { ...note, name: 'gone' });
  expect(await call('POST', '', note)).toMatchObject([409, { code: 'NoteExists' }]);
  expect(await call('POST', '', { ...note, name: 'not valid' })).toMatchObject([
    400,
    { code: 'InvalidNote' },
  ]);
  await call('PATCH', `/${id}`, { text: 'two', remove_tags: ['team'] });
  await call('DELETE', `/${gone.id}`);
  await stop();
  expect(notes.secrets()).toMatchObject([{ name: 'kept', value: 'two', tags: {}, version_count: 2 }]);
  for (const journal of [records, [...notes.snapshot()]]) {
    const restarted = simulateNotes({ seed: 'sandbox', now: Date.now, persist: () => {} });
    for (const record of journal) restarted.replay(record);
    expect(restarted.secrets()).toEqual(notes.secrets());
  }
});
