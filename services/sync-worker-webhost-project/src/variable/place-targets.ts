/** A record that may hold the value for some environments. */
export interface Holder {
  id: string;
  type: string;
  target: readonly string[];
}

export interface Placement {
  /** The environments that each record gets, by its ID; none if the record is no longer needed. */
  targets: ReadonlyMap<string, readonly string[]>;
  /** The environments of the records to create. */
  created: readonly string[][];
}

const isDevelopment = (environment: string): boolean => environment === 'development';

/** Whether the environments could not share a sensitive record. */
export const mixesDevelopment = (environments: readonly string[]): boolean =>
  environments.some(isDevelopment) && !environments.every(isDevelopment);

/**
 * Distributes the environments over the records that exist and, if those cannot hold all of them, new ones. An
 * environment stays in its record. One record is enough, unless development must be separate: a sensitive record cannot
 * be for development (https://vercel.com/docs/environment-variables/sensitive-environment-variables).
 */
export function placeTargets(
  holders: readonly Holder[],
  wanted: readonly string[],
  { separatesDevelopment }: { separatesDevelopment: boolean },
): Placement {
  const isSeparate = separatesDevelopment || holders.some(({ type }) => type === 'sensitive');
  const targets = new Map(holders.map((holder) => [holder.id, share(holder, wanted, isSeparate)]));
  const placed = [...targets.values()].flat();
  const missing = wanted.filter((environment) => !placed.includes(environment));
  const created: string[][] = [];
  for (const part of parts(missing, isSeparate)) {
    const inUseFirst = [...holders].sort(
      (one, other) => targets.get(other.id)!.length - targets.get(one.id)!.length,
    );
    const host = inUseFirst.find(({ id, type }) =>
      isSeparate
        ? (type !== 'sensitive') === part.some(isDevelopment) &&
          !mixesDevelopment([...targets.get(id)!, ...part])
        : true,
    );
    if (host === undefined) created.push(part);
    else targets.get(host.id)!.push(...part);
  }
  return { targets, created };
}

function share({ target }: Holder, wanted: readonly string[], isSeparate: boolean): string[] {
  const kept = wanted.filter((environment) => target.includes(environment));
  return isSeparate && mixesDevelopment(kept)
    ? kept.filter((environment) => !isDevelopment(environment))
    : kept;
}

const parts = (missing: readonly string[], isSeparate: boolean): string[][] =>
  (isSeparate && mixesDevelopment(missing)
    ? [missing.filter((environment) => !isDevelopment(environment)), missing.filter(isDevelopment)]
    : [[...missing]]
  ).filter((part) => part.length > 0);
