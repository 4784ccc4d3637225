import type { HeldBecause, Installation } from '@secrets/sync-entries';

const reasons: Record<HeldBecause, (installation: Installation) => string> = {
  installation: ({ name, otherName }) =>
    `a service was started with INSTALLATION=${otherName}, but the database belongs to ${name}`,
  database: () =>
    'the database is not the one that was used before: a dump was restored, or the database was copied or moved to another server or folder',
  recovery: () =>
    'the database server was recovered to an earlier time, or a standby was promoted while sync-control had been stopped for more than 15 minutes',
};

/** Explains why syncing is held; undefined if it is not. */
export function whyHeld(installation: Installation): string | undefined {
  const { heldBecause } = installation;
  if (heldBecause === null) return undefined;
  return `syncing is held, and nothing is sent to any destination: ${reasons[heldBecause](installation)}. If this installation may write to its destinations, call sys/sync/confirm-installation`;
}
