import type { Credentials } from '../../api/client.ts';
import type { Operation } from './operations.ts';

/** The input of the user for one request. */
export interface Draft {
  /** Values of parameters by name; empty ones are left out of the query. */
  values: Readonly<Record<string, string>>;
  /** JSON, for operations with a body. */
  body: string;
}

/** The draft of an operation: its examples. */
export const draftOf = ({ parameters, body }: Operation): Draft => ({
  values: Object.fromEntries(
    parameters.map(({ name, in: place, example }) => [
      name,
      place === 'path' && example !== undefined ? String(example) : '',
    ]),
  ),
  body: body === undefined ? '' : JSON.stringify(body.example ?? {}, undefined, 2),
});

/** The path and query of the request. Slashes of values remain: names may consist of several segments. */
export function targetOf({ path, parameters }: Operation, { values }: Draft): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    (values[name] ?? '').split('/').map(encodeURIComponent).join('/'),
  );
  const given = parameters
    .filter(({ name, in: place }) => place === 'query' && values[name])
    .map(({ name }): [string, string] => [name, values[name] ?? '']);
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`;
}

/** A response as received. */
export interface Answer {
  status: number;
  milliseconds: number;
  text: string;
}

/** Sends the request with the token of the session. Rejects only if there is no response. */
export async function send(
  operation: Operation,
  draft: Draft,
  { token, namespace }: Credentials,
): Promise<Answer> {
  const started = performance.now();
  const { method, body } = operation;
  const response = await fetch(targetOf(operation, draft), {
    method,
    headers: {
      'X-Service-Token': token,
      ...(namespace && { 'X-Service-Namespace': namespace }),
      ...(body && { 'Content-Type': body.mediaType }),
    },
    ...(body && { body: draft.body }),
    credentials: 'omit',
    cache: 'no-store',
  });
  const text = await response.text();
  return { status: response.status, milliseconds: Math.round(performance.now() - started), text };
}
