import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const folder = new URL('../../../docs/examples/policies/', import.meta.url);

/** Returns the texts of the ready policies by name, from the files that the documentation refers to. */
export const readyPolicies = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder)
      .filter((file) => file.endsWith('.hcl'))
      .map((file) => [basename(file, '.hcl'), readFileSync(new URL(file, folder), 'utf8')]),
  );
