import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { Context } from '../../context.ts';
import {
  deleteCodehostAppRow,
  listUsersOfCodehostApp,
  lockCodehostApp,
} from '../../queries/destinations/codehost-apps.ts';
import { codehostAppKey } from './require-codehost-app.ts';

/** The refusal names at most this many destinations. */
const maxNamed = 5;

/** Deletes an application if it exists, but not at the code host. Throws `conflict`, which names destinations, if one uses it. */
export async function removeCodehostApp({ db }: Context, caller: Caller, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    // From here on, no destination can begin to use it: that needs a lock on this row, or its foreign key does.
    const app = await lockCodehostApp(tx, codehostAppKey(caller, name), 'update');
    if (app === undefined) return;
    const users = await listUsersOfCodehostApp(tx, app.id, maxNamed + 1);
    if (users.length > 0) throw stillUsed(users);
    await deleteCodehostAppRow(tx, app.id);
  });
}

function stillUsed(users: readonly string[]): Problem {
  const named = users.slice(0, maxNamed).join(', ');
  const others = users.length > maxNamed ? ' and others' : '';
  return new Problem(
    'conflict',
    `this application is used by the destinations ${named}${others}; delete them, or change their app_name, first`,
  );
}
