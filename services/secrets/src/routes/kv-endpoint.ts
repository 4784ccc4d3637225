import type { Endpoint, Needs, Reply, Request } from '@secrets/http';
import { z } from 'zod';
import { folderPath, newSecretPath, secretPath } from '../kv/secret-path.ts';
import type { MountRef } from '../mounts/mount-ref.ts';

/** An endpoint below every mount; `kvRouter` turns these into endpoints of the service. */
export interface KvEndpoint extends Omit<Endpoint, 'from' | 'describedAs' | 'handle'> {
  /** Path below the mount: `/config`, or a first segment and a wildcard, such as `/data/*path`. */
  path: `/${string}`;
  handle: (request: KvRequest<never, never, never>) => Promise<Reply | undefined>;
}

/** What a handler receives. It may be called again, if `mount` turns out to be out of date. */
export interface KvRequest<Params, Query, Body> extends Request<Params, Query, Body> {
  mount: MountRef;
}

/** The parameters of an endpoint for one secret. */
export const SecretParams = z.object({ path: secretPath });

/** The parameters of an endpoint that may create the secret. */
export const NewSecretParams = z.object({ path: newSecretPath });

/** The parameters of an endpoint for a folder, whose path may be absent. */
export const FolderParams = z.object({ path: folderPath });

type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : Record<string, never>;

/** Like `endpoint` of `@secrets/http`, for a path below a mount: the handler's types are inferred from the schemas. */
export function kvEndpoint<
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends z.ZodType | undefined,
>(definition: {
  method: KvEndpoint['method'];
  path: KvEndpoint['path'];
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  needs?: Needs;
  handle: (request: KvRequest<Parsed<P>, Parsed<Q>, Parsed<B>>) => Promise<Reply | undefined>;
}): KvEndpoint {
  return definition as unknown as KvEndpoint;
}
