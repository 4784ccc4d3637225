import type { Caller } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import type { WatchedSecret } from '../changes/secrets-client.ts';
import type { Context } from '../context.ts';

/** A secret as a request names it. */
interface NamedSecret {
  mount: string;
  secretName: string;
}

/** Throws `forbidden`, which names mount and secret, if the caller may not read the newest version of the secret itself. */
export async function requireReadAccess(
  context: Pick<Context, 'policies'>,
  caller: Caller,
  { mount, secretName }: NamedSecret,
): Promise<void> {
  if (await context.policies.mayRead(caller, `${mount}/data/${secretName}`)) return;
  throw noReadAccess({ mount, secretName });
}

/** The problem of somebody who may not read a secret. */
export const noReadAccess = ({ mount, secretName }: NamedSecret): Problem =>
  new Problem(
    'forbidden',
    `permission denied: your token may not read the secret ${secretName} in mount ${mount}`,
  );

type State = Pick<WatchedSecret, 'folder' | 'exists' | 'readable'>;

/** Throws `invalid` unless there is a secret of this name with a readable version. */
export function requireSyncable(secret: State, named: NamedSecret): void {
  const why = whyNotSyncable(secret, named);
  if (why !== undefined) throw invalid(why);
}

/** Returns why a secret cannot be associated; undefined if it can: it exists, with a readable version. */
export function whyNotSyncable(
  { folder, exists, readable }: State,
  { mount, secretName }: NamedSecret,
): string | undefined {
  if (folder) return `secret_name: ${secretName} in mount ${mount} is a folder, not a secret`;
  if (!exists) return `secret_name: there is no secret ${secretName} in mount ${mount}`;
  return readable ? undefined : `secret_name: every version of ${secretName} in mount ${mount} is deleted`;
}
