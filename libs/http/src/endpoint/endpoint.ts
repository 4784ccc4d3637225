import type { Caller } from '@secrets/caller';
import type { z } from 'zod';
import type { Reply } from './envelope.ts';

/** `list` is reached by the verb LIST and by `GET …?list=true`; `put` is accepted wherever `post` is. */
export type Method = 'get' | 'post' | 'patch' | 'delete' | 'list';

/** One endpoint of a service: what it takes, what it does. One file each. */
export interface Endpoint {
  method: Method;
  /** Express path below `/v1`, such as `/sys/mounts/*path`. */
  path: string;
  /** One line for the API's description. */
  summary: string;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  /** Which service may call it; the gateway when absent, that is: the world, under policy. */
  from?: string;
  /** What the API's description shows instead of this endpoint, when its path alone says too little. */
  describedAs?: readonly Endpoint[];
  handle: (request: Request<never, never, never>) => Promise<Reply | undefined>;
}

/** What a handler receives. */
export interface Request<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  /** Names the problem without failing: `warnings` of the answer. */
  warn: (sentence: string) => void;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : Record<string, never>;

/** Describes an endpoint with its handler's types taken from its schemas. */
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
  from?: string;
  describedAs?: readonly Endpoint[];
  handle: (request: Request<Parsed<P>, Parsed<Q>, Parsed<B>>) => Promise<Reply | undefined>;
}): Endpoint {
  return definition as unknown as Endpoint;
}
