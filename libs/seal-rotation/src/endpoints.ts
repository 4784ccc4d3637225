import { type Endpoint, endpoint } from '@secrets/http';
import type { SealRotation } from './seal-rotation.ts';

/** Endpoints that the gateway calls for `sys/rotate` and `sys/key-status`. Clients cannot reach their paths. */
export const sealRotationEndpoints = (rotation: SealRotation): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/sys/internal/seal-keys',
    summary: 'Read the seal keys that are in use, and the progress of their rotation',
    from: 'gateway',
    handle: async () => ({ data: await present(rotation) }),
  }),
  endpoint({
    method: 'post',
    path: '/sys/internal/seal-keys/rotate',
    summary: 'Encrypt everything with the current seal key',
    from: 'gateway',
    handle: async () => {
      await rotation.begin();
      return { data: await present(rotation) };
    },
  }),
];

async function present(sealRotation: SealRotation) {
  const { currentKey, keys, rotation, rows } = await sealRotation.status();
  return {
    current_key: currentKey,
    keys: keys.map(({ id, usedAt }) => ({ id, used_at: usedAt.toISOString() })),
    rotation:
      rotation === undefined
        ? null
        : {
            key: rotation.keyId,
            started_at: rotation.startedAt.toISOString(),
            finished_at: rotation.finishedAt?.toISOString() ?? null,
            checked: rotation.checked,
            rows_estimate: rows,
            encrypted: rotation.encrypted,
            unreadable: rotation.unreadable,
          },
    complete: keys.every(({ id }) => id === currentKey),
  };
}
