import type { Caller } from '@secrets/caller';
import type { Method, Reply } from '@secrets/http';
import type { z } from 'zod';
import type { MountRef } from './known-mounts.ts';

/** First segment of a path below a mount. */
export const kvKinds = ['config', 'data', 'delete', 'undelete', 'destroy', 'metadata', 'subkeys'] as const;
export type KvKind = (typeof kvKinds)[number];

/** One operation below any mount, such as PATCH on `<mount>/data/<path>`. One file each. */
export interface KvOperation {
  method: Method;
  kind: KvKind;
  summary: string;
  /** What follows the kind in the request's path. */
  path: 'none' | 'secret' | 'folder';
  query?: z.ZodType;
  body?: z.ZodType;
  handle: (request: KvRequest<never, never>) => Promise<Reply | undefined>;
}

/** What an operation receives. It may run twice, when its mount turns out to be another one by now. */
export interface KvRequest<Query, Body> {
  mount: MountRef;
  /** Checked path of the secret or folder below the mount. */
  path: string;
  query: Query;
  body: Body;
  caller: Caller;
  warn: (sentence: string) => void;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : Record<string, never>;

/** Describes an operation with its handler's types taken from its schemas. */
export function kvOperation<Q extends z.ZodType | undefined, B extends z.ZodType | undefined>(definition: {
  method: Method;
  kind: KvKind;
  summary: string;
  path: KvOperation['path'];
  query?: Q;
  body?: B;
  handle: (request: KvRequest<Parsed<Q>, Parsed<B>>) => Promise<Reply | undefined>;
}): KvOperation {
  return definition as unknown as KvOperation;
}
