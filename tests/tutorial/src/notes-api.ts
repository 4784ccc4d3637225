import { Fault } from '@secrets/domain';
import {
  type CodeKind,
  malformedResponse,
  networkFault,
  parseResponse,
  providerFault,
  repeatIfThrottled,
  retryAfterSeconds,
} from '@secrets/sync-worker';
import { z } from 'zod';

/** Error codes whose kind does not follow from the status (https://notes.example/docs/errors). */
const kinds: ReadonlyMap<string, CodeKind> = new Map([['NoteExists', 'conflict']]);

const ErrorBody = z.object({ code: z.string().regex(/^[A-Za-z]{3,40}$/) });
const Note = z.object({ id: z.string(), text: z.string(), tags: z.record(z.string(), z.string()) });
const Found = z.object({ note: Note.nullable() });
const Listed = z.object({ notes: z.array(Note.omit({ text: true }).extend({ name: z.string() })) });
export type Note = z.infer<typeof Note>;

/** A change of a note. Without a text, the text stays as it is. */
interface Change {
  text?: string | undefined;
  setTags: Record<string, string>;
  removeTags: string[];
  /** A text that is written again with the key of the last write is not written. */
  idempotencyKey: string;
}

interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path?: string;
  content?: object;
  idempotencyKey?: string;
}

/** The calls of the notes API. Each is aborted by the signal; its failures are `Fault`s. */
export class NotesApi {
  readonly #notesUrl: string;
  readonly #accessToken: string;
  readonly #fetch: typeof globalThis.fetch;

  constructor(notesUrl: string, accessToken: string, fetch: typeof globalThis.fetch) {
    this.#notesUrl = notesUrl;
    this.#accessToken = accessToken;
    this.#fetch = fetch;
  }

  /** Throws a fault with the code `NoteExists` if the name is in use. */
  async create(
    { idempotencyKey, ...content }: { name: string; text: string; tags: object; idempotencyKey: string },
    signal: AbortSignal,
  ): Promise<Note> {
    const response = await this.#send('CreateNote', { method: 'POST', content, idempotencyKey }, signal);
    return parseResponse('CreateNote', Note, response);
  }

  /** The note may be older than the last write. Undefined only if the API says that there is no such note. */
  async find(name: string, signal: AbortSignal): Promise<Note | undefined> {
    const path = `?name=${encodeURIComponent(name)}`;
    const response = await this.#send('FindNote', { method: 'GET', path }, signal);
    return parseResponse('FindNote', Found, response).note ?? undefined;
  }

  /** Returns all notes of the folder. */
  async list(signal: AbortSignal) {
    const response = await this.#send('ListNotes', { method: 'GET', path: '/all' }, signal);
    return parseResponse('ListNotes', Listed, response).notes;
  }

  /** Returns the note as it is now. Throws a fault with the code `NoSuchNote` if it does not exist. */
  async change(
    id: string,
    { text, setTags, removeTags, idempotencyKey }: Change,
    signal: AbortSignal,
  ): Promise<Note> {
    const content = { text, set_tags: setTags, remove_tags: removeTags };
    const call: Call = { method: 'PATCH', path: `/${id}`, content, idempotencyKey };
    return parseResponse('ChangeNote', Note, await this.#send('ChangeNote', call, signal));
  }

  /** Throws a fault with the code `NoSuchNote` if the note does not exist. */
  async delete(id: string, signal: AbortSignal): Promise<void> {
    await this.#send('DeleteNote', { method: 'DELETE', path: `/${id}` }, signal);
  }

  #send(operation: string, call: Call, signal: AbortSignal): Promise<unknown> {
    return repeatIfThrottled(signal, () => this.#once(operation, call, signal));
  }

  async #once(operation: string, call: Call, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await this.#request(call, signal);
      return resultOf(operation, response, await response.text());
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw networkFault(operation, error as Error) ?? error;
    }
  }

  #request({ method, path = '', content, idempotencyKey }: Call, signal: AbortSignal): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.#accessToken}`,
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    const body = content === undefined ? null : JSON.stringify(content);
    return this.#fetch(`${this.#notesUrl}${path}`, { method, headers, body, signal });
  }
}

function resultOf(operation: string, { status, headers }: Response, body: string): unknown {
  const content = parseJson(body);
  const code = status >= 400 ? ErrorBody.safeParse(content).data?.code : undefined;
  const wait = retryAfterSeconds(headers.get('retry-after') ?? undefined);
  const fault = providerFault(operation, { status, code, retryAfterSeconds: wait }, kinds);
  if (fault !== undefined) throw fault;
  if (status >= 300 || content === undefined) throw malformedResponse(operation, status);
  return content;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
