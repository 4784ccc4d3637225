import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { InternalClient } from '@secrets/http';

/** The report of a service about its seal keys. */
interface SealKeys {
  complete: boolean;
}

/** A service with seal keys of its own. */
export interface SealedService {
  name: string;
  client: Pick<InternalClient, 'call'>;
}

/** Reads or rotates the seal keys of every service. */
export interface SealRotations {
  read(caller: Caller): Promise<object>;
  /** Begins a rotation in each service. Can be repeated if one of them does not respond. */
  begin(caller: Caller): Promise<object>;
}

export function sealRotations(services: readonly SealedService[]): SealRotations {
  const ofAll = async (ask: (client: SealedService['client']) => Promise<unknown>) => {
    const answers = await Promise.allSettled(services.map(({ client }) => ask(client)));
    const reports = answers.map((answer, index) => reportOf(services[index]!.name, answer));
    return {
      complete: reports.every(([, { complete }]) => complete),
      services: Object.fromEntries(reports),
    };
  };
  return {
    read: (caller) => ofAll((client) => client.call('GET', '/v1/sys/internal/seal-keys', caller)),
    begin: (caller) => ofAll((client) => client.call('POST', '/v1/sys/internal/seal-keys/rotate', caller)),
  };
}

/** An older version of a service does not know the path. */
function reportOf(name: string, answer: PromiseSettledResult<unknown>): [name: string, report: SealKeys] {
  if (answer.status === 'fulfilled') return [name, answer.value as SealKeys]; // the service is trusted
  const { reason: cause } = answer;
  if (cause instanceof Problem && cause.kind === 'unavailable') throw cause;
  throw new Problem('unavailable', `${name} does not report its seal keys`, { cause });
}
