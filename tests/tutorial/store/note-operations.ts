import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Lag } from '../../../services/sandbox/src/faults/fault-injector.ts';
import { type HttpResponse, jsonResponse } from '../../../services/sandbox/src/simulation/http-response.ts';
import type { Note, NoteStore } from './note-store.ts';

/** One request. */
interface Input {
  folder: string;
  /** The ID in the path. */
  id: string;
  /** The name in the query. */
  name: unknown;
  body: unknown;
  idempotencyKey: string | undefined;
  updatedAt: string;
  lag: Lag;
}

type Operation = (store: NoteStore, input: Input) => HttpResponse;

/** The limits of the service (https://notes.example/docs/limits). */
const Text = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= 10_000);
const Tags = z.record(z.string().max(64), z.string().max(64));
const Creation = z.object({ name: z.string().regex(/^\w{1,100}$/), text: Text, tags: Tags });
const Change = z.object({
  text: Text.optional(),
  set_tags: Tags.default({}),
  remove_tags: z.array(z.string()).default([]),
});
const maxTags = 20;

/** The operations of the notes API. Writes act on the current state, and respond with it. */
export const noteOperations = {
  CreateNote(store, { folder, body, idempotencyKey: key, updatedAt }) {
    const given = Creation.safeParse(body).data;
    if (given === undefined || !isWithinLimit(given.tags)) return failure(400, 'InvalidNote');
    if (store.find(folder, given.name)) return failure(409, 'NoteExists');
    const note: Note = { ...given, id: randomUUID(), folder, key, writes: 1, updatedAt };
    store.change({ note });
    return jsonResponse(201, shown(note));
  },
  FindNote(store, { folder, name, lag }) {
    const found = store.find(folder, name, lag.readMs);
    return jsonResponse(200, { note: found === undefined ? null : shown(found) });
  },
  ListNotes(store, { folder }) {
    const notes = store.all().filter((note) => note.folder === folder);
    return jsonResponse(200, { notes: notes.map(shown) });
  },
  ChangeNote(store, { id, body, idempotencyKey: key, updatedAt }) {
    const known = store.get(id);
    if (known === undefined) return failure(404, 'NoSuchNote');
    const given = Change.safeParse(body).data;
    if (given === undefined) return failure(400, 'InvalidNote');
    const { text, set_tags, remove_tags } = given;
    const kept = Object.entries(known.tags).filter(([tag]) => !remove_tags.includes(tag));
    const tags = { ...Object.fromEntries(kept), ...set_tags };
    if (!isWithinLimit(tags)) return failure(400, 'InvalidNote');
    const isRepeated = key !== undefined && key === known.key;
    const written = text === undefined || isRepeated ? {} : { text, key, writes: known.writes + 1 };
    const note: Note = { ...known, ...written, tags, updatedAt };
    store.change({ note });
    return jsonResponse(200, shown(note));
  },
  DeleteNote(store, { id }) {
    if (store.get(id) === undefined) return failure(404, 'NoSuchNote');
    store.change({ deleted: id });
    return jsonResponse(200, {});
  },
} satisfies Record<string, Operation>;

const isWithinLimit = (tags: object) => Object.keys(tags).length <= maxTags;

const shown = ({ id, name, text, tags }: Note) => ({ id, name, text, tags });

/** An error response of the notes API (https://notes.example/docs/errors). */
export const failure = (
  status: number,
  code: string,
  { message = code, headers = {} }: { message?: string; headers?: Record<string, string> } = {},
): HttpResponse => jsonResponse(status, { code, message }, headers);
