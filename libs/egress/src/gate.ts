import { isIP, type LookupFunction } from 'node:net';
import { Fault } from '@secrets/domain';

/** Decides which connections the agents of one destination may open. */
export interface Gate {
  /** Returns why a connection to this address, under this host name, is refused; undefined if it is permitted. */
  whyRefused(host: string, address: string, port: number): string | undefined;
  resolve(host: string): Promise<readonly string[]>;
}

/**
 * Returns the host to connect to and, if it is a literal address that is not permitted, the fault. A name is checked when it is
 * resolved.
 */
export function connectTarget(gate: Gate, given: string, port: number): { host: string; refusal?: Fault } {
  const host = given.replace(/^\[(.*)\]$/, '$1');
  const why = isIP(host) === 0 ? undefined : gate.whyRefused(host, host, port);
  return why === undefined ? { host } : { host, refusal: refused(host, why) };
}

/** The fault of a connection that the gate does not permit. */
export const refused = (host: string, why: string): Fault =>
  new Fault('forbidden', `connection to ${host} refused: ${why}`);

/** Resolves a name once and returns the permitted addresses. If there is none, it fails with the first one's refusal. */
export function guardedLookup(gate: Gate, port: number): LookupFunction {
  return (host, options, done) => {
    permittedAddresses(gate, host, port).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const preferred = found.filter(({ family }) => !options.family || options.family === family);
        const usable = preferred.length > 0 ? preferred : found;
        if (options.all) done(null, usable);
        else done(null, usable[0]?.address ?? '', usable[0]?.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

async function permittedAddresses(gate: Gate, host: string, port: number): Promise<string[]> {
  const addresses = await gate.resolve(host).catch((): readonly string[] => []);
  const [first] = addresses;
  if (first === undefined) throw new Fault('unavailable', `the name ${host} cannot be resolved`);
  const permitted = addresses.filter((address) => gate.whyRefused(host, address, port) === undefined);
  if (permitted.length > 0) return permitted;
  throw refused(host, gate.whyRefused(host, first, port) ?? '');
}
