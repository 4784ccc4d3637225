import type { Caller } from '@secrets/caller';
import type { Sealed } from '@secrets/seal';
import type { z } from 'zod';
import type { Reply } from './envelope.ts';

/** `list` is both the verb LIST and `GET …?list=true`; PUT is accepted wherever POST is. Services receive no HEAD. */
export type Method = 'get' | 'head' | 'post' | 'patch' | 'delete' | 'list';

/**
 * Capability that a POST requires from the caller's policies (docs/conventions/access.md#policies):
 * - `update`: it acts on something that exists
 * - `create or update`: it can create an object. The handler requires `update` for one that exists (`requireGrant`), or never
 *   changes one
 * - `no token`: it is public; the gateway knows its path
 */
type Needs = 'update' | 'create or update' | 'no token';

/** The media type of server-sent events. */
export const eventStreamType = 'text/event-stream';

/**
 * Access rules of an endpoint, which the gateway applies by path in addition to the policies
 * (docs/adr/0039-declared-paths.md). Without `open`, `isLogin`, `anyToken` and `tokenOptional`, a request needs a token
 * whose policies allow the operation.
 */
export interface Access {
  /** Needs no token. */
  open?: true;
  /** Needs no token if an auth mount of that path exists in the namespace of the request. */
  isLogin?: true;
  /** Any valid token may perform it, without consuming a use; the service decides what it returns. */
  anyToken?: true;
  /** Without a token, too, the service decides what it returns; a token that comes along must be valid. */
  tokenOptional?: true;
  /** A token acts on itself, in its own namespace, whichever namespace the request names. */
  isOwn?: true;
  /** Needs the capability `sudo` as well as that of the operation, because it affects more than its own object. */
  needsSudo?: true;
  /** Exists only in the root and the administrative namespace (docs/conventions/access.md#namespaces). */
  isAdministrative?: true;
  /** The service receives the token of the request, because it returns that token. */
  receivesToken?: true;
  /** A wrapping token is sufficient. The service receives and checks it, because it alone can read what was wrapped. */
  takesWrappingToken?: true;
}

/** The requests that an endpoint accepts, as clients see them. */
export interface EndpointDescription {
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
  access?: Access;
  /** The limits of depth and values of the body, if the caller has a token. Default: `ordinary`. */
  budget?: 'ordinary' | 'secret';
  /** The service that may call it. Default: the gateway, so any client whose policies allow it. */
  from?: string;
  /** The media type of its responses, if they do not have the envelope. */
  produces?: typeof eventStreamType;
  /** Whether it asks a system outside of the service, whose refusal it returns. */
  asksOutside?: boolean;
  /** Whether it responds with 202 as long as what was asked for has not happened, and with 409 if it cannot. */
  isWait?: boolean;
  /** Descriptions of its responses by status, if they are not those of other endpoints. */
  responses?: Readonly<Record<number, string>>;
}

/**
 * One endpoint of a service: the requests it accepts, and its handler. `More` is what the handler receives besides the
 * request.
 */
export interface Endpoint<More = unknown> extends EndpointDescription {
  /** What the API description shows instead of this endpoint, such as the paths that a wildcard matches. */
  describedAs?: readonly EndpointDescription[];
  handle: (request: Request<never, never, never> & More) => Promise<Reply | undefined>;
}

/** Parsed request that a handler receives. */
export interface Request<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  /** The token that the client sent, on the paths that receive it. It is not signed: compare it with the caller. */
  callerToken: Sealed<string> | undefined;
  /**
   * Returns a signal for when a wait for the response should end: the client has disconnected, or the service stops. To be
   * called before anything is waited for, because what has happened before may be missed.
   */
  untilAbandoned: () => AbortSignal;
  /** Adds a sentence to the `warnings` of the response. */
  warn: (sentence: string) => void;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : Record<string, never>;

type Schemas = 'params' | 'query' | 'body';

/** Returns what declares an endpoint whose handler receives `More`, such as the mount that its path is below. */
export const endpointWith =
  <More>() =>
  <
    P extends z.ZodType | undefined = undefined,
    Q extends z.ZodType | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
  >(
    definition: Omit<Endpoint, Schemas | 'handle'> & {
      params?: P;
      query?: Q;
      body?: B;
      /** Without a reply, the response is a 204. */
      handle: (
        request: Request<Parsed<P>, Parsed<Q>, Parsed<B>> & More,
      ) => Promise<Reply | undefined> | Promise<void>;
    },
  ): Endpoint<More> =>
    definition as unknown as Endpoint<More>;

/** Declares an endpoint. The types of its handler are inferred from its schemas. */
export const endpoint = endpointWith<unknown>();
