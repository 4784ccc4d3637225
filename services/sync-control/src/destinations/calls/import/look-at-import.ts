import type { Caller } from '@secrets/caller';
import { type AskedSecret, Problem, type SignedGrant, type StoreState } from '@secrets/domain';
import type { PreviewedSecret } from '../../../changes/secrets-client.ts';
import type { Context } from '../../../context.ts';
import type { DestinationRow } from '../../../queries/destinations/destinations.ts';
import { askStore } from '../ask-store.ts';
import { type ImportLine, type Mapped, notPossible } from './import-result.ts';

/** A JSON object whose names become the keys, or the text of one key. */
export type ImportedAs = { kind: 'json' } | { kind: 'key'; key: string };

/** An external secret that could be imported, and the secret at its path, which may not exist yet. */
export type Previewed = Mapped & { secret: PreviewedSecret };

/** Previews that run at the same time. */
const concurrency = 8;

/** Reads the state of the secret at each path, without values; a path that none can have becomes a line. */
export async function previewEach(
  { secrets }: Context,
  caller: Caller,
  mount: string,
  wanted: readonly Mapped[],
): Promise<(ImportLine | Previewed)[]> {
  const previews: (ImportLine | Previewed)[] = [];
  for (let at = 0; at < wanted.length; at += concurrency) {
    const part = wanted.slice(at, at + concurrency).map(async (one) => {
      try {
        return previewed(one, await secrets.preview(caller, mount, one.path, true));
      } catch (error) {
        if (error instanceof Problem && error.kind === 'invalid') return notPossible(one, error.message);
        throw error;
      }
    });
    previews.push(...(await Promise.all(part)));
  }
  return previews;
}

function previewed(one: Mapped, secret: PreviewedSecret): ImportLine | Previewed {
  const problem = secret.exists ? null : (secret.new_path_problem ?? null);
  if (problem !== null) return notPossible(one, `the path ${problem}`);
  return { ...one, secret };
}

/** Whether the path has no version yet. An earlier version of secrets does not say of a secret with metadata only. */
export const isNew = ({ exists, current_version: version }: PreviewedSecret): boolean =>
  !exists || version === 0;

/** The capability that an import of the value needs, as a write does. */
export const neededFor = (secret: PreviewedSecret): 'create' | 'update' =>
  isNew(secret) ? 'create' : 'update';

/** Seconds to wait for the looks. With those for the list, a request waits less than the gateway does. */
const lookSeconds = 16;

/**
 * Has a worker compare each external secret with the secret at its path, and write those values for which there is a permit.
 * Returns the states of the first ones, as many as the account has calls for. Throws as `askStore`.
 */
export async function compareEach(
  context: Context,
  destination: DestinationRow,
  possible: readonly Previewed[],
  {
    importedAs,
    permitFor = () => undefined,
  }: { importedAs: ImportedAs; permitFor?: (one: Previewed) => SignedGrant | undefined },
): Promise<StoreState[]> {
  if (possible.length === 0) return [];
  const asked = possible.map((one): AskedSecret => {
    const hash = hashToCompare(one.secret, importedAs);
    const write = permitFor(one);
    return {
      name: one.name,
      hash,
      entryId: null,
      importedAs: importedAs.kind,
      ...(write === undefined ? {} : { write }),
    };
  });
  const { states } = await askStore(context, destination, {
    calls: asked.length,
    waitSeconds: lookSeconds,
    questionFor: (calls) => ({ secrets: asked.slice(0, calls) }),
  });
  return states;
}

/** The keyed hash of the value that the secret has; empty if there is none to compare with. */
function hashToCompare(
  { readable, keys, value_hash: whole = '', key_hashes: ofKeys = [] }: PreviewedSecret,
  importedAs: ImportedAs,
): string {
  if (!readable) return '';
  return importedAs.kind === 'json' ? whole : (ofKeys[keys.indexOf(importedAs.key)] ?? '');
}
