import type { HandChange } from '../simulated-store.ts';
import { regionOf } from './region-of.ts';
import { keysOf } from './store/encryption-keys.ts';
import type { Secret } from './store/secret.ts';
import { newEtag, type SecretStore } from './store/secret-store.ts';

/** Changes every secret with this name. One that is created again keeps its replication and its keys. */
export function changeByHand(store: SecretStore, change: HandChange, nowMs: number): number {
  const changed = [...store.all()].filter(
    (secret) =>
      secret.id === change.name && (change.region === undefined || regionOf(secret) === change.region),
  );
  for (const secret of changed) apply(store, secret, change, nowMs);
  return changed.length;
}

function apply(store: SecretStore, secret: Secret, change: HandChange, nowMs: number): void {
  if (change.action !== 'edit') store.delete(secret);
  if (change.action === 'delete') return;
  const written = change.action === 'edit' ? secret : another(store, secret, nowMs);
  written.changedAtMs = nowMs;
  store.save(written, {
    number: ([...written.versions.keys()].at(-1) ?? 0) + 1,
    state: 'ENABLED',
    data: Buffer.from(change.value).toString('base64'),
    hasChecksum: false,
    etag: newEtag(),
    createdAtMs: nowMs,
    keys: keysOf(written),
  });
}

const another = (store: SecretStore, secret: Secret, nowMs: number): Secret => ({
  ...secret,
  labels: {},
  annotations: {},
  etag: newEtag(),
  versions: new Map(),
  position: store.nextPosition(),
  createdAtMs: nowMs,
});
