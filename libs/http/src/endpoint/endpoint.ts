import type { Caller } from '@secrets/caller';
import type { Sealed } from '@secrets/seal';
import type { z } from 'zod';
import type { Reply } from './envelope.ts';

/** `list` is both the verb LIST and `GET …?list=true`; PUT is accepted wherever POST is. */
export type Method = 'get' | 'post' | 'patch' | 'delete' | 'list';

/**
 * What a POST needs from the caller's policies (docs/conventions.md#27-policies):
 * - `update`: it acts on something that exists
 * - `create or update`: it can create an object. The handler requires `update` for one that exists (`requireGrant`), or
 *   never changes one
 * - `no token`: it is public; the gateway knows its path
 */
export type Needs = 'update' | 'create or update' | 'no token';

/** The media type of server-sent events. */
export const eventStreamType = 'text/event-stream';

/** One endpoint of a service: the requests it accepts, and its handler. */
export interface Endpoint {
  method: Method;
  /** Express path below `/v1`, such as `/sys/mounts/*path`. */
  path: string;
  /** One line for the API description. */
  summary: string;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  /** For POST. Default: `update`, so that an endpoint that is to accept less must say so. */
  needs?: Needs;
  /** The service that may call it. Default: the gateway, so any client whose policies allow it. */
  from?: string;
  /** The media type of its responses, if they do not have the envelope. */
  produces?: typeof eventStreamType;
  /** What the API description shows instead of this endpoint, such as the paths that a wildcard matches. */
  describedAs?: readonly Endpoint[];
  handle: (request: Request<never, never, never>) => Promise<Reply | undefined>;
}

/** What a handler receives. */
export interface Request<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  /** The token that the client sent, on the paths that receive it. It is not signed: compare it with the caller. */
  callerToken: Sealed<string> | undefined;
  /** Adds a sentence to the `warnings` of the response. */
  warn: (sentence: string) => void;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : Record<string, never>;

/** Declares an endpoint. The types of its handler are inferred from its schemas. */
export function endpoint<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
>(definition: {
  method: Method;
  path: string;
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  needs?: Needs;
  from?: string;
  produces?: typeof eventStreamType;
  describedAs?: readonly Endpoint[];
  handle: (request: Request<Parsed<P>, Parsed<Q>, Parsed<B>>) => Promise<Reply | undefined>;
}): Endpoint {
  return definition as unknown as Endpoint;
}
