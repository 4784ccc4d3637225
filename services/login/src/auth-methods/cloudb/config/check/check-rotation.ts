import type { MountClient } from '../../provider/mount-client.ts';
import { attempt, notChecked, type Outcome } from './check-steps.ts';

/** Whether `rotate-root` may read the passwords of the application. Whether it may change them is known only to the first rotation. */
export async function checkRotation(client: MountClient): Promise<Outcome<void>> {
  if (client.source.kind !== 'secret') return notChecked('there is no client_secret to rotate');
  return attempt(async () => {
    await client.passwords.list();
  });
}
