import { randomUUID } from 'node:crypto';
import type { MountClient } from '../../provider/mount-client.ts';
import { attempt, notChecked, type Outcome } from './check-steps.ts';

/** Whether `rotate-root` may change the passwords of the application: whether Graph lets it remove one that does not exist. */
export async function checkRotation(client: MountClient): Promise<Outcome<void>> {
  if (client.source.kind !== 'secret') return notChecked('there is no client_secret to rotate');
  return attempt(async () => {
    await client.passwords.remove(randomUUID());
  });
}
