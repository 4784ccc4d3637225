import { randomUUID } from 'node:crypto';
import { type Caller, requireGrant } from '@secrets/caller';
import { rethrowViolation, type Tx } from '@secrets/db';
import { mask } from '@secrets/destinations';
import { codehostAppAad, invalid } from '@secrets/domain';
import { encrypt } from '@secrets/seal';
import type { Context } from '../../context.ts';
import {
  insertCodehostApp,
  lockCodehostApp,
  updateCodehostApp,
} from '../../queries/destinations/codehost-apps.ts';
import { type AppPrivateKey, parsePrivateKey } from './private-key.ts';
import { reconnectPage } from './reconnect-users.ts';
import { codehostAppKey } from './require-codehost-app.ts';
import { serverName } from './server-name.ts';

/** A create or an update of an application. */
export interface CodehostAppWrite {
  appId: number;
  /** PEM; the mask keeps the stored key. */
  privateKey: string;
  /** The server that the private key is for; empty for the public service. Undefined keeps the stored one. */
  enterpriseUrl?: string | undefined;
}

/**
 * Creates or replaces an application (docs/destinations/codehost.md#code-host-applications). The destinations that use
 * it connect again, and retry what has failed in them: the first page at once, the others in the background
 * (`advanceReconnects`). Throws `invalid` for a private key that cannot be used and for another server, `forbidden` if
 * a create or an update is not granted, `conflict` if another request is creating it.
 */
export async function saveCodehostApp(
  context: Pick<Context, 'db' | 'keyRing' | 'queue'>,
  caller: Caller,
  name: string,
  { appId, privateKey, enterpriseUrl }: CodehostAppWrite,
): Promise<void> {
  const key = privateKey === mask ? undefined : parsePrivateKey(privateKey);
  await context.db
    .transaction((tx) => saveLocked(tx, context, caller, { name, appId, key, enterpriseUrl }))
    .catch(rethrowViolation(`application ${name} was being created at the same moment; try again`));
  context.queue.notify();
}

interface ParsedWrite extends Pick<CodehostAppWrite, 'appId' | 'enterpriseUrl'> {
  name: string;
  key: AppPrivateKey | undefined;
}

async function saveLocked(
  tx: Tx,
  { keyRing }: Pick<Context, 'keyRing'>,
  caller: Caller,
  { name, appId, key, enterpriseUrl }: ParsedWrite,
): Promise<void> {
  const place = codehostAppKey(caller, name);
  const row = await lockCodehostApp(tx, place, 'no key update');
  requireGrant(caller, row !== undefined);
  requireSameServer(row?.enterpriseUrl, enterpriseUrl);
  const id = row?.id ?? randomUUID();
  const aad = codehostAppAad({ id, enterpriseUrl: row?.enterpriseUrl ?? enterpriseUrl ?? '' });
  const sealedPrivateKey = key && encrypt(keyRing, aad, Buffer.from(key.pem));
  if (row !== undefined) {
    const fingerprint = key?.fingerprint ?? row.fingerprint;
    await updateCodehostApp(tx, { id, appId, fingerprint, sealedPrivateKey: sealedPrivateKey ?? null });
    await reconnectPage(tx, id);
    return;
  }
  if (key === undefined || sealedPrivateKey === undefined)
    throw invalid(`private_key: ${mask} is the mask of a stored value, but none is stored`);
  const { fingerprint } = key;
  await insertCodehostApp(tx, {
    ...place,
    ...{ id, appId, fingerprint, sealedPrivateKey, enterpriseUrl: enterpriseUrl ?? '' },
  });
}

/** The private key that is stored must not become usable at another server, nor must one that destinations refer to. */
function requireSameServer(stored: string | undefined, given: string | undefined): void {
  if (stored === undefined || given === undefined || stored === given) return;
  throw invalid(
    `enterprise_url: this application is for ${serverName(stored)}, which cannot be changed to ${serverName(given)}; create another application`,
  );
}
