import { randomUUID } from 'node:crypto';
import type { SettingsOf } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { seal } from '@secrets/seal';
import {
  belongingOf,
  belongsTo,
  hasCode,
  type InspectRequest,
  type ListPage,
  type Look,
  marksOf,
  type OwnedSecret,
  type Owner,
  type PutRequest,
  type ReleaseRequest,
  type RemoveRequest,
  rememberedOf,
  requireWritable,
  tagChanges,
  tagsOf,
} from '@secrets/sync-worker';
import { z } from 'zod';
import type { notesKv } from '../description/notes-kv.ts';
import type { Note, NotesApi } from './notes-api.ts';

/** Dependencies of a put or a removal. */
export interface Store {
  api: NotesApi;
  owner: Owner;
  /** Aborts the put or the removal. */
  signal: AbortSignal;
  settings: Pick<SettingsOf<typeof notesKv.fields>, 'custom_tags'>;
}

const Remembered = z.object({ name: z.string(), id: z.string(), tags: z.record(z.string(), z.string()) });

/** Stored about a note between two puts. `tags` are those that the last put set. */
type Remembered = z.infer<typeof Remembered>;

/** Undefined for the first put, and after the external name has changed. */
const parseRemembered = (request: RemoveRequest): Remembered | undefined => rememberedOf(Remembered, request);

/** All tags that the notes of a destination have. */
const wantedTags = ({ settings, owner }: Store) => tagsOf(settings.custom_tags, owner);

/** Reconciles the note with the value and the tags. */
export async function putNote(store: Store, request: PutRequest): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known === undefined) return createOrAdopt(store, request);
  try {
    return await update(store, request, known);
  } catch (error) {
    if (!hasCode(error, 'NoSuchNote')) throw error;
    return createOrAdopt(store, request);
  }
}

/** Creates the note first: the provider decides whether the name is free. */
async function createOrAdopt(store: Store, request: PutRequest): Promise<Remembered> {
  const { api, signal } = store;
  const tags = wantedTags(store);
  const { externalName: name, value, idempotencyToken: idempotencyKey } = request;
  const text = value.reveal();
  try {
    const { id } = await api.create({ name, text, tags, idempotencyKey }, signal);
    return { name, id, tags };
  } catch (error) {
    if (!hasCode(error, 'NoteExists')) throw error;
  }
  const found = await api.find(name, signal);
  if (found === undefined) throw notShown(name);
  requireWritable(store.owner, owned(request, found, undefined), request.overwrite);
  try {
    await api.change(found.id, { text, setTags: tags, removeTags: [], idempotencyKey }, signal);
  } catch (error) {
    throw hasCode(error, 'NoSuchNote') ? notShown(name) : error;
  }
  return { name, id: found.id, tags };
}

const notShown = (name: string) =>
  new Fault('not_ready', `${JSON.stringify(name)} was just created or removed`);

/** Updates the note that the last put has written. Makes no call if nothing has changed. */
async function update(store: Store, request: PutRequest, known: Remembered): Promise<Remembered> {
  const { api, owner, signal } = store;
  const wanted = wantedTags(store);
  const { externalName: name, idempotencyToken: idempotencyKey, overwrite } = request;
  const isChange = changesOf(wanted, known.tags, known.tags).areNeeded;
  // A change of tags alone looks, too: it must not hide a text that somebody else has written.
  const looks = request.verify || (isChange && !request.valueChanged);
  const found = looks ? await api.find(name, signal) : undefined;
  // A note with another ID, or none, may be older than the last put: the write by ID decides.
  const shown = found?.id === known.id ? found : undefined;
  if (shown !== undefined) requireWritable(owner, owned(request, shown, known), overwrite);
  const text = isWritten({ ...request, verify: looks }, shown) ? request.value.reveal() : undefined;
  const changes = changesOf(wanted, known.tags, shown?.tags ?? known.tags);
  if (text === undefined && !changes.areNeeded) return { name, id: known.id, tags: wanted };
  const now = await api.change(known.id, { text, ...changes, idempotencyKey }, signal);
  requireWritable(owner, owned(request, now, known), overwrite);
  const left = changesOf(wanted, wanted, now.tags);
  if (left.areNeeded) await api.change(known.id, { ...left, idempotencyKey }, signal);
  return { name, id: known.id, tags: wanted };
}

/** Whether to write the text. A read that shows the value of an earlier put must not prevent it. */
const isWritten = ({ value, valueChanged, verify }: PutRequest, shown: Note | undefined): boolean =>
  valueChanged || (verify && shown?.text !== value.reveal());

/** Compares the wanted tags with those that the last put set, and with those that are shown, which may be older. */
function changesOf(
  wanted: Record<string, string>,
  ours: Record<string, string>,
  present: Record<string, string>,
) {
  const sinceLastPut = tagChanges({ wanted, present: ours, ours });
  const shown = tagChanges({ wanted, present, ours });
  const setTags = { ...sinceLastPut.missing, ...shown.missing };
  const removeTags = [...new Set([...sinceLastPut.surplus, ...shown.surplus])];
  return { setTags, removeTags, areNeeded: Object.keys(setTags).length + removeTags.length > 0 };
}

/** Deletes the note if it belongs to the destination, also if it is not shown. */
export async function removeNote({ api, owner, signal }: Store, request: RemoveRequest): Promise<void> {
  const known = parseRemembered(request);
  const found = await api.find(request.externalName, signal);
  const isOurs = found !== undefined && belongsTo(owner, owned(request, found, known));
  const ids = [...(isOurs ? [found.id] : []), ...(known && known.id !== found?.id ? [known.id] : [])];
  for (const id of ids)
    await api.delete(id, signal).catch((error: unknown) => {
      if (!hasCode(error, 'NoSuchNote')) throw error;
    });
}

/** Removes the built-in tags from the note, if it has them. */
export async function releaseNote({ api, owner, signal }: Store, request: ReleaseRequest): Promise<void> {
  const found = await api.find(request.externalName, signal);
  const removeTags = marksOf(owner, found?.tags ?? {});
  if (found === undefined || removeTags.length === 0) return;
  try {
    await api.change(found.id, { setTags: {}, removeTags, idempotencyKey: randomUUID() }, signal);
  } catch (error) {
    if (!hasCode(error, 'NoSuchNote')) throw error;
  }
}

/** The API shows no version, so the text decides whether the note is as the last put left it. */
export async function inspectNote({ api, owner, signal }: Store, request: InspectRequest): Promise<Look> {
  const known = parseRemembered(request);
  const found = await api.find(request.externalName, signal);
  if (found === undefined) return { exists: false };
  const isSame = request.isSameValue(seal(found.text));
  return {
    exists: true,
    belongs: belongingOf(owner, owned(request, found, known)),
    mark: found.id,
    isUntouched: isSame && found.id === known?.id,
    value: isSame ? 'same' : 'different',
    changedAt: null,
  };
}

export async function listNotes({ api, owner, signal }: Store): Promise<ListPage> {
  const notes = await api.list(signal);
  const secrets = notes.map(({ name, tags }) => ({
    name,
    belongs: belongingOf(owner, { name, tags, isRemembered: false }),
    isReadable: true,
    createdAt: null,
    changedAt: null,
  }));
  return { secrets, next: null };
}

const owned = (
  { externalName: name }: RemoveRequest,
  { id, tags }: Note,
  known: Remembered | undefined,
): OwnedSecret => ({
  name,
  tags,
  isRemembered: id === known?.id,
});
